/** The type of an endpoint's description, and the parts that several endpoints share. */
import * as v from 'valibot';
import type { Permission } from '../core/permissions.ts';
import type { ProblemCode } from '../core/problems.ts';
import { atMost, visibleText } from '../validation/schemas.ts';
import type { TableAccess } from './access-patterns.ts';

/** `base` is the API host, `bridge` the host for chat platforms and the app network. */
export type Host = 'base' | 'bridge';

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Folders of `functions/`. */
export type Area =
  | 'profilers'
  | 'stats'
  | 'user-data'
  | 'users'
  | 'account'
  | 'messages'
  | 'bridge'
  | 'deliveries'
  | 'webhooks'
  | 'tokens'
  | 'sessions'
  | 'app'
  | 'media'
  | 'jobs'
  | 'portal'
  | 'mcp'
  | 'description';

type ObjectSchema = v.ObjectSchema<v.ObjectEntries, undefined>;

export interface Endpoint {
  area: Area;
  /** One line for the API description. */
  summary: string;
  /** `{name}` in a path is a parameter, `{name+}` matches the rest of the path. */
  routes: readonly [Route, ...Route[]];
  /**
   * Further routes of its function. On these routes, the function serves the methods and paths of `routes`, and rejects
   * others with 404 `address_not_found`.
   */
  catchAll?: readonly CatchAllRoute[];
  /** The place of the token: the Authorization header, or the parameter `encoded_token` of the path. */
  token: 'header' | 'path' | 'none';
  /** The permission that the token must have; `any` if each token of a customer will do, `none` if none is required. */
  permission: Permission | 'any' | 'none';
  /** Parameters of the path: the same names as in `routes`. */
  path?: ObjectSchema;
  query?: v.GenericSchema;
  /**
   * The position in a list, which its parameter `cursor` contains. Anybody can make a cursor, so a position must have a form
   * with which the list can continue.
   */
  position?: v.GenericSchema<string>;
  /** Headers that the endpoint uses, by their lower-case names. */
  headers?: ObjectSchema;
  /** Most validation errors that a response lists. Default: 1,000. */
  mostErrors?: number;
  body?: { type: 'json' | 'form' | 'multipart'; schema: v.GenericSchema };
  /**
   * Whether unknown fields are ignored without a word. Platforms and the app network send fields of which we know nothing, and
   * cannot change them.
   */
  ignoresUnknown?: true;
  /** Bodies by status; `null` for a response without a body. Bytes are sent unchanged, other values as JSON. */
  responses: Partial<Record<200 | 201 | 202 | 204 | 304, v.GenericSchema | null>>;
  /** Problems of this endpoint, besides those that `problemsOf` derives from its description. */
  problems: readonly ProblemCode[];
  /**
   * The response to a request over the limit of the account: 429 `rate_limited` by default. `none`: its requests are not
   * counted, because the requests that it makes with the caller's token are.
   */
  overLimit?: 'unavailable' | 'none';
  /**
   * Requests per second, sustained and at once, of all callers together: API Gateway rejects others. Default: the limits of the
   * host. For an endpoint without a token, whose callers have no limit of an account.
   */
  throttle?: { rate: number; burst: number };
  /** Timeout of its function in seconds, if it differs from the default. */
  timeout?: number;
  /** The accesses of its handler to the table: its role allows only these, and what `accessOf` adds. */
  table: readonly TableAccess[];
  /** The access of its function to the bucket of media. */
  bucket?: BucketAccess;
  /** Set if its function hashes personal data: it reads the secret of hashes. */
  hashes?: true;
  /** Set if its function sends wake-ups of the messages that it accepts, so that their delivery begins at once. */
  wakes?: true;
}

/** `ReplaceObject`: puts objects, and deletes them. */
export type BucketAccess = 'PutObject' | 'GetObject' | 'ReplaceObject';

interface Route {
  host: Host;
  method: Method;
  path: `/${string}`;
  /** Whether the API description leaves it out: only a page asks for it, or clients of MCP. */
  undescribed?: true;
}

/**
 * `ANY` matches all methods, `{rest+}` the rest of a path, and `$default` requests that match no other route of the
 * host.
 */
export type CatchAllRoute = { host: Host } & (
  | { method: Method | 'ANY'; path: `/${string}` }
  | { method: 'ANY'; path: '$default' }
);

/** The names of a path's parameters: `'id'` for `/v1/things/{id}`. */
type ParametersOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends `${infer Greedy}+` ? Greedy : Name) | ParametersOf<Rest>
  : never;

type DeclaredParameters<E extends Endpoint> = E extends { path: { entries: infer Entries } } ? keyof Entries : never;

/** A type error for endpoints whose path schema and routes have different parameters. */
type Consistent<E extends Endpoint> = [ParametersOf<E['routes'][number]['path']>] extends [DeclaredParameters<E>]
  ? [DeclaredParameters<E>] extends [ParametersOf<E['routes'][number]['path']>]
    ? unknown
    : { path: 'names a parameter that no route has' }
  : { path: 'lacks a parameter of a route' };

/** Checks the description of an endpoint at compile time, and keeps its literal types. */
export const define = <const E extends Endpoint>(endpoint: E & Consistent<E>): E => endpoint;

/** The optional header of requests whose repeats create nothing new. */
export const idempotencyKey = v.object({ 'idempotency-key': v.optional(v.pipe(visibleText, atMost(255))) });

/** The problem of a request over the limit of the account; nothing, if its callers have no limit or it counts no requests. */
export const overLimitOf = ({ permission, overLimit }: Endpoint): 'rate_limited' | 'unavailable' | undefined =>
  permission === 'none' || permission === 'app' || overLimit === 'none' ? undefined : (overLimit ?? 'rate_limited');

/** How the function of an endpoint touches the table. */
export const accessOf = (endpoint: Endpoint): TableAccess[] => [
  ...(overLimitOf(endpoint) === undefined ? [] : ['takeTokens' as const]),
  ...endpoint.table,
];

/** All problems that an endpoint may return: its own, and those that follow from its description. */
export const problemsOf = (endpoint: Endpoint): ProblemCode[] => {
  const isPublic = endpoint.permission === 'none';
  return [
    ...(endpoint.body ? (['malformed_body', 'unsupported_media_type'] as const) : []),
    // Every endpoint with a permission rejects a token in the query.
    ...(isPublic ? [] : (['permission_required', 'invalid_request'] as const)),
    ...(endpoint.catchAll ? (['address_not_found'] as const) : []),
    ...endpoint.problems,
    ...(overLimitOf(endpoint) === 'rate_limited' ? (['rate_limited'] as const) : []),
    'internal_error',
    'unavailable',
  ];
};
