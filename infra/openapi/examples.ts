/**
 * Examples of requests and responses. They form a sequence: later requests use ids of earlier responses. A test sends
 * them to the local stack in this order.
 */
import type * as v from 'valibot';
import type { Api, EndpointName } from '../../shared/api/index.ts';

type Input<E, Part extends string> = E extends Record<Part, infer S extends v.GenericSchema> ? v.InferInput<S> : never;

type BodyOf<E> = E extends { body: { type: 'json' | 'form'; schema: infer S extends v.GenericSchema } }
  ? v.InferInput<S>
  : never;

type AnswerOf<E> = E extends { responses: { 200: infer S extends v.GenericSchema } }
  ? v.InferOutput<S> extends Uint8Array
    ? never
    : v.InferOutput<S>
  : never;

/** A request, and the body of its response; without `answer`, the response has no body, or bytes. */
export interface Example<Name extends EndpointName = EndpointName> {
  endpoint: Name;
  /** The summary of the example. */
  shows: string;
  path?: Input<Api[Name], 'path'>;
  query?: Input<Api[Name], 'query'>;
  headers?: Input<Api[Name], 'headers'>;
  /** Missing for forms with a file. */
  body?: BodyOf<Api[Name]>;
  answer?: AnswerOf<Api[Name]>;
}

const example = <const Name extends EndpointName>(
  endpoint: Name,
  shows: string,
  parts: Omit<Example<Name>, 'endpoint' | 'shows'> = {},
): Example => ({ endpoint, shows, ...parts }) as unknown as Example;

/** Values that tests and the local documentation replace by those of their stack, account or day. */
export const placeholders = {
  user: '27821234567',
  bot: '27820000001',
  day: '2026-11-20',
  job: '019a9f5e-2c11-7d3a-9a51-6f0a7c3e8b10',
  encodedToken: 'dGhlLXRva2VuLWluLWJhc2U2NHVybA',
  media: 'https://bridge.example.com/media/5f0c2f6f2d8f4a1e9b7a3c4d5e6f7081',
};

const { user, bot, day, job, encodedToken, media } = placeholders;

const profiler = '019a9f5e-2c12-7c55-8d1e-0b6f3c2a9d41';
const tea = '019a9f5e-2c12-7c55-8d1e-11d2a4b5c6d7';
const coffee = '019a9f5e-2c12-7c55-8d1e-2295b7e8f901';
const message = '019a9f5e-2c13-7a2b-b4c5-d6e7f8091a2b';
const request = '019a9f5e-2c14-7b3c-85d6-e7f8091a2b3c';
const time = '2026-11-20T09:58:09.118000';

const stored = {
  question: 'What do you drink in the morning?',
  created_at: time,
  options: [
    { id: tea, option: 'tea' },
    { id: coffee, option: 'coffee' },
  ],
};

export const examples: readonly Example[] = [
  example('receiveAppEvents', 'A user registers', {
    body: [
      {
        id: 'event-1',
        type: 'user.updated',
        data: {
          phone_number: user,
          panelist: true,
          properties: {
            first_name: { value: 'Thandi', source: 'user' },
            device_platform: { value: 'android', source: 'device' },
          },
        },
      },
    ],
  }),
  example('createProfiler', 'A question with two options', {
    headers: { 'idempotency-key': 'morning-drink' },
    body: { question: stored.question, options: ['Tea', 'Coffee'] },
    answer: { profiler_id: profiler, options: { tea, coffee } },
  }),
  example('listProfilers', 'One profiler', { answer: [{ id: profiler, ...stored }] }),
  example('readProfiler', 'A profiler', { path: { id: profiler }, answer: stored }),
  example('answerProfiler', "A panelist's answer", {
    body: { profiler_id: profiler, option_id: tea, phone_number: user },
  }),
  example('deleteProfiler', 'It is gone', { path: { id: profiler } }),
  example('uploadImage', 'A picture', { answer: { url: media, expires_at: '2026-12-20T09:58:09.118000' } }),
  example('readMedia', 'The picture', { path: { id: '5f0c2f6f2d8f4a1e9b7a3c4d5e6f7081' } }),
  example('uploadFile', 'A document', {
    answer: {
      url: 'https://bridge.example.com/media/8192a3b4c5d6e7f80918273645546372',
      expires_at: '2026-12-20T09:58:10.204000',
    },
  }),
  example('sendMessage', 'A text with quick replies', {
    query: { job_id: job },
    headers: { 'idempotency-key': 'welcome-1' },
    body: { to: user, type: 'text', text: { body: 'Good morning!' }, quick_replies: ['Hi', 'Stop'] },
    answer: { id: message },
  }),
  example('sendMessage', 'An image', {
    query: { job_id: job },
    body: { to: user, recipient_type: 'individual', type: 'image', image: { url: media } },
    answer: { id: '019a9f5e-2c15-7d4e-96e7-f8091a2b3c4d' },
  }),
  example('receiveAppEvents', 'The user has read a message', {
    body: [{ id: 'event-2', type: 'message.state', data: { id: message, state: 'read' } }],
  }),
  example('listLogs', 'Messages that were read', {
    query: { state: 'read', job_id: job, limit: '10' },
    answer: [{ created: time, contact: `${user}@users.example.com`, state: 'read', job_id: job }],
  }),
  example('listJobs', 'A day', {
    query: { start_date: day, end_date: day },
    answer: [{ job_id: job, state: 'read', payload_type: 'text', count: 1 }],
  }),
  example('startUserDataRequest', 'A property that needs approval, and one that does not', {
    path: { phone_number: user },
    headers: { 'idempotency-key': 'account-opening-1' },
    body: {
      reason: 'To open your account',
      data: [
        { property: 'first_name', reason: 'To greet you', required: true },
        { property: 'last_name' },
        { property: 'device_platform' },
      ],
    },
    answer: { requestId: request, status: 'pending' },
  }),
  example('fetchUserData', 'The user has not answered yet', {
    path: { id: request },
    answer: { status: 'pending', results: {} },
  }),
  example('receiveAppEvents', 'The user approves in part', {
    body: {
      id: 'event-3',
      type: 'user_data.answered',
      data: { id: request, answers: { first_name: 'approved', last_name: 'denied' } },
    },
  }),
  example('fetchUserData', 'The user has answered', {
    path: { id: request },
    query: { long_poll: '30' },
    answer: {
      status: 'completed',
      results: {
        first_name: { status: 'approved', value: 'Thandi', source: 'user', timestamp: time },
        last_name: { status: 'denied' },
        device_platform: { status: 'approved', value: 'android', source: 'device', timestamp: time },
      },
    },
  }),
  example('retrieveUserData', 'Granted without asking', {
    path: { id: user },
    body: { data: [{ property: 'device_platform' }, { property: 'app_version' }] },
    answer: {
      status: 'completed',
      results: {
        device_platform: { status: 'approved', value: 'android', source: 'device', timestamp: time },
        app_version: { status: 'unavailable' },
      },
    },
  }),
  example('receiveRapidproMessage', 'A text with quick replies', {
    body: { id: '21', text: 'Hello & welcome', to_no_plus: user, quick_reply: ['Yes', 'No & maybe'] },
    answer: { message: 'success', id: '019a9f5e-2c16-7e5f-a7f8-091a2b3c4d5e' },
  }),
  example('receiveTurnMessage', 'In the shape of the Channel API', {
    path: { encoded_token: encodedToken },
    body: { to: `+${user}`, content: 'Hello', turn: { type: 'text', text: { body: 'Hello' } }, context: null },
    answer: { messages: [{ id: '019a9f5e-2c17-7f60-b809-1a2b3c4d5e6f' }] },
  }),
  example('receiveTurnMessage', "In WhatsApp's shape", {
    path: { encoded_token: encodedToken },
    body: { to: user, recipient_type: 'individual', type: 'text', text: { body: 'Hello' } },
    answer: { messages: [{ id: '019a9f5e-2c18-7071-891a-2b3c4d5e6f70' }] },
  }),
  example('receiveTestMessage', 'As if the user wrote to the bot', {
    path: { bot_phone_number: bot },
    body: { message: { type: 'text', from: user, text: { body: 'hi' } } },
    answer: { message: 'success' },
  }),
  example('receiveAppEvents', 'The user writes to a bot', {
    body: [
      {
        id: 'event-4',
        type: 'message.received',
        data: { from: user, to: bot, type: 'text', text: { body: 'Hi' } },
      },
    ],
  }),
  example('receiveAppEvents', 'A user leaves', {
    body: [{ id: 'event-5', type: 'user.removed', data: { phone_number: user } }],
  }),
];
