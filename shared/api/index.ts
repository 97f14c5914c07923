/**
 * The API, endpoint by endpoint: the one list that routes, validation, the functions' rights, the API description and
 * the tests come from. An endpoint `doThing` of area `things` is served by `functions/things/do-thing.ts`.
 */
import * as v from 'valibot';
import type { Permission } from '../core/permissions.ts';
import type { ProblemCode } from '../core/problems.ts';
import { personOf } from '../messaging/contacts.ts';
import { states } from '../messaging/message.ts';
import { rapidproMessage } from '../platforms/rapidpro.ts';
import type { AccessPatternName } from '../table/access-patterns.ts';
import { type PropertyName, propertyNames } from '../users/profile-properties.ts';
import { anyObject, listOf, responseList, responseObject, responseRecord, shownAs } from '../validation/bounded.ts';
import {
  atMost,
  calendarDay,
  idOfAnything,
  lowerCased,
  mediaUrl,
  messageText,
  phoneNumber,
  phoneNumberOrPlus,
  quickReplies,
  receivedText,
  uuid,
  visibleText,
  wholeNumber,
} from '../validation/schemas.ts';

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
  /** Seconds that its function may take, where it waits for something; else a few. */
  timeout?: number;
  /** Ways in which its function touches the table: its role allows these and no others. */
  table: readonly AccessPatternName[];
  /** What it does with the bucket of media. */
  bucket?: 'PutObject' | 'GetObject';
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

const storedProfiler = v.object({ question: v.string(), created_at: v.string(), options: responseList(option) });

const listedProfiler = v.object({ id: v.string(), ...storedProfiler.entries });

const idempotencyKey = v.object({ 'idempotency-key': v.optional(v.pipe(visibleText, atMost(255))) });

/** Events of the app network in one request. */
const MAX_EVENTS = 100;
const eventList = listOf(v.unknown(), { max: MAX_EVENTS, of: 'events' });
const oneEvent = v.union([anyObject], 'must be an event, or an array of events');
/** Days from the first to the last of a period. */
const MAX_PERIOD = 366;
/** The last second of the year 9999. */
const END_OF_TIME = 253_402_300_799;

const content = v.variant('type', [
  v.object({ type: v.literal('text'), text: v.object({ body: messageText }) }),
  v.object({ type: v.literal('image'), image: v.object({ url: mediaUrl }) }),
  v.object({ type: v.literal('file'), file: v.object({ url: mediaUrl }) }),
]);

/** A form with one file; other fields are ignored. */
const uploaded = v.object({
  file: v.pipe(
    v.unknown(),
    v.metadata({ type: 'string', format: 'binary' }),
    v.check((given) => !Array.isArray(given), 'must be there once: upload one file at a time'),
    v.check((given) => typeof given !== 'string', 'must be a file, with a file name: curl -F file=@picture.png'),
    v.file(),
    v.check((file) => file.size > 0, 'must not be empty'),
  ),
});

const upload = {
  area: 'media',
  token: 'header',
  permission: 'messages',
  body: { type: 'multipart', schema: uploaded },
  responses: { 200: v.object({ url: v.string(), expires_at: v.string() }) },
  problems: ['file_too_large', 'file_type_not_supported'],
  table: ['putMedia'],
  bucket: 'PutObject',
} as const;

const property = v.picklist(propertyNames);

/** Why a business asks. */
const explanation = v.pipe(visibleText, atMost(1_000));

/** Items of `data` that are looked at: every fault of so many is named. */
const MAX_ASKED = 1_000;

const named = v.object({ property: v.pipe(v.string(), v.maxLength(100)) });

/** What an item asks for, unless that is longer than any property's name. */
const nameIn = (item: unknown): string | undefined => (v.is(named, item) ? item.property : undefined);

/** What is asked for: each property once. */
const askedFor = <Item extends v.GenericSchema<unknown, { property: PropertyName }>>(item: Item) =>
  v.pipe(
    listOf(item, { min: 1, tooFew: 'must name at least one property', max: MAX_ASKED, of: 'properties' }),
    v.rawCheck(({ dataset, addIssue }) => {
      // Repetitions are looked for even where items have faults of their own, but not in what is no list or too long.
      const given: unknown = dataset.value;
      if (!Array.isArray(given) || given.length > MAX_ASKED) return;
      const seen = new Set<string>();
      for (const [key, one] of given.entries()) {
        const name = nameIn(one);
        if (name === undefined) continue;
        if (!seen.has(name)) {
          seen.add(name);
          continue;
        }
        const path = { type: 'array', origin: 'value', input: given, key, value: given[key] } as const;
        addIssue({ message: `names ${name} again`, path: [path] });
      }
    }),
  );

const requestStatus = v.picklist(['pending', 'completed']);

/** What became of a property. */
const result = v.variant('status', [
  v.object({ status: v.literal('approved'), source: v.string(), value: v.string(), timestamp: v.string() }),
  v.object({ status: v.picklist(['denied', 'unavailable']) }),
]);

const userData = v.object({ status: requestStatus, results: responseRecord(v.string(), result) });

const reachedState = v.pipe(v.string(), v.metadata({ enum: states }));

const logEntry = v.object({ created: v.string(), contact: v.string(), state: reachedState, job_id: v.string() });

const jobCount = v.object({
  job_id: v.string(),
  state: reachedState,
  payload_type: v.string(),
  count: v.pipe(v.number(), v.metadata({ type: 'integer' })),
});

/** The documents that have a name of their own in the API description. */
export const documents = {
  Option: option,
  Profiler: storedProfiler,
  ListedProfiler: listedProfiler,
  UserData: userData,
  UserDataResult: result,
  LogEntry: logEntry,
  JobCount: jobCount,
};

/** How the table's log entries are written: by every function that lets a message reach a state. */
const reachingState = ['putLogEntry', 'putEntry', 'updateHead'] as const;

export const api = {
  readApiDescription: define({
    area: 'description',
    summary: 'Read this description.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/openapi.json' }],
    token: 'none',
    permission: 'none',
    responses: { 200: responseObject({ openapi: v.string() }) },
    problems: [],
    table: [],
  }),

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
          listOf(visibleText, { max: MAX_OPTIONS, of: 'options' }),
          shownAs(
            { minItems: 2 },
            v.check<string[], string>(
              (options) => lowerCased(options).length > 1,
              'must hold at least two options that differ in more than case',
            ),
          ),
        ),
      }),
    },
    responses: { 200: v.object({ profiler_id: v.string(), options: responseRecord(v.string(), v.string()) }) },
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
    responses: { 200: responseList(listedProfiler) },
    problems: [],
    table: ['listProfilers'],
  }),

  readProfiler: define({
    area: 'profilers',
    summary: 'Read one of your profilers.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/research_profilers/{id}' }],
    token: 'header',
    permission: 'profilers',
    path: v.object({ id: idOfAnything }),
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
    path: v.object({ id: idOfAnything }),
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
      schema: v.object({
        profiler_id: v.pipe(visibleText, idOfAnything),
        option_id: v.pipe(visibleText, idOfAnything),
        phone_number: phoneNumber,
      }),
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
          quick_replies: v.optional(quickReplies),
        }),
        content,
      ]),
    },
    responses: { 200: v.object({ id: v.string() }) },
    problems: ['idempotency_key_reused'],
    table: ['findMedia', 'findAccount', 'findMessage', ...reachingState],
  }),

  uploadImage: define({
    ...upload,
    summary: 'Upload an image to send it.',
    routes: [{ host: 'base', method: 'POST', path: '/v1/upload_image' }],
  }),

  uploadFile: define({
    ...upload,
    summary: 'Upload a file to send it.',
    routes: [{ host: 'base', method: 'POST', path: '/v1/upload_file' }],
  }),

  readMedia: define({
    area: 'media',
    summary: 'Show an image or a file.',
    routes: [
      { host: 'bridge', method: 'GET', path: '/media/{id}' },
      { host: 'bridge', method: 'HEAD', path: '/media/{id}' },
    ],
    token: 'none',
    permission: 'none',
    path: v.object({ id: v.string() }),
    headers: v.object({ 'if-none-match': v.optional(v.string()) }),
    responses: { 200: v.instance(Uint8Array), 304: null },
    problems: ['media_not_found', 'media_expired'],
    table: ['findMedia'],
    bucket: 'GetObject',
  }),

  takeRapidproMessage: define({
    area: 'bridge',
    summary: 'Take a message, or a part of one, that a flow on RapidPro sends to a user.',
    routes: [
      { host: 'bridge', method: 'POST', path: '/v1/webhook/rapidpro' },
      { host: 'bridge', method: 'POST', path: '/v1/webhook/rapidpro/' },
    ],
    token: 'header',
    permission: 'bridge',
    body: { type: 'form', schema: rapidproMessage },
    responses: { 200: v.object({ message: v.literal('success'), id: v.optional(v.string()) }) },
    problems: [],
    table: ['findAccount', ...reachingState, 'findRepeats', 'updateRepeats', 'listStates', 'findHook'],
  }),

  takeTurnMessage: define({
    area: 'bridge',
    summary: 'Take a message that Turn sends to a user.',
    routes: [{ host: 'bridge', method: 'POST', path: '/v1/webhook/turn/{encoded_token}' }],
    token: 'path',
    permission: 'bridge',
    path: v.object({ encoded_token: v.string() }),
    headers: v.object({
      'x-turn-hook-signature': v.optional(v.string()),
      'x-turn-hook-subscription': v.optional(v.string()),
    }),
    // What is no message may have any form: `platforms/turn.ts` reads it.
    body: { type: 'json', schema: anyObject },
    responses: { 200: v.object({ messages: responseList(v.object({ id: v.string() })) }) },
    problems: ['signature_invalid'],
    table: ['findMedia', 'findHook', 'findAccount', ...reachingState],
  }),

  takeTestMessage: define({
    area: 'bridge',
    summary: 'Write to one of your bots as a user of the app would.',
    routes: [{ host: 'bridge', method: 'POST', path: '/webhook/{bot_phone_number}' }],
    token: 'header',
    permission: 'bridge',
    path: v.object({ bot_phone_number: v.string() }),
    body: {
      type: 'json',
      schema: v.object({
        message: v.object({
          type: v.literal('text'),
          from: phoneNumberOrPlus,
          text: v.object({ body: receivedText }),
        }),
      }),
    },
    responses: { 200: v.object({ message: v.literal('success') }) },
    problems: ['bot_not_found'],
    table: ['findBot', 'findAccount', ...reachingState],
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
      schema: v.lazy((input) => (Array.isArray(input) ? eventList : oneEvent)),
    },
    responses: { 204: null },
    problems: ['events_refused'],
    // A hundred events of one user are applied one after the other.
    timeout: 29,
    table: [
      'findBot',
      'findAccount',
      'findMessages',
      'putEventReceipt',
      'findEventReceipt',
      'putRemoval',
      'findRemoval',
      'checkRemoval',
      'findUser',
      'updateUser',
      'removeUser',
      'checkUser',
      'findRequests',
      'findRequest',
      'answerRequest',
      'putGrant',
      'beginErasure',
      ...reachingState,
    ],
  }),

  startUserDataRequest: define({
    area: 'user-data',
    summary: 'Ask a user for properties of the profile.',
    routes: [{ host: 'base', method: 'POST', path: '/v1/user_data/start/{phone_number}' }],
    token: 'header',
    permission: 'user_data',
    path: v.object({ phone_number: phoneNumber }),
    headers: idempotencyKey,
    body: {
      type: 'json',
      schema: v.object({
        reason: explanation,
        data: askedFor(
          v.object({ property, reason: v.optional(explanation), required: v.optional(v.boolean(), false) }),
        ),
      }),
    },
    responses: { 200: v.object({ requestId: v.string(), status: requestStatus }) },
    problems: ['user_not_found', 'idempotency_key_reused'],
    table: ['findUser', 'checkUser', 'findAccount', 'putRequest', 'findRequest', 'putGrant', 'putEntry', 'updateHead'],
  }),

  fetchUserData: define({
    area: 'user-data',
    summary: 'Fetch what a user granted, waiting for the answer if you like.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/user_data/fetch/{id}' }],
    token: 'header',
    permission: 'user_data',
    path: v.object({ id: idOfAnything }),
    query: v.object({ long_poll: v.optional(wholeNumber(0, 30), '0') }),
    responses: { 200: userData },
    problems: ['request_not_found'],
    // The gateway gives up after 30.
    timeout: 29,
    table: ['findRequest'],
  }),

  retrieveUserData: define({
    area: 'user-data',
    summary: 'Retrieve properties that are granted without asking the user.',
    routes: [{ host: 'base', method: 'POST', path: '/v1/user_data/fetch/{id}' }],
    token: 'header',
    permission: 'user_data',
    path: v.object({ id: phoneNumber }),
    body: { type: 'json', schema: v.object({ data: askedFor(v.object({ property })) }) },
    responses: { 200: userData },
    problems: ['approval_required', 'user_not_found'],
    table: ['findUser', 'putGrant'],
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
            (contact) => personOf(contact) !== undefined,
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
    responses: { 200: responseList(logEntry), 204: null },
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
    responses: { 200: responseList(jobCount), 204: null },
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
    ...(endpoint.routes.some(({ path }) => path.endsWith('/')) ? (['address_not_found'] as const) : []),
    ...endpoint.problems,
    'internal_error',
    'unavailable',
  ];
};
