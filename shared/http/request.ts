import * as v from 'valibot';
import type { Endpoint } from '../api/endpoint.ts';
import { invalidRequest, type ValidationError } from '../core/problems.ts';
import { errorInBody, errorInParameter } from '../validation/validation-errors.ts';
import type { HttpEvent } from './event.ts';
import { identityOf } from './middleware/authorize.ts';

type OutputOf<Schema> = Schema extends v.GenericSchema ? v.InferOutput<Schema> : undefined;

type Part<E, Name extends 'path' | 'query' | 'headers'> =
  E extends Record<Name, infer Schema> ? OutputOf<Schema> : undefined;

/** What the handler of an endpoint gets: the caller's account, and every part of the request as its schema types it. */
export interface RequestOf<E extends Endpoint> {
  method: string;
  account: E['permission'] extends 'none' ? undefined : string;
  path: Part<E, 'path'>;
  query: Part<E, 'query'>;
  headers: Part<E, 'headers'>;
  body: E extends { body: { schema: infer Schema } } ? OutputOf<Schema> : undefined;
  /** The body as it came. */
  bytes: Buffer;
  /** When the request reached the service, in milliseconds since 1970. */
  arrived: number;
  /** Milliseconds that are left to answer in. */
  remaining: () => number;
}

/**
 * Checks path, query, headers and body against the endpoint's schemas.
 *
 * @throws invalid_request — with all faults of all parts at once
 */
export const validRequest = <E extends Endpoint>(
  endpoint: E,
  event: HttpEvent,
  remaining: () => number,
): RequestOf<E> => {
  const faults: ValidationError[] = [];

  const check = (
    schema: v.GenericSchema | undefined,
    input: unknown,
    toFault: (issue: v.BaseIssue<unknown>) => ValidationError,
  ): unknown => {
    if (schema === undefined) return undefined;
    const { success, output, issues } = v.safeParse(schema, input);
    if (!success) for (const issue of issues) faults.push(toFault(issue));
    return output;
  };

  const request = {
    // Stryker disable next-line StringLiteral: It never happens; only the compiler asks for it.
    method: event.routeKey.split(' ', 1)[0] ?? '',
    account: identityOf(event)?.account,
    path: check(endpoint.path, event.pathParameters ?? {}, errorInParameter),
    query: check(endpoint.query, event.queryStringParameters ?? {}, errorInParameter),
    headers: check(endpoint.headers, event.headers, errorInParameter),
    body: check(endpoint.body?.schema, event.body, errorInBody),
    bytes: event.bytes ?? Buffer.alloc(0),
    arrived: event.requestContext.timeEpoch,
    remaining,
  };

  if (faults.length > 0) throw invalidRequest(faults);
  return request as RequestOf<E>;
};
