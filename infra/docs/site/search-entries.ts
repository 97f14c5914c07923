/** What the search of the site finds: parts of guides, operations and webhooks of the API, and error codes. */
import { errorsOf, type Part, partsOf } from './guide.ts';
import { type Audience, audienceOf } from './navigation.ts';
import type { Operation } from './reference/operations.ts';

export interface Entry {
  id: number;
  title: string;
  /** Where it is: the name of a page. */
  page: string;
  url: string;
  text: string;
  /** Other words for its title. */
  synonyms: string;
  /** The factor of its score. */
  weight: number;
}

/** @internal Words that people search for, by the headings of the sections that answer them. */
export const SYNONYMS: Readonly<Record<string, string>> = {
  'Generate a client': 'SDK library package',
  'Logs and jobs': 'pagination paging paginate cursor',
  'Request limit': 'rate limit limits throttling throttled quota',
  'Run the local stack': 'sandbox test environment demo emulator docker',
  'Sending hours': 'timezone time zone quiet hours',
  'Your own webhook': 'webhook signature verify hmac callback',
};

/** For sections about the Model Context Protocol. */
const MCP = 'mcp model context protocol agent agents assistant llm';

const synonymsOf = (title: string): string => (/\bMCP\b/.test(title) ? MCP : (SYNONYMS[title] ?? ''));

/** Most readers look for the guides of businesses, and fewest for decisions. */
const WEIGHTS: Readonly<Record<Audience, number>> = { users: 1, operators: 0.4, contributors: 0.1 };

interface Rendered {
  path: string;
  title: string;
  html: string;
}

/** The entries of the search. */
export const entriesOf = (guides: Rendered[], operations: Operation[]): Entry[] => {
  const ofGuides = guides.flatMap(({ path, title, html }) => {
    const sections = [
      ...partsOf(html).map((part) => sectionOf(part, path, title)),
      ...errorsOf(html).map(({ code, status, remedy }) => ({
        title: code,
        page: title,
        url: `${path}#${code}`,
        text: `${status} ${remedy}`,
      })),
    ];
    return sections.map((section) => ({ ...section, weight: WEIGHTS[audienceOf(path)] }));
  });
  const ofReference = operations.map(({ id, method, route, isWebhook, page, described }) => ({
    title: isWebhook ? route : `${method} ${route}`,
    page: 'API reference',
    url: page,
    text: `${described.summary} ${id} ${described.description}`,
    weight: WEIGHTS.users,
  }));
  return [...ofGuides, ...ofReference].map((entry, id) => ({ id, ...entry, synonyms: synonymsOf(entry.title) }));
};

const sectionOf = ({ id, title, text }: Part, path: string, page: string) => ({
  title: title || page,
  page,
  url: id === '' ? path : `${path}#${id}`,
  text,
});
