/**
 * The API, endpoint by endpoint: the one list that routes, validation, the functions' rights, the API description and
 * the tests come from. An endpoint `doThing` of area `things` is served by `functions/things/do-thing.ts`.
 */
import * as v from 'valibot';
import type { Permission } from './permissions.ts';
import type { ProblemCode } from './problems.ts';
import type { AccessPatternName } from './table/keys.ts';
import { lowerCased, phoneNumber, visibleText } from './text.ts';

/** `base` is the API host, `bridge` the host that chat platforms and the app network talk to. */
type Host = 'base' | 'bridge';

type Method = 'GET' | 'HEAD' | 'POST' | 'DELETE';

/** Folders of `functions/`, one per part of what the service does. */
type Area = 'profilers' | 'stats' | 'user-data' | 'messages' | 'bridge' | 'app' | 'media';

type ObjectSchema = v.ObjectSchema<v.ObjectEntries, undefined>;

export interface Endpoint {
  area: Area;
  /** One line for the API description. */
  summary: string;
  /** Where it is served. `{name}` in a path is a parameter; `{name+}` takes the rest of the path. */
  routes: readonly [Route, ...Route[]];
  /** Where the token comes from: the Authorization header, the parameter `encoded_token` of the path, or nowhere. */
  token: 'header' | 'path' | 'none';
  /** What the token must allow; nothing, where there is none. */
  permission: Permission | 'none';
  /** Parameters of the path: exactly those that the routes name. */
  path?: ObjectSchema;
  query?: ObjectSchema;
  /** Headers that mean something to the endpoint, by their lower-case names. */
  headers?: ObjectSchema;
  body?: { type: 'json' | 'form'; schema: v.GenericSchema };
  /** Bodies by status; `null` where there is none. */
  responses: Partial<Record<200 | 204, v.GenericSchema | null>>;
  /** Problems that this endpoint answers besides those that any endpoint of its kind may (`problemsOf`). */
  problems: readonly ProblemCode[];
  /** Ways in which its function touches the table: its role allows these and no others. */
  table: readonly AccessPatternName[];
}

interface Route {
  host: Host;
  method: Method;
  path: `/${string}`;
}

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

/** An option is 36 characters of id and its text: more than this many never fit into one profiler. */
const MAX_OPTIONS = 10_000;

const option = v.object({ id: v.string(), option: v.string() });

const storedProfiler = v.object({ question: v.string(), created_at: v.string(), options: v.array(option) });

const idempotencyKey = v.object({
  'idempotency-key': v.optional(v.pipe(visibleText, v.maxLength(255, 'must have at most 255 characters'))),
});

export const api = {
  createProfiler: define({
    area: 'profilers',
    summary: 'Create a profiler: a question with options.',
    routes: [{ host: 'base', method: 'POST', path: '/v1/research_profilers' }],
    token: 'header',
    permission: 'profilers',
    headers: idempotencyKey,
    body: {
      type: 'json',
      schema: v.object({
        question: visibleText,
        options: v.pipe(
          v.array(v.unknown()),
          v.maxLength(MAX_OPTIONS, `must hold at most ${MAX_OPTIONS} options`),
          v.array(visibleText),
          v.check(
            (options) => lowerCased(options).length > 1,
            'must hold at least two options that differ in more than case',
          ),
        ),
      }),
    },
    responses: { 200: v.object({ profiler_id: v.string(), options: v.record(v.string(), v.string()) }) },
    problems: ['idempotency_key_reused', 'profiler_too_large'],
    table: ['putProfiler'],
  }),

  listProfilers: define({
    area: 'profilers',
    summary: 'List your profilers, oldest first.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/research_profilers' }],
    token: 'header',
    permission: 'profilers',
    query: v.object({ cursor: v.optional(v.string()) }),
    responses: { 200: v.array(v.object({ id: v.string(), ...storedProfiler.entries })) },
    problems: [],
    table: ['listProfilers'],
  }),

  readProfiler: define({
    area: 'profilers',
    summary: 'Read one of your profilers.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/research_profilers/{id}' }],
    token: 'header',
    permission: 'profilers',
    path: v.object({ id: v.string() }),
    responses: { 200: storedProfiler },
    problems: ['profiler_not_found'],
    table: ['findProfiler'],
  }),

  deleteProfiler: define({
    area: 'profilers',
    summary: 'Delete one of your profilers, with its answers.',
    routes: [{ host: 'base', method: 'DELETE', path: '/v1/research_profilers/{id}' }],
    token: 'header',
    permission: 'profilers',
    path: v.object({ id: v.string() }),
    responses: { 204: null },
    problems: ['profiler_not_found'],
    table: ['buryProfiler'],
  }),

  answerProfiler: define({
    area: 'profilers',
    summary: "Record a panelist's answer to one of your profilers.",
    routes: [{ host: 'base', method: 'POST', path: '/v1/profiler_answer' }],
    token: 'header',
    permission: 'profilers',
    body: {
      type: 'json',
      schema: v.object({ profiler_id: visibleText, option_id: visibleText, phone_number: phoneNumber }),
    },
    responses: { 204: null },
    problems: ['profiler_not_found', 'option_not_found', 'panelist_not_found', 'already_answered'],
    table: ['findProfiler', 'findUser', 'putAnswer'],
  }),
} as const satisfies Record<string, Endpoint>;

export type Api = typeof api;
export type EndpointName = keyof Api;

/** Every problem that an endpoint may answer: its own, and those that follow from what it takes. */
export const problemsOf = (endpoint: Endpoint): ProblemCode[] => {
  const takesInput = endpoint.body ?? endpoint.query ?? endpoint.headers;
  return [
    ...(endpoint.body ? (['malformed_body', 'unsupported_media_type'] as const) : []),
    ...(endpoint.permission === 'none' ? [] : (['permission_required'] as const)),
    ...(takesInput ? (['invalid_request'] as const) : []),
    ...endpoint.problems,
    'internal_error',
    'unavailable',
  ];
};
