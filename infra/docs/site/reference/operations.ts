/** The operations and webhooks of an API description, with their places in the reference. */
import type { Described, Description } from './description.ts';

export interface Operation {
  id: string;
  tag: string;
  /** A few words for lists and headings; the type of the event for webhooks. */
  name: string;
  /** The file name of its page in the site. */
  page: string;
  /** Its fragment on the first page of the reference. */
  anchor: string;
  /** Whether the service sends the request. */
  isWebhook: boolean;
  method: string;
  /** The path, or the type of the event. */
  route: string;
  hosts: string[];
  described: Described;
}

/** Words of ids that are not lower case. */
const WORDS: Record<string, string> = { api: 'API', rapidpro: 'RapidPro', turn: 'Turn' };

/** An operation's id in words: `sendMessage` is "Send message". */
const inWords = (id: string): string => {
  const words = id
    .replace(/Head$/, '')
    .replace(/BelowV1$/, '')
    .split(/(?=[A-Z])/)
    .map((word) => WORDS[word.toLowerCase()] ?? word.toLowerCase());
  const text = `${words.join(' ')}${id.endsWith('BelowV1') ? ' (v1)' : ''}`;
  return text.charAt(0).toUpperCase() + text.slice(1);
};

/** @internal The page of an operation, by its id. Tests use it, too. */
export const pageOf = (id: string): string =>
  `reference-${id.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase()}.html`;

/** In the order of the description: first the operations, then the webhooks. */
export const operationsIn = ({ paths, webhooks, servers }: Description): Operation[] => [
  ...Object.entries(paths).flatMap(([route, { servers: own, ...item }]) => {
    const hosts = ((own ?? servers) as unknown as Description['servers']).map(({ url }) => url);
    return Object.entries(item).map(([method, described]) =>
      locate(described, { method, route, hosts, isWebhook: false }),
    );
  }),
  ...Object.entries(webhooks).map(([type, { post }]) =>
    locate(post, { method: 'post', route: type, hosts: [], isWebhook: true }),
  ),
];

const locate = (
  described: Described,
  { method, ...given }: Pick<Operation, 'method' | 'route' | 'hosts' | 'isWebhook'>,
): Operation => {
  const {
    operationId: id,
    tags: [tag],
  } = described;
  return {
    ...given,
    id,
    tag,
    name: given.isWebhook ? given.route : inWords(id),
    page: pageOf(id),
    anchor: `/${encodeURIComponent(tag)}/${encodeURIComponent(id)}`,
    method: method.toUpperCase(),
    described,
  };
};
