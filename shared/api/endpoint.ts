/** What an endpoint is: the form of an entry of the API list, and the parts that several entries share. */
import * as v from 'valibot';
import type { Permission } from '../core/permissions.ts';
import type { ProblemCode } from '../core/problems.ts';
import type { TableAccess } from '../table/access-patterns.ts';
import { atMost, visibleText } from '../validation/schemas.ts';

/** `base` is the API host, `bridge` the host that chat platforms and the app network talk to. */
export type Host = 'base' | 'bridge';

type Method = 'GET' | 'HEAD' | 'POST' | 'DELETE';

/** Folders of `functions/`, one per part of what the service does. */
export type Area = 'profilers' | 'stats' | 'user-data' | 'messages' | 'bridge' | 'app' | 'media' | 'description';

type ObjectSchema = v.ObjectSchema<v.ObjectEntries, undefined>;

export interface Endpoint {
  area: Area;
  /** One line for the API description. */
  summary: string;
  /** Where it is served. `{name}` in a path is a parameter; `{name+}` takes the rest of the path. */
  routes: readonly [Route, ...Route[]];
  /**
   * Further routes that lead to its function. Through them, the function serves the method and path of a route above, and
   * rejects all others with 404 `address_not_found`.
   */
  catchAll?: readonly CatchAllRoute[];
  /** Where the token comes from: the Authorization header, the parameter `encoded_token` of the path, or nowhere. */
  token: 'header' | 'path' | 'none';
  /** What the token must allow; nothing, where there is none. */
  permission: Permission | 'none';
  /** Parameters of the path: exactly those that the routes name. */
  path?: ObjectSchema;
  query?: v.GenericSchema;
  /** Headers that mean something to the endpoint, by their lower-case names. */
  headers?: ObjectSchema;
  body?: { type: 'json' | 'form' | 'multipart'; schema: v.GenericSchema };
  /** Bodies by status; `null` where there is none. Bytes go out as they are, anything else as JSON. */
  responses: Partial<Record<200 | 204 | 304, v.GenericSchema | null>>;
  /** Problems that this endpoint answers besides those that any endpoint of its kind may (`problemsOf`). */
  problems: readonly ProblemCode[];
  /** Seconds that its function may take, if it waits; a few by default. */
  timeout?: number;
  /** Ways in which its function touches the table: its role allows these and no others. */
  table: readonly TableAccess[];
  /** What it does with the bucket of media. */
  bucket?: 'PutObject' | 'GetObject';
}

interface Route {
  host: Host;
  method: Method;
  path: `/${string}`;
}

/** `ANY` stands for all methods, `{rest+}` for the rest of a path, and `$default` for what no other route of the host takes. */
export type CatchAllRoute = { host: Host } & (
  | { method: Method | 'ANY'; path: `/${string}` }
  | { method: 'ANY'; path: '$default' }
);

/** The names of a path's parameters: `'id'` for `/v1/things/{id}`. */
type ParametersOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends `${infer Greedy}+` ? Greedy : Name) | ParametersOf<Rest>
  : never;

type DeclaredParameters<E extends Endpoint> = E extends { path: { entries: infer Entries } } ? keyof Entries : never;

/** Refuses an endpoint whose path schema and routes do not name the same parameters. */
type Consistent<E extends Endpoint> = [ParametersOf<E['routes'][number]['path']>] extends [DeclaredParameters<E>]
  ? [DeclaredParameters<E>] extends [ParametersOf<E['routes'][number]['path']>]
    ? unknown
    : { path: 'names a parameter that no route has' }
  : { path: 'lacks a parameter of a route' };

/** Describes an endpoint, so that its literal types stay and its parts agree. */
export const define = <const E extends Endpoint>(endpoint: E & Consistent<E>): E => endpoint;

/** The header of requests that may be repeated without effect. */
export const idempotencyKey = v.object({ 'idempotency-key': v.optional(v.pipe(visibleText, atMost(255))) });

/** Every problem that an endpoint may answer: its own, and those that follow from what it takes. */
export const problemsOf = (endpoint: Endpoint): ProblemCode[] => {
  const takesInput = endpoint.body ?? endpoint.query ?? endpoint.headers;
  return [
    ...(endpoint.body ? (['malformed_body', 'unsupported_media_type'] as const) : []),
    ...(endpoint.permission === 'none' ? [] : (['permission_required'] as const)),
    ...(takesInput ? (['invalid_request'] as const) : []),
    ...(endpoint.catchAll ? (['address_not_found'] as const) : []),
    ...endpoint.problems,
    'internal_error',
    'unavailable',
  ];
};
