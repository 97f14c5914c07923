import * as v from 'valibot';
import type { Endpoint } from '../../api/endpoint.ts';
import { invalidRequest, type ValidationError } from '../../core/problems.ts';
import { namesOf, type UnknownField, unknownFields } from '../../validation/unknown-fields.ts';
import { errorInBody, errorInParameter, pointerTo } from '../../validation/validation-errors.ts';
import { bytesOf, type HttpMiddleware } from '../event.ts';
import { identityOf } from './authorize.ts';
import { shownNames } from './ignored-fields.ts';

/** Proxies, browsers and access logs store URLs. Therefore a token in a query may be known to others. */
const TOKEN_IN_URL: ValidationError = {
  parameter: 'access_token',
  detail:
    'is not accepted, because URLs are logged in many places: send the token in the Authorization header only, and ask the operator to replace it',
};

/**
 * Checks path, query, headers and body against the endpoint's schemas, and passes them on in `event.request`. A middleware,
 * because Middy creates an `AbortController` before it calls the handler, and a rejected request needs none.
 *
 * @param reserve - milliseconds before Lambda's timeout that the handler of the endpoint does not have
 * @throws invalid_request — with the validation errors of all parts
 */
export const validRequest = (endpoint: Endpoint, reserve: number): HttpMiddleware => {
  const known = endpoint.ignoresUnknown
    ? undefined
    : { query: namesOf(endpoint.query), body: namesOf(endpoint.body?.schema) };

  const validRequestBefore: HttpMiddleware['before'] = ({ event, context, internal }) => {
    const errors: ValidationError[] = [];
    const { access_token } = endpoint.permission === 'none' ? {} : (event.queryStringParameters ?? {});
    if (access_token !== undefined) errors.push(TOKEN_IN_URL);

    const caller = identityOf(event);
    const { rate, burst } = caller ?? {};
    event.request = {
      method: event.requestContext.http.method,
      account: caller?.account,
      token: caller?.token,
      label: caller?.label,
      permissions: caller?.permissions ?? [],
      limit: rate === undefined || burst === undefined ? undefined : { rate, burst },
      path: check(endpoint.path, event.pathParameters ?? {}, errorInParameter, errors),
      query: check(endpoint.query, event.queryStringParameters ?? {}, errorInParameter, errors),
      headers: check(endpoint.headers, event.headers, errorInParameter, errors),
      body: check(endpoint.body?.schema, event.body, errorInBody, errors),
      bytes: () => bytesOf(event),
      arrived: event.requestContext.timeEpoch,
      remaining: () => context.getRemainingTimeInMillis() - reserve,
    };
    if (known !== undefined) {
      const unknown = [
        ...unknownFields(known.query, event.queryStringParameters).map(inParameter),
        ...unknownFields(known.body, endpoint.body && event.body).map(inBody),
      ];
      if (unknown.length > 0) {
        internal.ignored = shownNames(unknown.map(({ name }) => name).filter((name) => name !== 'access_token'));
        errors.push(...unknown.flatMap(({ error }) => error ?? []));
      }
    }
    if (errors.length > 0) throw invalidRequest(errors, endpoint.mostErrors);
  };

  return { before: validRequestBefore };
};

/** An unknown field or parameter: its name without places in lists, and its error if it is a mistake. */
interface Unknown {
  name: string;
  error?: ValidationError;
}

const inParameter = ({ keys, meant }: UnknownField): Unknown => {
  const parameter = keys.join('.');
  return { name: parameter, ...(meant !== undefined && { error: { parameter, detail: notKnown(meant) } }) };
};

const inBody = ({ keys, meant }: UnknownField): Unknown => ({
  name: keys.filter((key) => typeof key === 'string').join('.'),
  ...(meant !== undefined && { error: { pointer: pointerTo(keys.map(String)), detail: notKnown(meant) } }),
});

const notKnown = (meant: string): string => `is not a known name: did you mean ${meant}?`;

/** The valid part of a request. Adds its errors to `errors`. */
const check = (
  schema: v.GenericSchema | undefined,
  input: unknown,
  toError: (issue: v.BaseIssue<unknown>) => ValidationError,
  errors: ValidationError[],
): unknown => {
  if (schema === undefined) return undefined;
  const { success, output, issues } = v.safeParse(schema, input);
  if (!success) for (const issue of issues) errors.push(toError(issue));
  return output;
};
