/**
 * Calls the served stack over HTTP. Checks every response against the API list: a status, body or problem that
 * `shared/api/index.ts` does not contain fails the test.
 */
import * as v from 'valibot';
import { expect, inject } from 'vitest';
import { type Endpoint, problemsOf } from '../../../shared/api/endpoint.ts';
import { type Api, api, type EndpointName } from '../../../shared/api/index.ts';
import { problemCatalogue } from '../../../shared/core/problems.ts';

type InputOf<E, Part extends string> =
  E extends Record<Part, infer S extends v.GenericSchema> ? v.InferInput<S> : never;

type BodyOf<E> = E extends { body: { schema: infer S extends v.GenericSchema } } ? v.InferInput<S> : never;

/** The request of an endpoint, typed by its schemas. */
type RequestTo<Name extends EndpointName> = { token: string } & Partial<{
  path: InputOf<Api[Name], 'path'>;
  query: InputOf<Api[Name], 'query'>;
  headers: InputOf<Api[Name], 'headers'>;
  body: BodyOf<Api[Name]>;
}>;

type SuccessOf<Name extends EndpointName> = Api[Name]['responses'] extends
  | { 200: infer S extends v.GenericSchema }
  | { 201: infer S extends v.GenericSchema }
  ? AllFields<v.InferOutput<S>>
  : null;

/** A body of several forms, with the fields of all: a test knows which form it asked for. */
type AllFields<Body> = (Body extends unknown ? (form: Body) => void : never) extends (form: infer All) => void
  ? All
  : never;

export interface Received<Body> {
  status: number;
  headers: Headers;
  body: Body;
}

/** The fields of a problem document that tests read. */
export interface ProblemDocument {
  type: string;
  title: string;
  status: number;
  code: string;
  detail: string;
  errors?: { pointer?: string; parameter?: string; detail: string }[];
  trace_id: string;
}

/** Calls an endpoint and expects success. */
export const call = async <Name extends EndpointName>(
  name: Name,
  request: RequestTo<Name>,
): Promise<Received<SuccessOf<Name>>> => {
  const received = await sendTo(name, request);
  expect(received.status, JSON.stringify(received.body)).toBeLessThan(300);
  return received as Received<SuccessOf<Name>>;
};

/** Calls an endpoint and expects a problem. */
export const fail = async <Name extends EndpointName>(
  name: Name,
  request: RequestTo<Name>,
): Promise<Received<ProblemDocument>> => asProblem(await sendTo(name, request));

/** Sends an untyped request to an endpoint. `body` is sent without changes. */
export const sendRaw = (
  name: EndpointName,
  { token, path = {}, query, ...init }: RequestInit & { token?: string; path?: Record<string, string>; query?: string },
): Promise<Received<unknown>> => {
  const [{ method }] = api[name].routes;
  const headers = new Headers(init.headers);
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  return receive(name, fetch(urlOf(name, path, query), { method, ...init, headers }));
};

/** Checks that a response is a problem, and types it. */
export const asProblem = (received: Received<unknown>): Received<ProblemDocument> => {
  expect(received.headers.get('content-type')).toBe('application/problem+json');
  return received as Received<ProblemDocument>;
};

const sendTo = <Name extends EndpointName>(name: Name, request: RequestTo<Name>): Promise<Received<unknown>> => {
  const { body } = request;
  const endpoint: Endpoint = api[name];
  const type = endpoint.body?.type ?? 'json';
  return sendRaw(name, {
    token: request.token,
    path: (request.path ?? {}) as Record<string, string>,
    query: new URLSearchParams((request.query ?? {}) as Record<string, string>).toString(),
    headers: {
      ...(request.headers as Record<string, string>),
      // fetch sets the content type of a multipart form.
      ...(body !== undefined && type !== 'multipart' && { 'content-type': CONTENT_TYPES[type] }),
    },
    ...(body !== undefined && { body: ENCODERS[type](body) }),
  });
};

const CONTENT_TYPES = { json: 'application/json', form: 'application/x-www-form-urlencoded' };

/** URL-encodes fields. A field with several values is repeated. */
const formOf = (body: object): string => {
  const fields: [string, unknown][] = Object.entries(body);
  return new URLSearchParams(
    fields.flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, String(one)])),
  ).toString();
};

const multipartOf = (body: object): FormData => {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) form.append(name, value);
  return form;
};

const ENCODERS = { json: JSON.stringify, form: formOf, multipart: multipartOf };

/** The URL of an endpoint's first route. */
export const urlOf = (name: EndpointName, path: Record<string, string> = {}, query = ''): string => {
  const stack = inject('stack');
  const [{ host, path: template }]: Endpoint['routes'] = api[name].routes;
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => encodeURIComponent(path[parameter] ?? ''));
  return `${host === 'base' ? stack.base_url : stack.bridge_url}${filled}${query && `?${query}`}`;
};

const receive = async (name: EndpointName, pending: Promise<Response>): Promise<Received<unknown>> => {
  const response = await pending;
  const bytes = await response.bytes();
  const isJson = response.headers.get('content-type')?.includes('json');
  const text = new TextDecoder().decode(bytes);
  const body = isJson ? JSON.parse(text) : bytes;
  const received = { status: response.status, headers: response.headers, body: isEmpty(response, text) ? null : body };
  checkResponse(received, api[name]);
  return received;
};

/** Whether an empty body is permitted for this status. */
const isEmpty = ({ status }: Response, text: string): boolean => text === '' && status !== 200 && status !== 201;

/** Statuses that API Gateway returns without a function. */
const GATEWAY = new Set([400, 401, 403, 404, 413, 429, 431, 500, 503]);

const checkResponse = ({ status, headers, body }: Received<unknown>, endpoint: Endpoint): void => {
  if (status === 200 || status === 201 || status === 204 || status === 304) {
    const schema = endpoint.responses[status];
    if (schema === undefined) throw new Error(`${status} is not a response of this endpoint in the API list`);
    if (schema === null) expect(body).toBeNull();
    else v.assert(schema, body);
    return;
  }
  if (headers.get('content-type') === 'application/json') {
    expect(Object.keys(body as object)).toEqual(['message']);
    expect(GATEWAY).toContain(status);
    return;
  }
  const { code, status: documented, detail, errors = [] } = body as ProblemDocument;
  const problems = problemsOf(endpoint).map((problem) => ({ code: problem, status: problemCatalogue[problem].status }));
  expect(problems).toContainEqual({ code, status });
  expect(documented).toBe(status);
  // People read these texts.
  for (const words of [detail, ...errors.map((error) => error.detail)]) expect(words).toMatch(/\w{3}/);
};
