/** The docs of all areas, put together. */
import { accountDocs } from '../../shared/api/areas/account.docs.ts';
import { appDocs } from '../../shared/api/areas/app.docs.ts';
import { bridgeDocs } from '../../shared/api/areas/bridge.docs.ts';
import { deliveriesDocs } from '../../shared/api/areas/deliveries.docs.ts';
import { descriptionDocs } from '../../shared/api/areas/description.docs.ts';
import { mcpDocs } from '../../shared/api/areas/mcp.docs.ts';
import { mediaDocs } from '../../shared/api/areas/media.docs.ts';
import { messagesDocs } from '../../shared/api/areas/messages.docs.ts';
import { portalDocs } from '../../shared/api/areas/portal.docs.ts';
import { profilersDocs } from '../../shared/api/areas/profilers.docs.ts';
import { sessionsDocs } from '../../shared/api/areas/sessions.docs.ts';
import { jobsDocs, statsDocs } from '../../shared/api/areas/stats.docs.ts';
import { tokensDocs } from '../../shared/api/areas/tokens.docs.ts';
import { userDataDocs } from '../../shared/api/areas/user-data.docs.ts';
import { usersDocs } from '../../shared/api/areas/users.docs.ts';
import { webhooksDocs } from '../../shared/api/areas/webhooks.docs.ts';
import type { AnyAreaDocs, AnyEndpointDocs, AnyExample, SchemaDocs } from '../../shared/api/docs.ts';
import type { Area, Endpoint } from '../../shared/api/endpoint.ts';
import { api, type EndpointName } from '../../shared/api/index.ts';
import { webhookDocs } from './webhooks.ts';
import { common } from './words.ts';

/** In the order of the reference. */
const areas: Record<Area, AnyAreaDocs> = {
  messages: messagesDocs,
  jobs: jobsDocs,
  media: mediaDocs,
  stats: statsDocs,
  'user-data': userDataDocs,
  users: usersDocs,
  account: accountDocs,
  profilers: profilersDocs,
  bridge: bridgeDocs,
  webhooks: webhooksDocs,
  tokens: tokensDocs,
  sessions: sessionsDocs,
  deliveries: deliveriesDocs,
  app: appDocs,
  portal: portalDocs,
  mcp: mcpDocs,
  description: descriptionDocs,
};

/** All endpoints, in the order of the reference. */
export const endpointNames = Object.values(areas).flatMap(({ endpoints }) => Object.keys(endpoints) as EndpointName[]);

/** In the order in which their examples work: later requests use ids of earlier responses. */
const sequence = [
  ...[profilersDocs, mediaDocs, messagesDocs, statsDocs, jobsDocs, userDataDocs, accountDocs],
  ...[webhooksDocs, tokensDocs, sessionsDocs, deliveriesDocs],
  ...[usersDocs, bridgeDocs, appDocs],
];

export const tagOf = (area: Area) => ({ name: areas[area].name, description: areas[area].description });

/** Of the areas with an operation. */
export const tags = (Object.keys(areas) as Area[])
  .filter((area) =>
    Object.values<Endpoint>(api).some((one) => one.area === area && one.routes.some(({ undescribed }) => !undescribed)),
  )
  .map(tagOf);

export const docsOf = (name: EndpointName): AnyEndpointDocs => {
  const docs = areas[api[name].area].endpoints[name];
  if (docs === undefined) throw new Error(`Describe ${name} in the docs of its area, shared/api/areas/*.docs.ts.`);
  return docs;
};

/** The name of a path's parameter in the description: what it contains. */
export const describedName = (name: EndpointName, parameter: string): string => {
  // Generators have a type `File` of their own, and rename one that is made of the parameter.
  if (parameter === 'file') return 'file_name';
  if (parameter !== 'id') return parameter;
  const { id } = docsOf(name);
  if (id === undefined) throw new Error(`Name the id in the path of ${name} in its docs: "id: 'thing_id'".`);
  return id;
};

/**
 * The path of a route in the description. A path with a slash at its end is not described: its operation is the one
 * without.
 */
export const describedPath = (name: EndpointName, path: string): string =>
  path.replace(/\/$/, '').replaceAll(/\{(\w+)\}/g, (_, parameter) => `{${describedName(name, parameter)}}`);

/** A request, and the body of its response; without `answer`, the response has no body, or bytes. */
export interface Example extends AnyExample {
  endpoint: EndpointName;
}

/** A sequence, which a test sends to the local stack in this order. */
export const examples: readonly Example[] = sequence.flatMap(({ endpoints }: AnyAreaDocs) =>
  Object.entries(endpoints).flatMap(([name, docs]) =>
    [docs.examples]
      .flat()
      .flatMap(({ after, ...example }) => [
        ...(after ? [{ endpoint: 'receiveAppEvents' as const, ...after }] : []),
        { endpoint: name as EndpointName, ...example },
      ]),
  ),
);

const schemaDocs: readonly SchemaDocs[] = [...Object.values(areas), webhookDocs, common];

/**
 * One part of all docs.
 *
 * @throws Error — two docs have the same key
 */
const merged = <Value>(partOf: (docs: SchemaDocs) => Readonly<Record<string, Value>> | undefined) => {
  const entries = schemaDocs.flatMap((docs) => Object.entries(partOf(docs) ?? {}));
  const keys = entries.map(([key]) => key);
  const again = keys.find((key, index) => keys.indexOf(key) < index);
  if (again !== undefined) throw new Error(`Two docs describe ${again}: see shared/api/areas/*.docs.ts.`);
  return Object.fromEntries(entries);
};

export const schemas = merged(({ schemas }) => schemas);

/** Names of schemas by place, or by the name of their field. */
export const schemaNames: Readonly<Record<string, string>> = {
  ...merged(({ names }) => names),
  ...Object.fromEntries(
    (Object.keys(api) as EndpointName[]).flatMap((endpoint) =>
      Object.entries(docsOf(endpoint).names ?? {}).map(([index, name]) => [`${endpoint}.${index}`, name]),
    ),
  ),
};

/** Descriptions of fields. */
export const glossary = merged(({ fields }) => fields);

export const guarantees = merged(({ guarantees }) => guarantees);
