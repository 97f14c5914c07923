import type * as v from 'valibot';
import type { Endpoint } from '../api/endpoint.ts';
import type { HttpResponse } from './event.ts';

/** A successful response with a body, or a page in place of a missing one. */
export interface Ok<Body> {
  status: 200 | 404;
  body: Body;
  headers?: Record<string, string>;
}

/** A response about something new, with a body. */
export interface Created<Body> {
  status: 201;
  body: Body;
}

/** A successful response without a body. */
export interface NoContent {
  status: 204;
}

/** The request was accepted, and there is nothing to say. */
export interface Accepted {
  status: 202;
}

/** The caller's copy is still current. */
export interface NotModified {
  status: 304;
  headers: Record<string, string>;
}

/** The successful responses of an endpoint, by its description. */
export type ResponseOf<E extends Endpoint> = {
  [Status in keyof E['responses']]: E['responses'][Status] extends v.GenericSchema
    ? Status extends 201
      ? Created<v.InferInput<E['responses'][Status]>>
      : Ok<v.InferInput<E['responses'][Status]>>
    : Status extends 304
      ? NotModified
      : Status extends 202
        ? Accepted
        : NoContent;
}[keyof E['responses']];

export const ok = <Body>(body: Body, headers: Record<string, string> = {}): Ok<Body> => ({
  status: 200,
  body,
  headers,
});

export const created = <Body>(body: Body): Created<Body> => ({ status: 201, body });

export const noContent = (): NoContent => ({ status: 204 });

export const notModified = (headers: Record<string, string>): NotModified => ({ status: 304, headers });

/** The `Link` header (RFC 8288) with the URL of a list's next page. Parameters without a value are left out. */
export const nextPage = (path: string, query: Record<string, string | number | undefined>): { link: string } => {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return { link: `<${path}?${given}>; rel="next"` };
};

/** Responses may contain personal data, and lists change: no cache keeps a copy. */
const UNCACHED = { 'cache-control': 'no-store' };

export const toResponse = (
  reply: Ok<unknown> | Created<unknown> | Accepted | NoContent | NotModified,
): HttpResponse => {
  const headers = 'headers' in reply ? reply.headers : {};
  if (!('body' in reply)) return { statusCode: reply.status, headers: { ...UNCACHED, ...headers } };
  const { status, body } = reply;
  return body instanceof Uint8Array
    ? {
        statusCode: status,
        headers: { ...UNCACHED, ...headers },
        body: Buffer.from(body).toString('base64'),
        isBase64Encoded: true,
      }
    : {
        statusCode: status,
        headers: { 'content-type': 'application/json', ...UNCACHED, ...headers },
        body: JSON.stringify(body),
      };
};

/** A response with a problem document (RFC 9457). */
export const toProblemResponse = (
  status: number,
  problem: Record<string, unknown>,
  headers: Record<string, string>,
): HttpResponse => ({
  statusCode: status,
  headers: {
    'content-type': 'application/problem+json',
    ...UNCACHED,
    ...headers,
  },
  body: JSON.stringify(problem),
});
