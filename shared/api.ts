/**
 * The API, endpoint by endpoint: the one list that routes, validation, the functions' rights, the API description and
 * the tests come from. An endpoint `doThing` of area `things` is served by `functions/things/do-thing.ts`.
 */
import * as v from 'valibot';
import { phoneOf } from './contacts.ts';
import { states } from './logs.ts';
import type { Permission } from './permissions.ts';
import type { ProblemCode } from './problems.ts';
import type { AccessPatternName } from './table/keys.ts';
import { atMost, calendarDay, lowerCased, phoneNumber, uuid, visibleText, wholeNumber } from './text.ts';

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
  query?: v.GenericSchema;
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

const idempotencyKey = v.object({ 'idempotency-key': v.optional(v.pipe(visibleText, atMost(255))) });

/** Characters of a message, and of a quick reply. */
const MAX_TEXT = 4_096;
const MAX_QUICK_REPLIES = 10;
/** Events of the app network in one request. */
const MAX_EVENTS = 100;
/** Days from the first to the last of a period. */
const MAX_PERIOD = 366;
/** The last second of the year 9999. */
const END_OF_TIME = 253_402_300_799;

const address = v.pipe(visibleText, atMost(2_048));

const content = v.variant('type', [
  v.object({ type: v.literal('text'), text: v.object({ body: v.pipe(visibleText, atMost(MAX_TEXT)) }) }),
  v.object({ type: v.literal('image'), image: v.object({ url: address }) }),
  v.object({ type: v.literal('file'), file: v.object({ url: address }) }),
]);

/** How the table's log entries are written: by every function that lets a message reach a state. */
const reachingState = ['putLogEntry', 'putEntry', 'updateHead'] as const;

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

  sendMessage: define({
    area: 'messages',
    summary: 'Send a message to a user of the app.',
    routes: [
      { host: 'base', method: 'POST', path: '/v1/message' },
      { host: 'bridge', method: 'POST', path: '/v1/message' },
    ],
    token: 'header',
    permission: 'messages',
    query: v.object({ job_id: v.optional(uuid) }),
    headers: idempotencyKey,
    body: {
      type: 'json',
      schema: v.intersect([
        v.object({
          to: phoneNumber,
          recipient_type: v.optional(v.literal('individual')),
          quick_replies: v.optional(
            v.pipe(
              v.array(v.pipe(visibleText, atMost(MAX_TEXT))),
              v.maxLength(MAX_QUICK_REPLIES, `must hold at most ${MAX_QUICK_REPLIES} quick replies`),
            ),
          ),
        }),
        content,
      ]),
    },
    responses: { 200: v.object({ id: v.string() }) },
    problems: ['idempotency_key_reused'],
    table: ['findAccount', 'findMessage', ...reachingState],
  }),

  takeAppEvents: define({
    area: 'app',
    summary: 'Take events of the app network: one, or an array of them.',
    routes: [{ host: 'bridge', method: 'POST', path: '/v1/app/events' }],
    token: 'header',
    permission: 'app',
    body: {
      type: 'json',
      // Events are checked one by one: a bad one does not hold up the others.
      schema: v.pipe(
        v.union([v.array(v.unknown()), v.record(v.string(), v.unknown())], 'must be an event, or an array of events'),
        v.check(
          (events) => !Array.isArray(events) || events.length <= MAX_EVENTS,
          `must hold at most ${MAX_EVENTS} events`,
        ),
      ),
    },
    responses: { 204: null },
    problems: ['events_refused'],
    table: ['findBot', 'findAccount', 'findMessage', 'putEventReceipt', 'updateUser', 'removeUser', ...reachingState],
  }),

  listLogs: define({
    area: 'stats',
    summary: 'List the delivery logs of your messages, newest first.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/stats/logs' }],
    token: 'header',
    permission: 'stats',
    query: v.object({
      limit: v.optional(wholeNumber(1, 1_000), '100'),
      contact: v.optional(
        v.pipe(
          v.string(),
          v.check(
            (contact) => phoneOf(contact) !== undefined,
            'must be a contact as the logs show it, or its phone number',
          ),
        ),
      ),
      state: v.optional(v.picklist(states)),
      job_id: v.optional(uuid),
      start: v.optional(wholeNumber(0, END_OF_TIME)),
      end: v.optional(wholeNumber(0, END_OF_TIME)),
      cursor: v.optional(v.string()),
    }),
    responses: {
      200: v.array(v.object({ created: v.string(), contact: v.string(), state: v.string(), job_id: v.string() })),
      204: null,
    },
    problems: [],
    table: ['listLogsByState', 'listLogsOfContact', 'listLogsOfJob'],
  }),

  listJobs: define({
    area: 'stats',
    summary: 'Count the messages of your jobs by the state that they reached in a period.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/stats/jobs' }],
    token: 'header',
    permission: 'stats',
    query: v.pipe(
      v.object({ start_date: calendarDay, end_date: calendarDay }),
      v.forward(
        v.partialCheck(
          [['start_date'], ['end_date']],
          ({ start_date, end_date }) => {
            if (!v.is(calendarDay, start_date) || !v.is(calendarDay, end_date)) return true;
            const days = (Date.parse(end_date) - Date.parse(start_date)) / 86_400_000;
            return days >= 0 && days <= MAX_PERIOD;
          },
          `must not be before start_date, nor more than ${MAX_PERIOD} days after it`,
        ),
        ['end_date'],
      ),
    ),
    responses: {
      200: v.array(v.object({ job_id: v.string(), state: v.string(), payload_type: v.string(), count: v.number() })),
      204: null,
    },
    problems: ['period_too_large'],
    table: ['listJobs'],
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
