import * as v from 'valibot';
import type { Endpoint } from '../api.ts';
import { type Fault, invalidRequest } from '../problems.ts';
import { identityOf } from './authorize.ts';
import type { HttpEvent } from './event.ts';

type OutputOf<Schema> = Schema extends v.GenericSchema ? v.InferOutput<Schema> : undefined;

type Part<E, Name extends 'path' | 'query' | 'headers'> =
  E extends Record<Name, infer Schema> ? OutputOf<Schema> : undefined;

/** What the handler of an endpoint gets: the caller's account, and every part of the request as its schema types it. */
export interface RequestOf<E extends Endpoint> {
  account: E['permission'] extends 'none' ? undefined : string;
  path: Part<E, 'path'>;
  query: Part<E, 'query'>;
  headers: Part<E, 'headers'>;
  body: E extends { body: { schema: infer Schema } } ? OutputOf<Schema> : undefined;
}

/**
 * Checks path, query, headers and body against the endpoint's schemas.
 *
 * @throws invalid_request — with all faults of all parts at once
 */
export const validRequest = <E extends Endpoint>(endpoint: E, event: HttpEvent): RequestOf<E> => {
  const faults: Fault[] = [];

  const check = (schema: v.GenericSchema | undefined, input: unknown, toFault: (issue: Issue) => Fault): unknown => {
    if (schema === undefined) return undefined;
    const { success, output, issues } = v.safeParse(schema, input);
    if (!success) for (const issue of issues) faults.push(toFault(issue));
    return output;
  };

  const request = {
    account: identityOf(event)?.account,
    path: check(endpoint.path, event.pathParameters ?? {}, inParameter),
    query: check(endpoint.query, event.queryStringParameters ?? {}, inParameter),
    headers: check(endpoint.headers, event.headers, inParameter),
    body: check(endpoint.body?.schema, event.body, inBody),
  };

  if (faults.length > 0) throw invalidRequest(faults);
  return request as RequestOf<E>;
};

type Issue = v.BaseIssue<unknown>;

const inParameter = (issue: Issue): Fault => ({ parameter: keysOf(issue).join('.'), detail: describe(issue) });

const inBody = (issue: Issue): Fault => ({
  pointer: `#${keysOf(issue)
    .map((key) => `/${encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))}`)
    .join('')}`,
  detail: describe(issue),
});

const keysOf = (issue: Issue): string[] => (issue.path ?? []).map(({ key }) => String(key));

/** What is wrong, for a person. Schemas word their own rules; a wrong type is worded here. */
const describe = (issue: Issue): string => {
  if (issue.kind !== 'schema') return issue.message;
  if (issue.received === 'undefined') return 'is required';
  return `must be ${EXPECTED[issue.expected ?? ''] ?? issue.expected}, not ${RECEIVED[issue.received] ?? kindOf(issue.input)}`;
};

const EXPECTED: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  Array: 'an array',
  Object: 'an object',
};

const RECEIVED: Record<string, string> = { Object: 'an object', Array: 'an array', null: 'null' };

const kindOf = (input: unknown): string => (typeof input === 'boolean' ? String(input) : `a ${typeof input}`);
