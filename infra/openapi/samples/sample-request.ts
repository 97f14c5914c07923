/** The request of an example, in parts that each language writes in its own way. */

import type { Endpoint } from '../../../shared/api/endpoint.ts';
import { api } from '../../../shared/api/index.ts';
import { docsOf, type Example } from '../docs.ts';

type Body =
  | { type: 'json'; json: string }
  | { type: 'form'; fields: [name: string, value: string][] }
  | { type: 'file'; file: string };

export interface SampleRequest {
  method: string;
  /** The environment variable with the URL of the host. */
  host: 'BASE_URL' | 'BRIDGE_URL';
  /** Path and query, encoded, in parts: `ENCODED_TOKEN` and `JOB` are values that a sample computes. */
  target: readonly string[];
  /** The value `NEW_ID` is one that a sample computes. */
  headers: readonly (readonly [name: string, value: string])[];
  /** Whether the request has the token in a header. */
  hasToken: boolean;
  body: Body | undefined;
  /** The file to which the response is written; undefined if the response is a text. */
  savedAs: string | undefined;
}

/** Placeholder in a path for the token in base64url, which a sample computes from the variable `TOKEN`. */
export const ENCODED_TOKEN = '{encoded_token}';

/** Placeholder in a query for the job: that of the variable `JOB_ID`, or a new one. A fixed job could be cancelled. */
export const JOB = '{job}';

/** Placeholder for a new id in each run. With a fixed one, a changed request would return 422. */
export const NEW_ID = '{new_id}';

export const requestOf = ({ endpoint: name, path, query, headers, body }: Example): SampleRequest => {
  const endpoint: Endpoint = api[name];
  const [{ method, host, path: template }] = endpoint.routes;
  const filled = template.replaceAll(/\{(\w+)\}/g, (found, parameter) =>
    found === ENCODED_TOKEN ? found : encodeURIComponent(textsOf(path).get(parameter) ?? ''),
  );
  const parameters = [...textsOf(query)].map(([parameter, value]) =>
    method === 'POST' && parameter === 'job_id' ? `job_id=${JOB}` : `${new URLSearchParams({ [parameter]: value })}`,
  );
  const { fileTypes, uploads } = docsOf(name);
  return {
    method,
    host: host === 'base' ? 'BASE_URL' : 'BRIDGE_URL',
    target: [filled, ...parameters.map((one, index) => (index === 0 ? `?${one}` : `&${one}`))]
      .join('')
      .split(COMPUTED)
      .filter((part) => part !== ''),
    headers: [...textsOf(headers)].map(([header, value]) => [
      capitalised(header),
      header === 'idempotency-key' ? NEW_ID : value,
    ]),
    hasToken: endpoint.token === 'header',
    body: bodyOf(endpoint, body, uploads),
    savedAs: fileTypes && `saved.${fileTypes.includes('text/csv') ? 'csv' : 'png'}`,
  };
};

const COMPUTED = new RegExp(`(${ENCODED_TOKEN}|${JOB})`);

/** Whether a sample of the request computes a new id each time. */
export const hasNewId = ({ target, headers }: SampleRequest): boolean =>
  target.includes(JOB) || headers.some(([, value]) => value === NEW_ID);

const textsOf = (part: object = {}): Map<string, string> =>
  new Map(Object.entries(part).map(([name, value]) => [name, String(value)]));

/** `idempotency-key` becomes `Idempotency-Key`. */
export const capitalised = (header: string): string => header.replaceAll(/(^|-)([a-z])/g, (part) => part.toUpperCase());

const bodyOf = (endpoint: Endpoint, body: unknown, uploads = 'picture.png'): Body | undefined => {
  switch (endpoint.body?.type) {
    case 'json':
      return { type: 'json', json: JSON.stringify(body, null, 2) };
    case 'form':
      return { type: 'form', fields: fieldsOf(body) };
    case 'multipart':
      return { type: 'file', file: uploads };
    default:
      return undefined;
  }
};

const fieldsOf = (body: unknown): [string, string][] =>
  Object.entries(Object(body)).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, String(one)]),
  );
