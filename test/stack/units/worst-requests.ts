/**
 * The most expensive requests of each endpoint that its schema and its limits allow, and what they need in the table.
 *
 * Where the table would need gigabytes, a part of it is there: `whole` then works out what the whole costs. Costs are linear in
 * the number of items and bytes, except for rounding: DynamoDB rounds up once for an item that is read by its key, and once for
 * each page of a query.
 */
import { randomInt, randomUUID } from 'node:crypto';
import { vi } from 'vitest';
import { createAccount, updateAccount } from '../../../infra/operator/queries/accounts-admin.ts';
import { setAvatar } from '../../../shared/accounts/avatar.ts';
import { accountTokenKey } from '../../../shared/accounts/entities.ts';
import type { EndpointName } from '../../../shared/api/index.ts';
import { chunksOfBatch } from '../../../shared/campaigns/chunks.ts';
import { batchKey, chunkKey } from '../../../shared/campaigns/entities.ts';
import { messageIdAt, newBatchId } from '../../../shared/campaigns/ids.ts';
import { now, secondsFromNow, sortableTime, timestamp, timestampOf } from '../../../shared/core/clock.ts';
import { hashOf } from '../../../shared/core/idempotency.ts';
import { newId, newUnguessableId } from '../../../shared/core/ids.ts';
import { attemptIdOf } from '../../../shared/delivery/entities.ts';
import { encodeClaim } from '../../../shared/delivery/listeners/claims.ts';
import { repeatsKey, statusReceiptKey } from '../../../shared/messaging/entities.ts';
import { openJob } from '../../../shared/messaging/jobs/job.ts';
import { sendFromPlatform } from '../../../shared/messaging/platform-messages.ts';
import { receiveMessage } from '../../../shared/messaging/receive.ts';
import { conversationName, headKey, named, offeredTo } from '../../../shared/outbox/entities.ts';
import { oldestEntries } from '../../../shared/outbox/entries.ts';
import type { Conversation } from '../../../shared/outbox/event.ts';
import { claimOffer, offer, readHead, scheduleRetry } from '../../../shared/outbox/head.ts';
import { logItem, states } from '../../../shared/outbox/message.ts';
import { answerKey, profilerKey, resultKey } from '../../../shared/profilers/entities.ts';
import { createProfiler } from '../../../shared/profilers/profilers.ts';
import { jobCounterKey } from '../../../shared/stats/entities.ts';
import { put, putAll } from '../../../shared/table/client.ts';
import { ofPerson } from '../../../shared/table/keys.ts';
import { answerRequest } from '../../../shared/user-data/request-answers.ts';
import { startRequest } from '../../../shared/user-data/requests.ts';
import { isAutomatic, propertyNames } from '../../../shared/users/profile-properties.ts';
import { updateUser } from '../../../shared/users/users.ts';
import { lifetime } from '../../support/lifetime.ts';
import type { Request } from '../failing-calls/scenario.ts';
import type { Units } from '../support/consumed.ts';
import { failedAttempt } from '../support/failed-attempt.ts';
import { fileOf, png } from '../support/files.ts';
import { reportState } from '../support/states.ts';
import { newAccountId, newMedia, newPhone, newPhones } from '../support/world.ts';

export interface Worst {
  /** Puts into the table what the request needs. */
  prepare: () => Promise<Request>;
  /** The statuses of its response; default: 200 and 204. */
  status?: number;
  /** Parts that make it larger than the limits allow: the response is 422. So no limit is raised without this request. */
  beyond?: (request: Request) => Partial<Request>;
  /** The cost of the whole request, by what the measured one costs. */
  whole?: (measured: Units) => Units;
  /** A smaller request of the same kind: what workers do because of it is measured, and so many times that is the whole. */
  later?: { prepare: () => Promise<Request & { phones: string[] }>; times: number };
}

const FLOWER = '\u{1F33B}';
/** A text of so many characters of four bytes: no character has more. */
const longest = (characters: number, first = ''): string => `${first}${FLOWER.repeat(characters - [...first].length)}`;

const MAX_TEXT = 4_096;
const MAX_RECEIVED = 65_536;
/** The longest text of a user, which is hardly compressible. */
const NOISE = Array.from({ length: MAX_RECEIVED }, () => String.fromCodePoint(randomInt(0x10000, 0x20000))).join('');
const MAX_EVENTS = 100;
const DAY_MS = 86_400_000;
/** One more than are accepted at once: they are expanded later, as 10,000 are. */
const RECIPIENTS = 26;

const key = { 'idempotency-key': 'k'.repeat(255) };

/** A message with the longest content. */
const content = () => ({
  type: 'text' as const,
  text: { body: longest(MAX_TEXT) },
  quick_replies: Array.from({ length: 10 }, (_, place) => longest(MAX_TEXT / 10, `${place}`)),
});

/** The server that receives deliveries. */
export const destination = { url: '' };

const scaled =
  (by: number) =>
  ({ read, write }: Units): Units => ({ read: read * by, write: write * by });

const secret = `whsec_${Buffer.alloc(32).toString('base64')}`;

/** A new account with a bot and a webhook. */
const newBusiness = async (url = 'https://example.com/') => {
  const settings = { url, secret };
  const bot = newPhone();
  // The longest id and name.
  const id = newAccountId().padEnd(40, '0');
  const { id: account } = await createAccount({ name: longest(100, 'A'), id, bot_number: bot });
  await updateAccount(account, { platform: { name: 'webhook', settings } });
  return { account, bot };
};

/** A user with the longest value of each property. */
const newUser = async (panelist = false): Promise<string> => {
  const phone = newPhone();
  await updateUser(randomUUID(), { phone_number: phone, id: randomUUID(), panelist, properties: longestProfile() });
  return phone;
};

const longestProfile = () =>
  Object.fromEntries(propertyNames.map((name) => [name, { value: longest(1_000), source: longest(255) }]));

const MAX_STORED = 349_900;

/** A profiler as large as may be stored: with a long question, or as many options as possible. */
const newProfiler = async (account: string, most: 'text' | 'options' = 'text') => {
  const options =
    most === 'text' ? ['yes', 'no'] : Array.from({ length: 6_500 }, (_, place) => place.toString(36).padStart(3, '0'));
  const used = most === 'text' ? 120 : 6_500 * 53;
  return createProfiler(account, { question: 'x'.repeat(Math.max(MAX_STORED - used, 1)), options });
};

/** Answers to a profiler, of so many panelists. */
const putAnswers = (profiler: string, option_id: string, count: number): Promise<void> =>
  putAll(
    Array.from({ length: count }, (_, place) => {
      const phone = `27820${String(place).padStart(10, '0')}`;
      const created = timestamp();
      const counted = { counted: true, counted_in: 15 };
      return { ...answerKey(profiler, phone), option_id, created, ...counted, ...ofPerson(phone, created) };
    }),
  );

/** Counters of a profiler's options, with all shards. */
const putResults = (profiler: string, options: { id: string }[]): Promise<void> =>
  putAll(
    options.flatMap(({ id }) =>
      Array.from({ length: 16 }, (_, shard) => ({ ...resultKey(profiler, id, shard), count: 0 })),
    ),
  );

/** A request for all properties, with the longest reasons, of a user with the longest profile. */
const asking = () => ({
  reason: longest(1_000),
  data: propertyNames.map((property) => ({ property, reason: longest(1_000), required: true })),
  valid_days: 1,
});

/** A request of which the user has approved all properties but one. */
const newRequest = async (account: string, isComplete = false) => {
  const phone = await newUser();
  const { id } = await startRequest(account, phone, asking(), undefined);
  const asked = propertyNames.filter((name) => !isAutomatic(name));
  await answerRequest(id, Object.fromEntries(asked.slice(isComplete ? 0 : 1).map((name) => [name, 'approved'])));
  return { id, phone };
};

const upload = async (): Promise<Pick<Request, 'headers' | 'body'>> => {
  const form = new FormData();
  form.set('file', fileOf(png));
  const encoded = new Response(form);
  const headers = { 'content-type': encoded.headers.get('content-type') ?? '' };
  return { headers, body: Buffer.from(await encoded.arrayBuffer()) };
};

const received = (from: string, to: string) => ({
  from,
  to,
  type: 'text' as const,
  text: { body: NOISE },
});

/** Pending messages of a user to a business. */
const receive = async ({ bot }: { bot: string }, phone: string, count: number): Promise<void> => {
  for (let place = 0; place < count; place += 1) await receiveMessage(randomUUID(), received(phone, bot));
};

/** The last attempts of events of a user, as large as may be. */
const putAttempts = async (account: string, phone: string, count: number) => {
  const conversation: Conversation = { direction: 'platform', account, phone };
  const items = Array.from({ length: count }, () => failedAttempt(conversation, newId(), NOISE));
  for (const item of items) await put(item);
  return items;
};

/** Heads of conversations that listeners may claim, without an entry: `claimDeliveries` hands them back. */
const putOffers = (account: string, count: number): Promise<void> =>
  putAll(
    newPhones(count).map((phone) => ({
      ...headKey(conversationName({ direction: 'platform', account, phone })),
      ...{ phone, generation: 1, newest: newId(), created: timestamp() },
      ...{ gsi1pk: 'DUE#conversations#0', gsi1sk: `${account}#${sortableTime(now() + DAY_MS)}` },
      ...{ gsi3pk: offeredTo(account), gsi3sk: sortableTime(now() - 1_000) },
    })),
  );

/** A conversation with so many of the longest messages, which is offered to listeners. */
const newOffer = async ({ account, bot }: { account: string; bot: string }, entries: number): Promise<Conversation> => {
  const conversation: Conversation = { direction: 'platform', account, phone: newPhone() };
  await receive({ bot }, conversation.phone, entries);
  const head = await readHead(conversation);
  if (head !== undefined) await offer(head, now() + DAY_MS);
  return conversation;
};

/** A business whose events listeners may claim. */
const newListener = async () => {
  const business = await newBusiness();
  await updateAccount(business.account, {
    platform: { name: 'webhook', settings: { secret }, listening: timestamp() },
  });
  return business;
};

/** Reads of a long poll: at most so many within 28 s. All but two are eventually consistent. */
const POLLS = 41;

const ofAccount = async (): Promise<Request> => ({ account: (await newBusiness()).account });

export const worst: Record<EndpointName, [Worst, ...Worst[]]> = {
  readApiDescription: [{ prepare: ofAccount }],

  createProfiler: [
    {
      prepare: async () => {
        const { account } = await newBusiness();
        return { account, headers: key, body: { question: 'x'.repeat(MAX_STORED - 120), options: ['yes', 'no'] } };
      },
      beyond: () => ({ body: { question: 'x'.repeat(MAX_STORED + 120), options: ['yes', 'no'] } }),
    },
  ],
  listProfilers: [
    {
      // More than eight pages of 1 MB of deleted ones: a list of others ends when the response is full.
      prepare: async () => {
        const { account } = await newBusiness();
        for (let place = 0; place < 26; place += 1)
          await put({ ...profilerKey(account, newId()), deleted_at: timestamp(), options: 'x'.repeat(340_000) });
        return { account };
      },
    },
  ],
  readProfiler: [
    {
      prepare: async () => {
        const { account } = await newBusiness();
        return { account, path: { id: (await newProfiler(account)).id } };
      },
    },
  ],
  deleteProfiler: [
    {
      prepare: async () => {
        const { account } = await newBusiness();
        return { account, path: { id: (await newProfiler(account)).id } };
      },
    },
  ],
  answerProfiler: [
    {
      prepare: async () => {
        const { account } = await newBusiness();
        const { id, options } = await newProfiler(account);
        const phone_number = await newUser();
        return { account, body: { profiler_id: id, option_id: options[0]?.id, phone_number } };
      },
      status: 422,
    },
    {
      prepare: async () => {
        const { account } = await newBusiness();
        const { id, options } = await newProfiler(account);
        const phone_number = await newUser(true);
        return { account, body: { profiler_id: id, option_id: options[0]?.id, phone_number } };
      },
    },
  ],
  answerProfilers: [
    {
      // One in 50 of 500 answers: each to another profiler, and of a user with the longest profile who is not a panelist.
      prepare: async () => {
        const { account } = await newBusiness();
        const answers = [];
        for (let place = 0; place < 10; place += 1) {
          const { id, options } = await createProfiler(account, { question: '?', options: ['yes', 'no'] });
          answers.push({ profiler_id: id, option_id: options[0]?.id, phone_number: await newUser() });
        }
        return { account, body: answers };
      },
      beyond: () => ({ body: Array.from({ length: 501 }, () => ({})) }),
      whole: ({ read, write }) => ({ read: 1 + (read - 1) * 50, write }),
    },
    {
      prepare: async () => {
        const { account } = await newBusiness();
        const answers = [];
        for (let place = 0; place < 10; place += 1) {
          const { id, options } = await createProfiler(account, { question: '?', options: ['yes', 'no'] });
          answers.push({ profiler_id: id, option_id: options[0]?.id, phone_number: await newUser(true) });
        }
        return { account, body: answers };
      },
      whole: scaled(50),
    },
  ],
  countAudience: [
    {
      // One in 500 of 200,000 answers, and of the counters of five profilers with 6,700 options.
      prepare: async () => {
        const { account } = await newBusiness();
        const { id, options } = await createProfiler(account, {
          question: '?',
          options: Array.from({ length: 67 }, (_, option) => `${option}`),
        });
        await putResults(id, options);
        await putAnswers(id, options[0]?.id ?? '', 400);
        const others = [];
        for (let place = 0; place < 4; place += 1)
          others.push(await createProfiler(account, { question: '?', options: ['yes', 'no'] }));
        const all = [id, ...others.map((other) => other.id)].map((profiler_id) => ({
          profiler_id,
          option_ids: [] as string[],
        }));
        all[0]?.option_ids.push(...options.map((option) => option.id));
        for (const [place, other] of others.entries()) all[place + 1]?.option_ids.push(other.options[0]?.id ?? '');
        return { account, body: { all } };
      },
      beyond: ({ body }) => {
        const { all } = body as { all: object[] };
        return { body: { all: [...all, { profiler_id: randomUUID(), option_ids: ['x'] }] } };
      },
      // The profilers are read once, with an empty page of counters for four; and the allowance is charged once.
      whole: ({ read, write }) => ({ read: 5 + (read - 5 - 4 * 0.5) * 500, write }),
    },
  ],
  listAnswers: [
    {
      prepare: async () => {
        const { account } = await newBusiness();
        const { id, options } = await newProfiler(account);
        await putAnswers(id, options[0]?.id ?? '', 1_000);
        return { account, path: { id }, query: { limit: '1000' } };
      },
      beyond: () => ({ query: { limit: '1001' } }),
    },
  ],
  readResults: [
    {
      // The counters of a hundredth of the options.
      prepare: async () => {
        const { account } = await newBusiness();
        const { id, options } = await newProfiler(account, 'options');
        await putResults(id, options.slice(0, 67));
        return { account, path: { id } };
      },
      whole: ({ read, write }) => ({ read: 86 + (read - 86) * 100, write }),
    },
  ],

  sendMessage: [
    {
      // As many as are accepted at once: 25 users, and less than 1 MB.
      prepare: async () => {
        const { account } = await newBusiness();
        const body = { ...content(), to: newPhones(25), valid_for: 60 };
        return { account, headers: key, query: { job_id: randomUUID() }, body };
      },
      beyond: ({ body }) => ({ body: { ...(body as object), text: { body: longest(MAX_TEXT + 1) } } }),
    },
    {
      prepare: async () => {
        const { account } = await newBusiness();
        const url = `https://bridge.example.com/media/${await newMedia(account)}`;
        const body = { ...content(), type: 'image', image: { url }, to: newPhones(10_000), valid_for: 60 };
        return { account, headers: key, query: { job_id: randomUUID() }, body };
      },
      beyond: ({ body }) => ({ body: { ...(body as object), to: newPhones(10_001) } }),
      later: {
        prepare: async () => {
          const { account } = await newBusiness(destination.url);
          const phones = newPhones(RECIPIENTS);
          return {
            account,
            phones,
            query: { job_id: randomUUID() },
            body: { ...content(), to: phones, valid_for: 60 },
          };
        },
        times: 10_000 / RECIPIENTS,
      },
    },
  ],
  sendMessages: [
    {
      // A body has at most 6 MB: 170 of the longest messages.
      prepare: async () => {
        const { account } = await newBusiness();
        const body = newPhones(170).map((to) => ({ ...content(), to, valid_for: 60 }));
        return { account, headers: key, query: { job_id: randomUUID() }, body };
      },
      beyond: () => ({ body: newPhones(1_001).map((to) => ({ to, type: 'text', text: { body: 'Hi' } })) }),
      // 1,000 messages of a body of 6 MB have 6 KB each.
      later: {
        prepare: async () => {
          const { account } = await newBusiness(destination.url);
          const phones = newPhones(RECIPIENTS);
          const text = { body: longest(1_450) };
          const body = phones.map((to) => ({ to, type: 'text', text, valid_for: 60 }));
          return { account, phones, query: { job_id: randomUUID() }, body };
        },
        times: 1_000 / RECIPIENTS,
      },
    },
    {
      // A tenth of 1,000 messages with files of their own.
      prepare: async () => {
        const { account } = await newBusiness();
        const body = [];
        for (const to of newPhones(100)) {
          const url = `https://bridge.example.com/media/${await newMedia(account)}`;
          body.push({ to, type: 'file', file: { url } });
        }
        return { account, headers: key, query: { job_id: randomUUID() }, body };
      },
      whole: scaled(10),
    },
  ],
  readMessage: [
    {
      // A scheduled message of a full chunk.
      prepare: async () => {
        const { account } = await newBusiness();
        const batch = newBatchId();
        const upload_id = newUnguessableId();
        const messages = newPhones(8).map((to) => ({ to, content: content() }));
        const [chunk] = chunksOfBatch(messages);
        if (chunk === undefined) throw new Error('There is no chunk.');
        await put({ ...chunkKey(upload_id, 0), account, created: timestamp(), ...chunk });
        await put({
          ...batchKey(account, batch),
          ...{ id: batch, account, job_id: randomUUID(), priority: 'low', content: content(), recipients: 8 },
          ...{ upload: upload_id, chunks: [0], created: timestamp(), due: sortableTime(now() + DAY_MS) },
        });
        return { account, path: { id: messageIdAt(batch, 0) } };
      },
    },
  ],
  uploadImage: [{ prepare: async () => ({ ...(await ofAccount()), ...(await upload()) }) }],
  uploadFile: [{ prepare: async () => ({ ...(await ofAccount()), ...(await upload()) }) }],
  // Unknown media are read twice.
  readMedia: [
    {
      prepare: async () => ({ ...(await ofAccount()), route: 'GET /media/{id}', path: { id: newUnguessableId() } }),
      status: 404,
    },
  ],

  receiveRapidproMessage: [
    {
      // A Resend of a message whose record of repeats is as large as an item may be, after many reported failures.
      prepare: async () => {
        const { account } = await newBusiness();
        await updateAccount(account, {
          platform: { name: 'rapidpro', settings: { url: 'https://example.com/' } },
        });
        const id = '4'.repeat(255);
        const to = newPhone();
        const replies = content().quick_replies;
        const sent = { to, type: 'text' as const, text: { body: longest(MAX_TEXT) }, quick_replies: replies };
        await reportState(await sendFromPlatform(account, 'rapidpro', { reference: id, ...sent }), 'delivery_failed');
        const contents = Object.fromEntries(
          Array.from({ length: 6_200 }, (_, place) => [
            hashOf({ place }),
            { copies: [0], requests: 2, last: Date.now() },
          ]),
        );
        await put({ ...repeatsKey(account, id), generation: 0, last: 0, replaced: [], contents, version: 1 });
        await putAll(
          Array.from({ length: 800 }, (_, place) => ({
            ...statusReceiptKey(account, id, place, 'failed'),
            ...{ generation: place, began: Date.now(), reported: Date.now() },
          })),
        );
        const form = new URLSearchParams({ id, to_no_plus: to, text: longest(MAX_TEXT) });
        for (const reply of replies) form.append('quick_reply', reply);
        return {
          account,
          route: 'POST /v1/webhook/rapidpro/',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: form.toString(),
        };
      },
      beyond: ({ body }) => ({ body: `${body}&quick_reply=x` }),
    },
  ],
  receiveTurnMessage: [
    {
      prepare: async () => {
        const { account } = await newBusiness();
        const body = { to: newPhone(), content: longest(MAX_TEXT) };
        return { account, path: { encoded_token: 'token' }, body };
      },
      beyond: ({ body }) => ({ body: { ...(body as object), content: longest(MAX_TEXT + 1) } }),
    },
  ],
  receiveTestMessage: [
    {
      prepare: async () => {
        const { account, bot } = await newBusiness();
        const { from, type, text } = received(newPhone(), bot);
        return { account, path: { bot_phone_number: bot }, body: { message: { from, type, text } } };
      },
      beyond: () => ({
        body: { message: { from: newPhone(), type: 'text', text: { body: longest(MAX_RECEIVED + 1) } } },
      }),
    },
  ],

  receiveAppEvents: [
    {
      // One in 25 of 100 withdrawals, each of another request, which denies a property and ends the consent to all others.
      prepare: async () => {
        const { account } = await newBusiness();
        const events = [];
        for (let place = 0; place < MAX_EVENTS / 25; place += 1) {
          const { id } = await newRequest(account);
          events.push({ id: randomUUID(), type: 'user_data.withdrawn', data: { id, properties: propertyNames } });
        }
        return { account: 'app-network', body: events };
      },
      beyond: () => ({ body: Array.from({ length: MAX_EVENTS + 1 }, () => ({})) }),
      whole: scaled(25),
    },
  ],
  startUserDataRequest: [
    {
      prepare: async () => {
        const { account } = await newBusiness();
        return { account, path: { phone_number: await newUser() }, headers: key, body: asking() };
      },
      beyond: ({ body }) => ({ body: { ...(body as object), reason: longest(1_001) } }),
    },
  ],
  fetchUserData: [
    {
      // One read of a request that stays pending.
      prepare: async () => {
        const { account } = await newBusiness();
        return { account, path: { id: (await newRequest(account)).id } };
      },
      // Its slot is one of the account, found after ten attempts at most, and one of three groups.
      whole: ({ read, write }) => ({ read: 2 * read + ((POLLS - 2) * read) / 2, write: write + 42 }),
    },
  ],
  retrieveUserData: [
    {
      prepare: async () => {
        const { account } = await newBusiness();
        const data = propertyNames.filter(isAutomatic).map((property) => ({ property }));
        return { account, path: { id: await newUser() }, body: { data } };
      },
    },
  ],
  acknowledgeDeletion: [
    {
      // The consent has expired, and `erase` has not ended it yet.
      prepare: async () => {
        const { account } = await newBusiness();
        const { id } = await newRequest(account, true);
        vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * DAY_MS });
        return { account, path: { request_id: id } };
      },
    },
  ],
  matchContacts: [
    {
      prepare: async () => ({ ...(await ofAccount()), body: { contacts: newPhones(3_000) } }),
      beyond: () => ({ body: { contacts: newPhones(3_001) } }),
    },
  ],
  readUser: [
    {
      prepare: async () => {
        const [phone, id] = [newPhone(), randomUUID()];
        await updateUser(randomUUID(), { phone_number: phone, id, properties: longestProfile() });
        return { ...(await ofAccount()), path: { user: id } };
      },
    },
  ],

  readTokenInfo: [
    {
      prepare: async () => {
        const { account } = await newBusiness();
        await put({
          ...accountTokenKey(account, 'token-1'),
          ...{ label: 'x', permissions: ['bridge'], created: timestamp() },
        });
        return { account };
      },
    },
  ],
  readConfiguration: [
    {
      // One of 50 conversations whose entries fill a page of 1 MB.
      prepare: async () => {
        const business = await newBusiness();
        const { account } = business;
        const conversation: Conversation = { direction: 'platform', account, phone: newPhone() };
        await receive(business, conversation.phone, 6);
        const head = await readHead(conversation);
        const why = { until: now() + DAY_MS, since: timestamp(), failed: 'x', cause: 'status_500', attempts: 1 };
        if (head !== undefined) await scheduleRetry(head, why);
        return { account };
      },
      whole: scaled(50),
    },
  ],
  updateAccount: [
    {
      prepare: async () => {
        vi.stubEnv('APPROVE_NAMES', 'false');
        return { ...(await ofAccount()), body: { name: longest(100, 'B') } };
      },
      beyond: () => ({ body: { name: longest(101, 'B') } }),
    },
  ],
  setAvatar: [
    {
      prepare: async () => {
        const { account } = await newBusiness();
        await setAvatar(account, fileOf(new Uint8Array([...png, 1])));
        return { account, ...(await upload()) };
      },
    },
  ],
  readAvatar: [
    {
      prepare: async () => {
        const { account } = await newBusiness();
        await setAvatar(account, fileOf(png));
        return { account };
      },
    },
  ],

  listDeliveries: [
    {
      // One of 72 pages of 1 MB, and 31 empty ones.
      prepare: async () => {
        const { account } = await newBusiness();
        await putAttempts(account, newPhone(), 6);
        return { account, query: { limit: '500' } };
      },
      beyond: () => ({ query: { limit: '501' } }),
      whole: ({ read, write }) => ({ read: (read - 31 * 0.5) * 72, write }),
    },
  ],
  readDelivery: [
    {
      prepare: async () => {
        const { account } = await newBusiness();
        const [attempt] = await putAttempts(account, newPhone(), 1);
        return { account, path: { delivery_id: attempt ? attemptIdOf(attempt) : '' } };
      },
    },
  ],
  replayDelivery: [
    {
      // An event that has been replayed and has failed so often that its attempts fill a page of 1 MB.
      prepare: async () => {
        const { account } = await newBusiness();
        const conversation: Conversation = { direction: 'platform', account, phone: newPhone() };
        const event = newId();
        const attempts = [];
        const present = Date.now();
        for (let place = 0; place < 6; place += 1) {
          vi.useFakeTimers({ toFake: ['Date'], now: present - place });
          attempts.push(failedAttempt(conversation, event, NOISE));
        }
        vi.useRealTimers();
        for (const attempt of attempts) await put(attempt);
        const [last] = attempts;
        return { account, path: { delivery_id: last ? attemptIdOf(last) : '' } };
      },
    },
  ],
  recoverDeliveries: [
    {
      // A quarter of 5 MB of events, which are handled, after 34 pages of attempts that are not.
      prepare: async () => {
        const { account } = await newBusiness();
        await putAttempts(account, newPhone(), 5);
        return { account, body: { since: 0 } };
      },
      whole: ({ read, write }) => ({ read: read * 4 + 34 * 256, write: write * 4 }),
    },
  ],
  claimDeliveries: [
    {
      // One read of a long poll that claims the longest events.
      prepare: async () => {
        const business = await newListener();
        for (let place = 0; place < 20; place += 1) await newOffer(business, 1);
        return { account: business.account, query: { limit: '20' } };
      },
      beyond: () => ({ query: { limit: '21' } }),
      whole: ({ read, write }) => ({ read: read + (POLLS - 1) * (20 * 2 + 2), write: write + 42 }),
    },
    {
      // One read of a long poll that finds only events that no listener may receive.
      prepare: async () => {
        const { account } = await newListener();
        await putOffers(account, 20);
        return { account, query: { limit: '20' } };
      },
      whole: ({ read, write }) => ({ read: read * POLLS, write: write * POLLS + 42 }),
    },
  ],
  settleDelivery: [
    {
      prepare: async () => {
        const business = await newListener();
        const conversation = await newOffer(business, 2);
        const { direction, user } = named(conversation);
        const claimed = await claimOffer(named(conversation), newId());
        const [entry] = (await oldestEntries(conversation, 1)).entries;
        if (claimed === undefined || entry === undefined) throw new Error('There is no claim.');
        const claim = encodeClaim({ direction, user, entry: entry.id, id: claimed.claim });
        return { account: business.account, body: { claim, status_code: 200, response: 'x'.repeat(10_000) } };
      },
      beyond: ({ body }) => ({ body: { ...(body as object), response: 'x'.repeat(10_001) } }),
    },
  ],

  listLogs: [
    {
      // A third of a page of one of eight states, with the longest entries.
      prepare: async () => {
        const { account } = await newBusiness();
        const items = Array.from({ length: 334 }, () => {
          const phone = newPhone().padEnd(15, '0');
          const message = { id: newId(), account, phone, job_id: newId(), payload_type: 'image', ...lifetime };
          return { ...logItem(message, 'reception_failed_http', timestamp()), reason_code: 'bot_number_released' };
        });
        await putAll(items);
        return { account, query: { limit: '1000' } };
      },
      beyond: () => ({ query: { limit: '1001' } }),
      whole: ({ read, write }) => ({ read: (read - 7 * 0.5) * 3 * 8, write }),
    },
  ],
  listJobs: [
    {
      // A tenth of a page of 1 MB, of which a list reads at most 100.
      prepare: async () => {
        const { account } = await newBusiness();
        const day = timestampOf(Date.now()).slice(0, 10);
        await putAll(
          Array.from({ length: 660 }, () => ({
            ...jobCounterKey(account, {
              day,
              job_id: randomUUID(),
              payload_type: 'image',
              state: 'delivered_to_server',
            }),
            count: 1,
            expires_at: secondsFromNow(86_400),
          })),
        );
        return { account, query: { start_date: day, end_date: day } };
      },
      whole: ({ read, write }) => ({ read: read * 1_000, write }),
    },
  ],
  readJob: [
    {
      // The counters of one of 402 days: of each type and state, with all shards.
      prepare: async () => {
        const { account } = await newBusiness();
        const job_id = randomUUID();
        await openJob(account, job_id);
        const day = timestampOf(Date.now()).slice(0, 10);
        const kinds = [...states.map((state) => ({ state })), { state: 'sent', inBatch: true as const }];
        await putAll(
          ['text', 'image', 'file', ''].flatMap((payload_type) =>
            kinds.flatMap((kind) =>
              Array.from({ length: 16 }, (_, shard) => ({
                ...jobCounterKey(account, { day, job_id, payload_type, ...kind }, shard),
                count: kind.state === 'sent' ? 2 : 0,
                expires_at: secondsFromNow(86_400),
              })),
            ),
          ),
        );
        return { account, path: { job_id } };
      },
      whole: ({ read, write }) => ({ read: 7 + (read - 2.5) * 402, write }),
    },
  ],
  cancelJob: [
    {
      prepare: async () => {
        const { account } = await newBusiness();
        const job_id = randomUUID();
        await openJob(account, job_id);
        return { account, path: { job_id } };
      },
    },
  ],
};
