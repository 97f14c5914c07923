/**
 * Examples of requests and responses. They form a sequence: later requests use ids of earlier responses. A test sends
 * them to the local stack in this order.
 */
import { type Example, example } from './example.ts';
import { deliveryExamples } from './parts/delivery-examples.ts';

/** Values that tests and the local documentation replace by those of their stack, account or day. */
export const placeholders = {
  user: '27821234567',
  bot: '27820000001',
  day: '2026-11-20',
  userId: '5b1f6c9e-7a43-4c0e-9f57-2f0d3c1e8a64',
  job: '019a9f5e-2c11-7d3a-9a51-6f0a7c3e8b10',
  encodedToken: 'dGhlLXRva2VuLWluLWJhc2U2NHVybA',
  media: 'https://bridge.example.com/media/5f0c2f6f2d8f4a1e9b7a3c4d5e6f7081',
  profiler: '019a9f5e-2c12-7c55-8d1e-0b6f3c2a9d41',
  tea: 'e219fd56-cfe6-868e-b6d1-3078df9e0000',
  coffee: 'e219fd56-cfe6-868e-b6d1-3078df9e0001',
  message: '019a9f5e-2c13-7a2b-b4c5-d6e7f8091a2b',
  request: '019a9f5e-2c14-7b3c-85d6-e7f8091a2b3c',
  formerName: 'Acme',
  name: 'Acme Research',
  delivery: '019a9f5e-2c16-7e5f-a7f8-091a2b3c4d5e-0a019a9f5e2c18',
  event: '019a9f5e-2c16-7e5f-a7f8-091a2b3c4d5e',
  offered: '019a9f5e-2c19-7182-9a3b-4c5d6e7f8091',
  claim:
    'cGxhdGZvcm0gMjc4MjEyMzQ1NjcgMDE5YTlmNWUtMmMxOS03MTgyLTlhM2ItNGM1ZDZlN2Y4MDkxIDAxOWE5ZjVlLTJjMWEtNzI5My1hYjRjLTVkNmU3ZjgwOTFhMg',
};

const { user, userId, bot, day, job, encodedToken, media } = placeholders;
const { profiler, tea, coffee, message, request, formerName, name, delivery, event, offered, claim } = placeholders;

const otherUser = '27827654321';
const time = '2026-11-20T09:58:09.118000';
const end = '2027-02-18T09:58:09.118000';
const device = { status: 'approved', value: 'android', source: 'device', timestamp: time, valid_until: end } as const;

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
          id: userId,
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
  example('answerProfilers', 'Two answers: a repeat, and one of a number that is not a panelist', {
    body: [
      { profiler_id: profiler, option_id: tea, phone_number: user },
      { profiler_id: profiler, option_id: coffee, phone_number: otherUser },
    ],
    answer: {
      results: [
        { status: 204 },
        {
          status: 422,
          code: 'panelist_not_found',
          detail: 'phone_number does not belong to a registered panelist.',
        },
      ],
    },
  }),
  example('listAnswers', 'Who chose what', {
    path: { id: profiler },
    answer: [{ phone_number: user, option_id: tea, option: 'tea', created: time }],
  }),
  example('readResults', 'How many chose each option', {
    path: { id: profiler },
    answer: {
      total: 1,
      options: [
        { id: tea, option: 'tea', count: 1 },
        { id: coffee, option: 'coffee', count: 0 },
      ],
    },
  }),
  example('countAudience', 'Fewer than ten panelists', {
    body: { all: [{ profiler_id: profiler, option_ids: [tea] }] },
    answer: { count: null, fewer_than: 10 },
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
  example('sendMessage', 'A text to many users', {
    query: { job_id: job },
    headers: { 'idempotency-key': 'invitation-7' },
    body: { to: [user, otherUser], priority: 'low', type: 'text', text: { body: 'A new survey is open.' } },
    answer: { job_id: job, messages: 2 },
  }),
  example('sendMessages', 'A text of its own for each user', {
    query: { job_id: job },
    body: [
      { to: user, type: 'text', text: { body: 'Good morning, Thandi!' } },
      { to: otherUser, type: 'text', text: { body: 'Good morning, Sipho!' } },
    ],
    answer: {
      job_id: job,
      messages: [
        { to: user, id: '019a9f5e-2c15-8d4e-96e7-f8091a2b0000' },
        { to: otherUser, id: '019a9f5e-2c15-8d4e-96e7-f8091a2b0001' },
      ],
    },
  }),
  example('readMessage', 'A message that the app network has accepted', {
    path: { id: message },
    answer: {
      id: message,
      contact: `${user}@users.example.com`,
      job_id: job,
      payload_type: 'text',
      states: [
        { state: 'sent', created: time },
        { state: 'delivered_to_server', created: '2026-11-20T09:58:09.412000' },
      ],
    },
  }),
  example('receiveAppEvents', 'The user has read a message', {
    body: [{ id: 'event-2', type: 'message.state', data: { id: message, state: 'read' } }],
  }),
  example('listLogs', 'Messages that were read', {
    query: { state: 'read', job_id: job, limit: '10' },
    answer: [
      {
        id: message,
        created: time,
        contact: `${user}@users.example.com`,
        state: 'read',
        job_id: job,
        payload_type: 'text',
      },
    ],
  }),
  example('listJobs', 'A day', {
    query: { start_date: day, end_date: day },
    answer: [{ job_id: job, state: 'read', payload_type: 'text', count: 1 }],
  }),
  example('readJob', 'A job of six messages', {
    path: { job_id: job },
    answer: {
      job_id: job,
      status: 'completed',
      created: time,
      start: time,
      recipients: 6,
      expanded: 6,
      pending: 0,
      states: { sent: 6, delivered_to_server: 6, read: 1 },
    },
  }),
  example('cancelJob', 'It takes no further messages', { path: { job_id: job } }),
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
      valid_days: 90,
    },
    answer: { requestId: request, status: 'pending' },
  }),
  example('fetchUserData', 'Not answered yet', { path: { id: request }, answer: { status: 'pending', results: {} } }),
  example('receiveAppEvents', 'The user approves in part', {
    body: [
      {
        id: 'event-3',
        type: 'user_data.answered',
        data: { id: request, answers: { first_name: 'approved', last_name: 'denied' } },
      },
    ],
  }),
  example('fetchUserData', 'The user has answered', {
    path: { id: request },
    query: { long_poll: '30' },
    answer: {
      status: 'completed',
      results: {
        first_name: { status: 'approved', value: 'Thandi', source: 'user', timestamp: time, valid_until: end },
        last_name: { status: 'denied' },
        device_platform: device,
      },
    },
  }),
  example('receiveAppEvents', 'The user withdraws the consent', {
    body: [{ id: 'event-8', type: 'user_data.withdrawn', data: { id: request, properties: ['first_name'] } }],
  }),
  example('fetchUserData', 'The user has withdrawn the consent', {
    path: { id: request },
    answer: {
      status: 'completed',
      results: {
        first_name: { status: 'withdrawn', timestamp: time },
        last_name: { status: 'denied' },
        device_platform: device,
      },
    },
  }),
  example('acknowledgeDeletion', 'The first name is deleted', { path: { request_id: request } }),
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
  example('readTokenInfo', 'A token that does not expire', {
    answer: {
      label: 'survey backend',
      account: 'acme-research',
      permissions: ['profilers', 'stats', 'user_data', 'messages', 'contacts', 'account', 'bridge'],
      created: time,
      expires: null,
    },
  }),
  example('updateAccount', 'Another name, which an operator approves', {
    body: { name },
    answer: { name: formerName, pending_name: name },
  }),
  example('setAvatar', 'A picture'),
  example('readAvatar', 'The picture'),
  example('readConfiguration', 'Without a chat platform', {
    answer: {
      configuration: {
        name: formerName,
        pending_name: name,
        bot_number: bot,
        avatar: 'https://bridge.example.com/media/0a1b2c3d4e5f60718293a4b5c6d7e8f9',
        platform: null,
        limits: { requests_per_second: 100, requests_at_once: 200, long_polls: 50 },
        allowances: {
          // Of an answer above: its number is not a panelist's.
          contacts: { limit: 100_000, used: 1, resets_at: '2026-11-21T00:00:00.000000' },
          audiences: { limit: 100, used: 1, resets_at: '2026-11-21T00:00:00.000000' },
        },
      },
    },
  }),
  ...deliveryExamples({ delivery, event, offered, claim, user, time }),
  example('matchContacts', 'One of two numbers is registered', {
    body: { contacts: [user, '27000000000'] },
    answer: { match_list: [user] },
  }),
  example('readUser', 'By the id in the app', {
    path: { user: userId },
    answer: {
      user_profile: {
        number: user,
        id: userId,
        contact: `${user}@users.example.com`,
        properties: { device_platform: { value: 'android', source: 'device', timestamp: time } },
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
  example('receiveAppEvents', 'A user stops a business, and starts it again', {
    body: [
      { id: 'event-5', type: 'user.stopped', data: { from: user, to: bot } },
      { id: 'event-6', type: 'user.started', data: { from: user, to: bot } },
    ],
  }),
  example('receiveAppEvents', 'A user leaves', {
    body: [{ id: 'event-7', type: 'user.removed', data: { phone_number: user } }],
  }),
];
