/** Calls of the API: typed by its schemas, with the token of the session, and with repeats where nothing can happen twice. */
import type * as v from 'valibot';
import { addressOf as addressIn } from '../../shared/api/address.ts';
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
  /** The request may be repeated: a repeat changes nothing. */
  mayRepeat: true;
  signal: AbortSignal;
}>;

/** The body of a successful response. Empty lists are returned without a body, so a list may be `undefined`. */
export type BodyFrom<Name extends EndpointName> = Api[Name]['responses'] extends {
  200: infer S extends v.GenericSchema;
}
  ? Api[Name]['responses'] extends { 204: null }
    ? v.InferOutput<S> | undefined
    : v.InferOutput<S>
  : Api[Name]['responses'] extends { 201: infer S extends v.GenericSchema }
    ? v.InferOutput<S>
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
  /** Whether an earlier attempt of the request may have succeeded: its response was lost. */
  readonly isUncertain: boolean;

  constructor(status: number, problem: Record<string, unknown>, isUncertain = false) {
    const { code, detail, title, errors, trace_id } = problem;
    super([detail, title].find((one) => typeof one === 'string') ?? String(status));
    this.status = status;
    this.code = typeof code === 'string' ? code : '';
    this.errors = Array.isArray(errors) ? errors.filter((one) => typeof one?.detail === 'string') : [];
    this.trace = typeof trace_id === 'string' ? trace_id : undefined;
    this.isUncertain = isUncertain;
  }
}

/** Whether the service has rejected a request: repeating it does not help. Earlier attempts may have succeeded (`isUncertain`). */
export const isRejection = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status < 500 && error.status !== 408 && error.status !== 429;

/** The service was not reached. */
export class OfflineError extends Error {}

interface Listener {
  /** The token is unknown, has expired, or was revoked. */
  onRejected: () => void;
  /** Whether the service was reached. */
  onConnection: (online: boolean) => void;
}

interface Connection extends Listener {
  token: string | undefined;
  ending: AbortController;
}

const connectionOf = (token: string | undefined, listener: Listener): Connection => ({
  ...{ token, ...listener },
  ending: new AbortController(),
});

let connection = connectionOf(undefined, { onRejected: () => undefined, onConnection: () => undefined });

/**
 * Sets the token of the next calls, and who is told what they find out. Calls that are under way end: what they return, or that
 * their token was rejected, does not concern the next session.
 */
export const connect = (token: string | undefined, listener: Listener): void => {
  connection.ending.abort();
  connection = connectionOf(token, listener);
};

export const permissionOf = (name: EndpointName) => ENDPOINTS[name]?.permission;

/** The path of an endpoint with its parameters and query: `/v1/jobs/12?limit=5`. */
export const addressOf = <Name extends EndpointName>(name: Name, { path, query }: RequestTo<Name> = {}): string =>
  addressIn(ENDPOINTS[name]?.path ?? '', { ...path }, { ...query });

/**
 * Calls an endpoint.
 *
 * @throws ApiError — the response is a problem; OfflineError
 */
export const call = async <Name extends EndpointName>(
  name: Name,
  request: RequestTo<Name> = {},
): Promise<Reply<BodyFrom<Name>>> => {
  const { method = 'GET', permission } = ENDPOINTS[name] ?? {};
  // A view that has not noticed yet that the session has ended.
  if (connection.token === undefined && permission !== 'none') throw new OfflineError('Nobody is signed in.');
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

/** Milliseconds before each repeat, unless the response says how long. */
const WAITS = [500, 2_000];
const LONGEST_WAIT = 10_000;

const fetchAs = async (
  method: string,
  address: string,
  {
    body,
    idempotencyKey,
    mayRepeat,
    signal,
  }: Pick<RequestTo<EndpointName>, 'idempotencyKey' | 'mayRepeat' | 'signal'> & {
    body?: unknown;
  },
): Promise<Response> => {
  const { token, ending, ...own } = connection;
  // A list says itself where its next page is: the token is for this host only.
  if (URL.parse(address, location.origin)?.origin !== location.origin) throw new Error('This is not our service.');
  const isForm = body instanceof FormData;
  const aborting = signal ? AbortSignal.any([signal, ending.signal]) : ending.signal;
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
    signal: aborting,
  };
  const repeats = method === 'GET' || mayRepeat || idempotencyKey !== undefined ? WAITS : [];
  let isUncertain = false;
  for (const wait of [...repeats, undefined]) {
    const answered = await fetch(address, init).catch((error: unknown) => {
      if (aborting.aborted) throw error;
      return undefined;
    });
    // The page of a proxy, or of a network at which one must sign in first.
    const isOurs = !answered?.headers.get('content-type')?.startsWith('text/html');
    const response = isOurs ? answered : undefined;
    own.onConnection(response !== undefined);
    if (response !== undefined && !(wait !== undefined && [429, 500, 502, 503, 504].includes(response.status))) {
      const error = await failureOf(response, isUncertain);
      if (error === undefined) return response;
      // API Gateway rejects tokens itself, without a problem document.
      if ([401, 403].includes(error.status) && error.code === '' && !ending.signal.aborted) own.onRejected();
      throw error;
    }
    if (wait === undefined) break;
    isUncertain ||= response?.status !== 429;
    const asked = Number(response?.headers.get('retry-after') ?? Number.NaN) * 1_000;
    await new Promise((resolve) => setTimeout(resolve, Math.min(Number.isNaN(asked) ? wait : asked, LONGEST_WAIT)));
  }
  throw new OfflineError('The service cannot be reached.');
};

/** The problem that a response is; undefined after success. */
const failureOf = async (response: Response, isUncertain: boolean): Promise<ApiError | undefined> => {
  const date = Date.parse(response.headers.get('date') ?? '');
  if (!Number.isNaN(date)) follow(new Date(date).toISOString());
  if (response.ok) return undefined;
  return new ApiError(response.status, Object(await response.json().catch(() => ({}))), isUncertain);
};

const bodyOf = async <Body>(response: Response): Promise<Body> =>
  (response.status === 204 ? undefined : JSON.parse(await response.text())) as Body;

/** The path in a `Link: <…>; rel="next"` header. */
export const nextOf = (response: Response): string | undefined =>
  /<([^>]+)>;\s*rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
