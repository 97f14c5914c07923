/** What the search of the site finds: parts of guides, operations of the API, and error codes. */
import { type Part, partsOf } from './guide.ts';
import { pageOf } from './reference/operations.ts';

export interface Entry {
  id: number;
  title: string;
  /** Where it is: the name of a page. */
  page: string;
  url: string;
  text: string;
}

/** An operation of the API description. */
export interface Operation {
  tag: string;
  id: string;
  method: string;
  path: string;
  summary: string;
  description: string;
}

const METHODS = new Set(['get', 'put', 'post', 'delete', 'head', 'patch']);

type Described = Partial<Record<'operationId' | 'summary' | 'description', string>> & { tags?: string[] };

/** The operations of a description, in its order. */
export const operationsOf = (description: object): Operation[] => {
  const { paths = {} } = description as { paths?: Record<string, Record<string, Described>> };
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => METHODS.has(method))
      .map(([method, { operationId = '', tags: [tag = ''] = [], summary = '', description: details = '' }]) => ({
        tag,
        id: operationId,
        method: method.toUpperCase(),
        path,
        summary,
        description: details,
      })),
  );
};

interface Rendered {
  path: string;
  title: string;
  html: string;
}

/** The entries of the search. */
export const entriesOf = (guides: Rendered[], operations: Operation[]): Entry[] => {
  const ofGuides = guides.flatMap(({ path, title, html }) => [
    ...partsOf(html).map((part) => entryOf(part, path, title)),
    ...[...html.matchAll(/<tr id="(\w+)">\n<td>(\d{3})<\/td>\n<td>.*?<\/td>\n<td>(.*?)<\/td>/g)].map(
      ([, code = '', status = '', remedy = '']) => ({
        title: code,
        page: title,
        url: `${path}#${code}`,
        text: `${status} ${remedy.replaceAll(/<[^>]+>/g, '')}`,
      }),
    ),
  ]);
  const ofReference = operations.map((operation) => ({
    title: `${operation.method} ${operation.path}`,
    page: 'API reference',
    url: pageOf(operation.id),
    text: `${operation.summary} ${operation.id} ${operation.description}`,
  }));
  return [...ofGuides, ...ofReference].map((entry, id) => ({ id, ...entry }));
};

const entryOf = ({ id, title, text }: Part, path: string, page: string): Omit<Entry, 'id'> => ({
  title: title || page,
  page,
  url: id === '' ? path : `${path}#${id}`,
  text,
});
