/** Calls of the API: typed by its schemas, with the token of the session, and with repeats where nothing can happen twice. */
import type * as v from 'valibot';
import type { Api, EndpointName } from '../../shared/api/index.ts';
import type { Permission } from '../../shared/core/permissions.ts';
import { follow } from '../web/clock.ts';

/** The endpoints of this host: `infra/bundle/portal.ts` fills it in. */
declare const ENDPOINTS: Record<
  EndpointName,
  { method: string; path: string; permission: Permission | 'any' | 'none' } | undefined
>;

type InputOf<E, Part extends string> =
  E extends Record<Part, infer S extends v.GenericSchema> ? v.InferInput<S> : never;

type BodyOf<E> = E extends { body: { type: 'multipart' } }
  ? FormData
  : E extends { body: { schema: infer S extends v.GenericSchema } }
    ? v.InferInput<S>
    : never;

export type RequestTo<Name extends EndpointName> = Partial<{
  path: InputOf<Api[Name], 'path'>;
  query: InputOf<Api[Name], 'query'>;
  body: BodyOf<Api[Name]>;
  /** The request may be repeated: the service does it once for each key. */
  idempotencyKey: string;
  signal: AbortSignal;
}>;

/** The body of a successful response. Empty lists are returned without a body, so a list may be `undefined`. */
export type BodyFrom<Name extends EndpointName> = Api[Name]['responses'] extends {
  200: infer S extends v.GenericSchema;
}
  ? Api[Name]['responses'] extends { 204: null }
    ? v.InferOutput<S> | undefined
    : v.InferOutput<S>
  : undefined;

export interface Reply<Body> {
  body: Body;
  /** Path and query of the next page of a list. */
  next: string | undefined;
}

/** A problem document of the API. */
export class ApiError extends Error {
  readonly status: number;
  /** Machine-readable: `job_not_found`. */
  readonly code: string;
  /** A sentence for each wrong value, with its place. */
  readonly errors: { pointer?: string; parameter?: string; detail: string }[];
  /** Operators find the request by it. */
  readonly trace: string | undefined;

  constructor(status: number, problem: Record<string, unknown>) {
    const { code = '', detail, title, errors, trace_id } = problem;
    super(String(detail ?? title ?? status));
    this.status = status;
    this.code = String(code);
    this.errors = Array.isArray(errors) ? errors : [];
    this.trace = typeof trace_id === 'string' ? trace_id : undefined;
  }
}

/** The service was not reached. */
export class OfflineError extends Error {}

interface Listener {
  /** The token is unknown, has expired, or was revoked. */
  onRejected: () => void;
  /** Whether the service was reached. */
  onConnection: (online: boolean) => void;
}

let token: string | undefined;
let listener: Listener = { onRejected: () => undefined, onConnection: () => undefined };

/** Sets the token of the next calls, and who is told what they find out. */
export const connect = (given: string | undefined, to: Listener): void => {
  token = given;
  listener = to;
};

export const permissionOf = (name: EndpointName) => ENDPOINTS[name]?.permission;

/** The path of an endpoint with its parameters and query: `/v1/jobs/12?limit=5`. */
export const addressOf = <Name extends EndpointName>(name: Name, { path, query }: RequestTo<Name> = {}): string => {
  const given = Object.entries((query ?? {}) as Record<string, unknown>).filter(
    ([, value]) => value !== undefined && value !== '',
  );
  const search = new URLSearchParams(given.map(([key, value]): [string, string] => [key, String(value)])).toString();
  const values = (path ?? {}) as Record<string, string>;
  const filled = (ENDPOINTS[name]?.path ?? '').replaceAll(/\{(\w+)\}/g, (_, key) =>
    encodeURIComponent(values[key] ?? ''),
  );
  return filled + (search && `?${search}`);
};

/**
 * Calls an endpoint.
 *
 * @throws ApiError — the response is a problem; OfflineError
 */
export const call = async <Name extends EndpointName>(
  name: Name,
  request: RequestTo<Name> = {},
): Promise<Reply<BodyFrom<Name>>> => {
  const { method = 'GET' } = ENDPOINTS[name] ?? {};
  const response = await fetchAs(method, addressOf(name, request), request);
  return { body: await bodyOf(response), next: nextOf(response) };
};

/** Reads a further page of a list: `next` of the reply before. @throws as `call` */
export const callNext = async <Name extends EndpointName>(
  _name: Name,
  next: string,
): Promise<Reply<BodyFrom<Name>>> => {
  const response = await fetchAs('GET', next, {});
  return { body: await bodyOf(response), next: nextOf(response) };
};

/** The response to GET as it is, such as a file. @throws as `call` */
export const fetchFile = (address: string): Promise<Response> => fetchAs('GET', address, {});

/** All pages of a file, one after the other. @throws as `call` */
export async function* fetchPages(address: string): AsyncGenerator<Blob> {
  for (let at: string | undefined = address; at !== undefined; ) {
    const response = await fetchFile(at);
    yield await response.blob();
    at = nextOf(response);
  }
}

/** Milliseconds before each repeat, unless the response says how long. */
const WAITS = [500, 2_000];
const LONGEST_WAIT = 10_000;

const fetchAs = async (
  method: string,
  address: string,
  { body, idempotencyKey, signal }: { body?: unknown; idempotencyKey?: string; signal?: AbortSignal },
): Promise<Response> => {
  const isForm = body instanceof FormData;
  const init: RequestInit = {
    method,
    cache: 'no-store',
    credentials: 'omit',
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  };
  const mayRepeat = method === 'GET' || idempotencyKey !== undefined;
  for (const wait of [...(mayRepeat ? WAITS : []), undefined]) {
    const response = await fetch(address, init).catch((error: unknown) => {
      if (signal?.aborted) throw error;
      return undefined;
    });
    listener.onConnection(response !== undefined);
    if (response !== undefined && !(wait !== undefined && [429, 500, 502, 503, 504].includes(response.status))) {
      return checked(response);
    }
    if (wait === undefined) throw new OfflineError('The service cannot be reached.');
    const asked = Number(response?.headers.get('retry-after') ?? Number.NaN) * 1_000;
    await new Promise((resolve) => setTimeout(resolve, Math.min(Number.isNaN(asked) ? wait : asked, LONGEST_WAIT)));
  }
  throw new OfflineError('The service cannot be reached.');
};

const checked = async (response: Response): Promise<Response> => {
  const date = response.headers.get('date');
  if (date !== null) follow(new Date(date).toISOString());
  if (response.ok) return response;
  if (response.status === 401 && token !== undefined) listener.onRejected();
  throw new ApiError(response.status, Object(await response.json().catch(() => ({}))));
};

const bodyOf = async <Body>(response: Response): Promise<Body> => {
  const text = response.status === 204 ? '' : await response.text();
  return (text === '' ? undefined : JSON.parse(text)) as Body;
};

/** The path in a `Link: <…>; rel="next"` header. */
const nextOf = (response: Response): string | undefined =>
  /<([^>]+)>;\s*rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
