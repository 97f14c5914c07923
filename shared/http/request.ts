import * as v from 'valibot';
import type { Endpoint } from '../api/endpoint.ts';
import { invalidRequest, type ValidationError } from '../core/problems.ts';
import { errorInBody, errorInParameter } from '../validation/validation-errors.ts';
import type { HttpEvent } from './event.ts';
import { identityOf } from './middleware/authorize.ts';

type OutputOf<Schema> = Schema extends v.GenericSchema ? v.InferOutput<Schema> : undefined;

type Part<E, Name extends 'path' | 'query' | 'headers'> =
  E extends Record<Name, infer Schema> ? OutputOf<Schema> : undefined;

/** The input of an endpoint's handler: the caller's account, and the parts of the request, typed by their schemas. */
export interface RequestOf<E extends Endpoint> {
  method: string;
  account: E['permission'] extends 'none' ? undefined : string;
  /** The id of the caller's token. */
  token: E['permission'] extends 'none' ? undefined : string;
  /** The limit of requests of the caller's account, if it has one. */
  limit: { rate: number; burst: number } | undefined;
  path: Part<E, 'path'>;
  query: Part<E, 'query'>;
  headers: Part<E, 'headers'>;
  body: E extends { body: { schema: infer Schema } } ? OutputOf<Schema> : undefined;
  /** The body, before it is parsed. */
  bytes: Buffer;
  /** When the request reached the service, in milliseconds since 1970. */
  arrived: number;
  /** Returns the milliseconds that are left for the response. */
  remaining: () => number;
}

/** Proxies, browsers and access logs store URLs. Therefore a token in a query may be known to others. */
const TOKEN_IN_URL: ValidationError = {
  parameter: 'access_token',
  detail:
    'is not accepted, because URLs are logged in many places: send the token in the Authorization header only, and ask the operator to replace it',
};

const NO_BYTES = Buffer.alloc(0);

/**
 * Checks path, query, headers and body against the endpoint's schemas.
 *
 * @throws invalid_request — with the validation errors of all parts
 */
export const validRequest = <E extends Endpoint>(
  endpoint: E,
  event: HttpEvent,
  remaining: () => number,
): RequestOf<E> => {
  const errors: ValidationError[] = [];

  const check = (
    schema: v.GenericSchema | undefined,
    input: unknown,
    toError: (issue: v.BaseIssue<unknown>) => ValidationError,
  ): unknown => {
    if (schema === undefined) return undefined;
    const { success, output, issues } = v.safeParse(schema, input);
    if (!success) for (const issue of issues) errors.push(toError(issue));
    return output;
  };

  const { access_token } = endpoint.permission === 'none' ? {} : (event.queryStringParameters ?? {});
  if (access_token !== undefined) errors.push(TOKEN_IN_URL);

  const caller = identityOf(event);
  const { rate, burst } = caller ?? {};
  const request = {
    // Stryker disable next-line StringLiteral: It never happens; only the compiler asks for it.
    method: event.routeKey.split(' ', 1)[0] ?? '',
    account: caller?.account,
    token: caller?.token,
    limit: rate === undefined || burst === undefined ? undefined : { rate, burst },
    path: check(endpoint.path, event.pathParameters ?? {}, errorInParameter),
    query: check(endpoint.query, event.queryStringParameters ?? {}, errorInParameter),
    headers: check(endpoint.headers, event.headers, errorInParameter),
    body: check(endpoint.body?.schema, event.body, errorInBody),
    bytes: event.bytes ?? NO_BYTES,
    arrived: event.requestContext.timeEpoch,
    remaining,
  };

  if (errors.length > 0) throw invalidRequest(errors, endpoint.mostErrors);
  return request as RequestOf<E>;
};
