/**
 * Erasure step by step, with a simulated clock: removed items, pseudonyms, and items of other users.
 *
 * @module-tag long
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createAccount, updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { messageHistory } from '../../../../infra/operator/queries/message-history.ts';
import { findUser } from '../../../../infra/operator/queries/users-admin.ts';
import { eraseFromBatches } from '../../../../shared/campaigns/erase-batches.ts';
import { timestamp } from '../../../../shared/core/clock.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { erasureKey, markedPartition } from '../../../../shared/messaging/entities.ts';
import { changeOptOut } from '../../../../shared/messaging/opt-outs/changes.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { logPartitions } from '../../../../shared/outbox/entities.ts';
import { oldestEntries } from '../../../../shared/outbox/entries.ts';
import { type Conversation, directions } from '../../../../shared/outbox/event.ts';
import { readHead } from '../../../../shared/outbox/head.ts';
import { logItem, states } from '../../../../shared/outbox/message.ts';
import { recordAnswer } from '../../../../shared/profilers/answers.ts';
import { createProfiler } from '../../../../shared/profilers/profilers.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { type Countable, countEntries, listJobs } from '../../../../shared/stats/job-counters.ts';
import { documents, getConsistent, page, putIfAbsent, remove } from '../../../../shared/table/client.ts';
import { listConsentReceipts } from '../../../../shared/user-data/consent-receipts.ts';
import { requestKey } from '../../../../shared/user-data/entities.ts';
import {
  dueErasures,
  type Erased,
  eraseUser,
  removeUser,
  resumeErasure,
} from '../../../../shared/user-data/erasure.ts';
import { answerRequest } from '../../../../shared/user-data/request-answers.ts';
import { fetchRequest, retrieve, startRequest } from '../../../../shared/user-data/requests.ts';
import { contactHash, contactKey, removalKey } from '../../../../shared/users/entities.ts';
import { updateUser } from '../../../../shared/users/users.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { lifetime } from '../../../support/lifetime.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { useOwnTable, useSecret } from '../../support/own-table.ts';
import { rejection } from '../../support/rejection.ts';
import { reportState, statesOf } from '../../support/states.ts';
import { wholeTable } from '../../support/whole-table.ts';
import { newAccountId, newPhone } from '../../support/world.ts';

const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const NOTHING: Erased = {
  ...{ answers: 0, requests: 0, waiting: 0, log_entries: 0 },
  ...{ receipts: 0, opt_outs: 0, deliveries: 0, consents: 0 },
};

let app: DestinationServer;
let platform: DestinationServer;
let secret = '';
let businesses: [Business, Business];
const written = captureLog();

useOwnTable('erasure');
useSecret(() => secret);

beforeAll(async () => {
  app = await DestinationServer.start();
  platform = await DestinationServer.start();
  secret = JSON.stringify({ url: app.url, secret: SECRET });
  businesses = [await newBusiness(), await newBusiness()];
});

afterAll(() => Promise.all([app.close(), platform.close()]));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  for (const destination of [app, platform]) destination.answers = [204];
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const later = (minutes: number) => vi.setSystemTime(Date.now() + minutes * MINUTE);

/** An account with a bot, a webhook that receives all notifications, and a profiler. */
interface Business {
  account: string;
  bot: string;
  profiler: string;
  option: string;
}

const newBusiness = async (): Promise<Business> => {
  const bot = newPhone();
  const { id: account } = await createAccount({ name: 'Test', id: newAccountId(), bot_number: bot });
  await updateAccount(account, { platform: { name: 'webhook', settings: { url: platform.url, secret: SECRET } } });
  const { id, options } = await createProfiler(account, { question: 'Well?', options: ['yes', 'no'] });
  return { account, bot, profiler: id, option: options[0]?.id ?? '' };
};

/** A user of the app, with every value that an erasure must remove: number, properties and texts. */
class Person {
  readonly phone: string;
  readonly traces: string[];
  /** The ids of the user's messages, by account. */
  readonly messages = new Map<string, string[]>();

  constructor(phone = newPhone()) {
    this.phone = phone;
    this.traces = [phone];
  }

  secret(): string {
    const made = randomUUID();
    this.traces.push(made);
    return made;
  }

  async register(event = randomUUID()): Promise<void> {
    const property = () => ({ value: this.secret(), source: 'user' });
    const properties = { first_name: property(), last_name: property(), device_make: property() };
    await updateUser(event, { phone_number: this.phone, panelist: true, properties });
  }

  text(to = this.phone) {
    return { to, type: 'text' as const, text: { body: this.secret() } };
  }

  async send({ account }: Business): Promise<string> {
    const id = await sendMessage(account, this.text(), {});
    this.messages.set(account, [...(this.messages.get(account) ?? []), id]);
    return id;
  }

  async write({ account, bot }: Business): Promise<string> {
    await receiveMessage(randomUUID(), { from: this.phone, ...this.text(bot) });
    const { entries } = await oldestEntries(this.conversation('platform', account));
    const id = entries.map(({ outgoing }) => ('message' in outgoing ? outgoing.message.id : '')).at(-1) ?? '';
    this.messages.set(account, [...(this.messages.get(account) ?? []), id]);
    return id;
  }

  conversation(direction: Conversation['direction'], account: string): Conversation {
    return { direction, account, phone: this.phone };
  }

  async ask({ account }: Business, ...properties: ('first_name' | 'last_name' | 'device_make')[]): Promise<string> {
    const data = properties.map((property) => ({ property, required: false }));
    return (await startRequest(account, this.phone, { reason: 'To know you', data }, undefined)).id;
  }
}

const run = (conversation: Conversation) => deliver(conversation, () => 60_000);

/** Creates every kind of item between a user and a business. The last entries stay pending. */
const createHistory = async (business: Business, person: Person): Promise<void> => {
  const { account, profiler, option } = business;
  const [toUser, toPlatform] = [person.conversation('app', account), person.conversation('platform', account)];
  await recordAnswer(account, { profiler_id: profiler, option_id: option, phone_number: person.phone });

  const [read, failed] = [await person.send(business), await person.send(business)];
  await run(toUser);
  for (const state of ['delivered_to_user', 'read'] as const) await reportState(read, state);
  await reportState(failed, 'delivery_failed', person.secret());
  await person.write(business);
  await run(toPlatform);
  app.answers = [404];
  await person.send(business);
  await run(toUser);
  await run(toPlatform);
  platform.answers = [400];
  await person.write(business);
  await run(toPlatform);
  // A platform's refusals are repeated for an hour.
  later(61);
  await run(toPlatform);
  for (const destination of [app, platform]) destination.answers = [204];

  const completed = await person.ask(business, 'first_name', 'device_make');
  const partly = await person.ask(business, 'first_name', 'last_name');
  await run(toUser);
  await answerRequest(completed, { first_name: 'approved' });
  await answerRequest(partly, { last_name: 'approved' });
  await person.ask(business, 'device_make');
  await retrieve(account, person.phone, ['device_make']);

  await person.send(business);
  await person.ask(business, 'first_name');
  await person.write(business);
  await reportState(read, 'delivery_failed');
  for (const state of ['stopped', 'started'] as const) {
    await changeOptOut({ event: randomUUID(), account, phone: person.phone, state });
  }
};

/** The counts after `createHistory`, without the log entries that follow from pending entries. */
const HISTORY: Erased = {
  answers: 1,
  requests: 4,
  // To the app: a message and a request. To the platform: two completed requests, a message, a status, a stop and a start.
  waiting: 2 + 6,
  // Four messages to the user with seven further states; three messages from the user, of which one failed.
  log_entries: 4 + 7 + 3 + 1,
  receipts: 5,
  opt_outs: 1,
  // The attempts to deliver events to the platform: seven that it accepted, and two for the one that it refused.
  deliveries: 9,
  // The fourth request has released nothing.
  consents: 3,
};

const twice = (counts: Erased) => Object.fromEntries(Object.entries(counts).map(([kind, count]) => [kind, 2 * count]));

/** A user with every kind of item, for both businesses. */
const newPersonWithHistory = async (phone?: string): Promise<Person> => {
  const person = new Person(phone);
  await person.register();
  for (const business of businesses) await createHistory(business, person);
  return person;
};

const newErased = async (): Promise<Person> => {
  const person = await newPersonWithHistory();
  await eraseUser(person.phone);
  return person;
};

const linesAbout = (lines: string[], { traces }: Pick<Person, 'traces'>): string[] =>
  lines.filter((line) => traces.some((trace) => line.includes(trace)));

/** The items that still contain data of a person, without the item of the erasure. */
const leftOf = async (person: Person): Promise<string[]> =>
  linesAbout(await wholeTable(), person).filter((line) => !line.includes(erasureKey(person.phone).pk));

const isUnderWay = async ({ phone }: Person): Promise<boolean> =>
  (await getConsistent(erasureKey(phone))) !== undefined;

/** Resumes an erasure, and has the numbers unmarked whose erasures are complete: the table has no pending batches. */
const resume = async (phone: string): Promise<Erased> => {
  const found = await resumeErasure(phone);
  expect(await eraseFromBatches(() => false)).toMatchObject({ batches: 0, failed: 0 });
  return found;
};

const due = async (): Promise<string[]> => {
  const found: string[] = [];
  for await (const phones of dueErasures()) found.push(...phones);
  return found;
};

/** The pseudonym that replaces the number in the log. Checks that all of the person's messages have the same one. */
const pseudonymOf = async (person: Person): Promise<string> => {
  const stories = await Promise.all([...person.messages.values()].flat().map(messageHistory));
  const names = new Set(stories.map((story) => story?.phone ?? ''));
  expect(names.size).toBe(1);
  const [name = ''] = names;
  expect(name).toMatch(/^erased-[0-9a-f-]{36}$/);
  return name;
};

const emptyOutboxes = async (person: Person): Promise<void> => {
  for (const { account } of businesses) {
    for (const direction of directions) {
      const conversation = person.conversation(direction, account);
      expect(await readHead(conversation)).toBeUndefined();
      expect((await oldestEntries(conversation)).entries).toEqual([]);
    }
  }
};

/** Runs a function in place of each call of the table. The function can inspect, make or fail the call. */
const watchCalls = (before: (name: string, input: string, call: () => Promise<unknown>) => Promise<unknown>): void => {
  const send: typeof documents.send = documents.send.bind(documents);
  vi.spyOn(documents, 'send').mockImplementation((command) =>
    before(command.constructor.name, JSON.stringify(command.input), async () => send(command)),
  );
};

/** Does something once, before the first call that matches. */
const beforeCall = (isIt: (name: string, input: string) => boolean, work: () => Promise<unknown>): void => {
  let isDone = false;
  watchCalls(async (name, input, makeCall) => {
    if (!isDone && isIt(name, input)) {
      isDone = true;
      await work();
    }
    return makeCall();
  });
};

describe('after an erasure', () => {
  test('no item contains the number, a value or a text, and the result counts what was removed', async () => {
    const person = await newPersonWithHistory();
    expect((await leftOf(person)).length).toBeGreaterThan(40);
    expect(await eraseUser(person.phone)).toEqual(twice(HISTORY));
    expect(await leftOf(person)).toEqual([]);
    await emptyOutboxes(person);
    expect(written.filter((line) => person.traces.some((trace) => line.includes(trace)))).toEqual([]);

    expect(linesAbout(await wholeTable(), person)).toHaveLength(1);
    later(2);
    expect(await resume(person.phone)).toEqual(NOTHING);
    expect(linesAbout(await wholeTable(), person)).toEqual([]);
  });

  test('log entries and receipts have one pseudonym, and a later erasure of the number uses another pseudonym', async () => {
    const person = await newErased();
    later(2);
    await resume(person.phone);
    const pseudonym = await pseudonymOf(person);
    expect(await listConsentReceipts(person.phone)).toEqual([]);
    expect(await listConsentReceipts(pseudonym)).toHaveLength(2 * (HISTORY.receipts + HISTORY.consents));
    for (const { account } of businesses) {
      const { entries } = await listLogs(account, { phone: pseudonym }, 100);
      // Pending messages are logged as failed: one to the user, and one from the user.
      expect(entries).toHaveLength(HISTORY.log_entries + 2);
      expect((await listLogs(account, { phone: person.phone }, 100)).entries).toEqual([]);
    }

    const next = await newPersonWithHistory(person.phone);
    await eraseUser(next.phone);
    const another = await pseudonymOf(next);
    expect(another).not.toBe(pseudonym);
    expect(await listConsentReceipts(another)).toHaveLength(2 * (HISTORY.receipts + HISTORY.consents));
    expect(await listConsentReceipts(pseudonym)).toHaveLength(2 * (HISTORY.receipts + HISTORY.consents));
  });

  test('pending messages are logged as failed with the reason user_erased, and other messages keep their states', async () => {
    const person = await newPersonWithHistory();
    const before = new Map(
      await Promise.all([...person.messages.values()].flat().map(async (id) => [id, await statesOf(id)] as const)),
    );
    await eraseUser(person.phone);
    for (const ids of person.messages.values()) {
      const [waiting = '', own = ''] = ids.slice(5);
      expect((await messageHistory(waiting))?.states.slice(1)).toMatchObject([
        { state: 'sending_failed', reason: 'user_erased' },
      ]);
      expect((await messageHistory(own))?.states.slice(1)).toMatchObject([
        { state: 'reception_failed_http', reason: 'user_erased' },
      ]);
      for (const id of ids.slice(0, 5)) expect(await statesOf(id)).toEqual(before.get(id));
    }
  });

  test('items of other users and of the businesses do not change', async () => {
    const person = new Person();
    // The other user's number is a prefix of this number.
    const other = await newPersonWithHistory(person.phone.slice(0, -1));
    await person.register();
    for (const business of businesses) await createHistory(business, person);
    const before = await wholeTable();
    // The contact has no number, but its keyed hash.
    const theirs = new Set(
      linesAbout(before, { traces: [...person.traces, contactKey(contactHash(person.phone)).pk] }),
    );
    await eraseUser(person.phone);
    later(2);
    await resume(person.phone);
    const after = await wholeTable();
    const untouched = before.filter((line) => !theirs.has(line));
    expect(untouched.length).toBeGreaterThan(40);
    expect([...new Set(untouched).difference(new Set(after))]).toEqual([]);
    const pseudonym = await pseudonymOf(person);
    const added = [...new Set(after).difference(new Set(untouched))];
    // Apart from items with the pseudonym, only the time of the removal is kept, under a hash of the number.
    const marker = removalKey(person.phone).pk;
    expect(added.filter((line) => !line.includes(pseudonym) && !line.includes(marker))).toEqual([]);
    expect(await findUser(other.phone)).toEqual({ phone_number: other.phone, panelist: true });
  });

  test('a repeated erasure with a stale index counts nothing twice', async () => {
    const person = await newPersonWithHistory();
    const behind = new Map<string, unknown>();
    watchCalls(async (_name, input, makeCall) => {
      if (!input.includes(`#${person.phone}`) || !input.includes('LOGS#') || !input.includes('"gsi2"'))
        return makeCall();
      const shown = behind.get(input) ?? (await makeCall());
      behind.set(input, shown);
      return shown;
    });
    expect(await eraseUser(person.phone)).toEqual(twice(HISTORY));
    expect(await eraseUser(person.phone)).toEqual(NOTHING);
    // Queries find one account after the other, and one query per account finds the log entries to rename.
    expect(behind.size).toBe(1 + 2 * businesses.length);
    await pseudonymOf(person);
  });

  test('answers, fetches, retrievals and new requests about the erased user fail', async () => {
    const person = await newPersonWithHistory();
    const [business] = businesses;
    const request = await person.ask(business, 'last_name');
    await eraseUser(person.phone);
    expect(await answerRequest(request, { last_name: 'approved' })).toEqual({ unknown: true });
    await expect(fetchRequest(business.account, request)).rejects.toThrow('request_not_found');
    await expect(retrieve(business.account, person.phone, ['device_make'])).rejects.toThrow('user_not_found');
    await expect(person.ask(business, 'device_make')).rejects.toThrow('user_not_found');
  });

  test('a later state of a message is logged under the pseudonym, and no platform is notified', async () => {
    const person = await newErased();
    const pseudonym = await pseudonymOf(person);
    for (const [account, [, message = '']] of person.messages) {
      expect(await reportState(message, 'read')).toBe(true);
      expect(await readHead({ direction: 'platform', account, phone: pseudonym })).toBeUndefined();
      expect(await statesOf(message)).toContain('read');
    }
    await pseudonymOf(person);
    expect(await leftOf(person)).toEqual([]);
  });
});

describe('the counters of jobs', () => {
  /** Yesterday and today: an hour passes in the history. */
  const period = () => [-DAY, 0].map((ago) => new Date(Date.now() + ago).toISOString().slice(0, 10));

  /** All log entries of an account, as the stream delivers them. */
  const images = async (account: string): Promise<Countable[]> => {
    const found: Countable[] = [];
    for (const state of states) {
      const { items } = await page<Countable>({
        IndexName: 'gsi1',
        KeyConditionExpression: 'gsi1pk = :logs',
        ExpressionAttributeValues: { ':logs': logPartitions.gsi1(account, { state }) },
        ProjectionExpression: 'pk, sk',
      });
      const read = await Promise.all(items.map(({ pk, sk }) => getConsistent<Countable>({ pk, sk })));
      found.push(...read.filter((entry) => entry !== undefined));
    }
    return found;
  };

  const counted = async (account: string): Promise<Record<string, number>> => {
    const sums: Record<string, number> = {};
    const [start = '', end = ''] = period();
    for (const { state, count } of await listJobs(account, start, end)) sums[state] = (sums[state] ?? 0) + count;
    return sums;
  };

  const logged = async (account: string): Promise<Record<string, number>> => {
    const { entries } = await listLogs(account, {}, 1_000);
    return Object.fromEntries(
      [...Map.groupBy(entries, ({ state }) => state)].map(([state, all]) => [state, all.length]),
    );
  };

  test('job counters equal the log, whether an entry is counted before or after it gets its pseudonym', async () => {
    const business = await newBusiness();
    const { account } = business;
    const person = new Person();
    await person.register();
    await createHistory(business, person);
    const before = await images(account);
    expect(before).toHaveLength(HISTORY.log_entries);
    // The first seven entries are counted before they are renamed, and the others after.
    expect(await countEntries(before.slice(0, 7))).toBe(7);
    await eraseUser(person.phone);
    expect(await countEntries(before)).toBe(HISTORY.log_entries - 7);
    expect(await countEntries(await images(account))).toBe(2);
    expect(await countEntries([...before, ...(await images(account))])).toBe(0);
    expect(await counted(account)).toEqual(await logged(account));
    expect(await counted(account)).toMatchObject({ sent: 4, sending_failed: 2, received: 3, reception_failed_http: 2 });
  });
});

test('the worker resumes an erasure that was interrupted after its first transaction', async () => {
  const person = new Person();
  const [business] = businesses;
  await person.register();
  await person.send(business);
  let hasBegun = false;
  watchCalls(async (name, _input, makeCall) => {
    if (hasBegun) throw new Error('interrupted');
    hasBegun = name === 'TransactWriteCommand';
    return makeCall();
  });
  await expect(eraseUser(person.phone)).rejects.toThrow('interrupted');
  vi.mocked(documents.send).mockRestore();
  expect(await findUser(person.phone)).toBeUndefined();
  expect(await due()).toContain(person.phone);
  await resume(person.phone);
  expect(await due()).not.toContain(person.phone);
  later(2);
  expect(await due()).toContain(person.phone);
  await resume(person.phone);
  expect(linesAbout(await wholeTable(), person)).toEqual([]);
  expect(await statesOf(person.messages.get(business.account)?.[0] ?? '')).toEqual(['sent', 'sending_failed']);
  expect(await due()).not.toContain(person.phone);
});

describe('concurrent work', () => {
  const newPendingMessage = async () => {
    const person = new Person();
    const [business] = businesses;
    await person.register();
    const message = await person.send(business);
    return { business, person, message, toUser: person.conversation('app', business.account) };
  };

  test.each([
    ['succeeds', 204],
    ['fails', 503],
  ])(
    'an erasure during an attempt logs all pending messages as failed, and no further message is sent, if it %s',
    async (_, status) => {
      const { business, person, toUser } = await newPendingMessage();
      for (let more = 0; more < 2; more += 1) await person.send(business);
      app.calls.length = 0;
      app.answers = [(response) => void eraseUser(person.phone).then(() => response.writeHead(status).end()), 204];
      expect(await run(toUser)).toEqual({ settled: 0 });
      expect(app.calls).toHaveLength(1);
      for (const id of person.messages.get(business.account) ?? []) {
        expect(await statesOf(id)).toEqual(['sent', 'sending_failed']);
      }
      await emptyOutboxes(person);
      expect(await leftOf(person)).toEqual([]);
      later(2);
      expect(await resume(person.phone)).toEqual(NOTHING);
      expect(linesAbout(await wholeTable(), person)).toEqual([]);
      expect(await isUnderWay(person)).toBe(false);
    },
  );

  test('from the start of an erasure, no pending message is sent in either direction', async () => {
    const { business, person, toUser } = await newPendingMessage();
    await person.send(business);
    await person.write(business);
    await removeUser(randomUUID(), person.phone);
    for (const destination of [app, platform]) destination.calls.length = 0;
    expect(await run(toUser)).toEqual({ settled: 0 });
    expect(await run(person.conversation('platform', business.account))).toEqual({ settled: 0 });
    expect([...app.calls, ...platform.calls]).toEqual([]);
    const stories = await Promise.all((person.messages.get(business.account) ?? []).map(messageHistory));
    expect(stories.map((story) => story?.states)).toMatchObject([
      [{ state: 'sent' }, { state: 'sending_failed', reason: 'user_erased' }],
      [{ state: 'sent' }, { state: 'sending_failed', reason: 'user_erased' }],
      [{ state: 'received' }, { state: 'reception_failed_http', reason: 'user_erased' }],
    ]);
    await emptyOutboxes(person);
    expect(await resume(person.phone)).toEqual({ ...NOTHING, log_entries: 3 });
    await pseudonymOf(person);
    expect(await leftOf(person)).toEqual([]);
  });

  test('the final check erases the log entry and the notification of a state that was reported during the erasure', async () => {
    const { person, message, toUser } = await newPendingMessage();
    await run(toUser);
    const isState = (name: string, input: string) => name === 'TransactWriteCommand' && input.includes('STATE#read');
    beforeCall(isState, () => eraseUser(person.phone));
    expect(await reportState(message, 'read')).toBe(true);
    expect(await leftOf(person)).not.toEqual([]);
    expect(await isUnderWay(person)).toBe(true);
    later(2);
    expect(await resume(person.phone)).toEqual({ ...NOTHING, waiting: 1, log_entries: 1 });
    expect(await statesOf(message)).toEqual(['sent', 'delivered_to_server', 'read']);
    expect(linesAbout(await wholeTable(), person)).toEqual([]);
    await emptyOutboxes(person);
    expect(await isUnderWay(person)).toBe(false);
  });

  test('the final check erases a request that was started during the erasure', async () => {
    const { person, business } = await newPendingMessage();
    beforeCall(
      (_, input) => input.includes(requestKey('').pk),
      () => eraseUser(person.phone),
    );
    const request = await person.ask(business, 'first_name');
    expect(await fetchRequest(business.account, request)).toEqual({ status: 'pending', results: {} });
    expect(await answerRequest(request, { first_name: 'approved' })).toEqual({ unknown: true });
    later(2);
    expect(await resume(person.phone)).toEqual({ ...NOTHING, requests: 1, waiting: 1 });
    expect(linesAbout(await wholeTable(), person)).toEqual([]);
  });

  test('a message that is delivered just before its erasure is not logged as failed', async () => {
    const { person, message, toUser } = await newPendingMessage();
    const { promise: posted, resolve: isPosted } = Promise.withResolvers<ServerResponse>();
    app.answers = [isPosted];
    const delivered = run(toUser);
    const response = await posted;
    watchCalls(async (_name, input, makeCall) => {
      if (input.includes('sending_failed') && !response.headersSent) {
        response.writeHead(204).end();
        await delivered;
      }
      return makeCall();
    });
    // The notification of the delivery is pending by then.
    expect(await eraseUser(person.phone)).toEqual({ ...NOTHING, waiting: 1, log_entries: 2 });
    expect(await delivered).toEqual({ settled: 1 });
    expect(await statesOf(message)).toEqual(['sent', 'delivered_to_server']);
    await emptyOutboxes(person);
    expect(await leftOf(person)).toEqual([]);
  });

  test('a pending message with a logged failure is erased and counted', async () => {
    const { person, message } = await newPendingMessage();
    const { account, phone, job_id, payload_type } = (await messageHistory(message)) ?? {};
    if (!account || !phone || !job_id || !payload_type) throw new Error('The message is missing.');
    const logged = { id: message, account, phone, job_id, payload_type, ...lifetime };
    await putIfAbsent(logItem(logged, 'sending_failed', timestamp()));
    expect(await eraseUser(person.phone)).toEqual({ ...NOTHING, waiting: 1, log_entries: 2 });
    expect(await statesOf(message)).toEqual(['sent', 'sending_failed']);
    await emptyOutboxes(person);
  });

  test('an erasure ignores a request that disappears just before it is read', async () => {
    const { person, business } = await newPendingMessage();
    const request = await person.ask(business, 'first_name');
    beforeCall(
      (name, input) => name === 'GetCommand' && input.includes(requestKey(request).pk),
      () => remove(requestKey(request)),
    );
    expect(await eraseUser(person.phone)).toMatchObject({ waiting: 2, log_entries: 1 });
    expect(await leftOf(person)).toEqual([]);
  });

  test('a second erasure that begins during the final check of the first gets its own final check', async () => {
    const { person } = await newPendingMessage();
    await eraseUser(person.phone);
    later(2);
    const begin = vi.fn(() => removeUser(randomUUID(), person.phone));
    beforeCall((name, input) => name === 'UpdateCommand' && input.includes(`"${markedPartition}"`), begin);
    await resume(person.phone);
    expect(begin).toHaveBeenCalledOnce();
    expect(await isUnderWay(person)).toBe(true);
  });

  test('a log entry gets its pseudonym although three transactions conflict with its counting', async () => {
    const { person } = await newPendingMessage();
    let conflicts = 0;
    watchCalls(async (name, input, makeCall) => {
      if (name === 'UpdateCommand' && input.includes('"SET phone') && conflicts < 3) {
        conflicts += 1;
        throw rejection('TransactionConflictException');
      }
      return makeCall();
    });
    expect(await eraseUser(person.phone)).toMatchObject({ log_entries: 1 });
    expect(conflicts).toBe(3);
    expect(await leftOf(person)).toEqual([]);
  });
});

describe('a new registration of an erased number', () => {
  test.each([
    ['half a minute', 0.5],
    ['three minutes', 3],
  ])('the final check keeps the data of a new user who registered %s after the erasure', async (_, minutes) => {
    const person = await newPersonWithHistory();
    await eraseUser(person.phone);
    later(minutes);
    const next = await newPersonWithHistory(person.phone);
    const theirs = await leftOf(next);
    later(2);
    expect(await resume(person.phone)).toEqual(NOTHING);
    expect(await isUnderWay(person)).toBe(false);
    expect(await leftOf(next)).toEqual(theirs);
  });

  test('an erasure that resumes after a new registration removes only the previous user', async () => {
    const person = await newPersonWithHistory();
    const [business] = businesses;
    await removeUser(randomUUID(), person.phone);
    const next = new Person(person.phone);
    await next.register();
    const request = await next.ask(business, 'first_name', 'device_make');
    const message = await next.send(business);
    const theirs = linesAbout(await wholeTable(), { traces: next.traces.slice(1).concat(message, request) });
    expect(await resume(person.phone)).toEqual(twice(HISTORY));
    later(2);
    expect(await resume(person.phone)).toEqual(NOTHING);
    const after = await wholeTable();
    expect(linesAbout(after, { traces: next.traces.slice(1).concat(message, request) })).toEqual(theirs);
    expect(linesAbout(after, { traces: person.traces.slice(1) })).toEqual([]);
    await pseudonymOf(person);
  });

  test('a registration during a delivery to the previous user leaves no data of that delivery', async () => {
    const person = new Person();
    const [business] = businesses;
    await person.register();
    const message = await person.send(business);
    const next = new Person(person.phone);
    app.answers = [
      (response) =>
        void eraseUser(person.phone)
          .then(() => next.register())
          .then(() => response.writeHead(204).end()),
    ];
    await run(person.conversation('app', business.account));
    await next.send(business);
    later(2);
    expect(await resume(person.phone)).toEqual(NOTHING);
    expect(await statesOf(message)).toEqual(['sent', 'sending_failed']);
    await pseudonymOf(person);
    // Four items remain: the profile, a message, its entry, and the head of its outbox.
    expect(await leftOf(next)).toHaveLength(4);
  });

  test('a new user of the number receives all of their own messages and none of the previous user', async () => {
    const person = new Person();
    const [business] = businesses;
    const [toUser, toPlatform] = [
      person.conversation('app', business.account),
      person.conversation('platform', business.account),
    ];
    await person.register();
    const reported = await person.send(business);
    await run(toUser);
    await run(toPlatform);
    const pending = await person.send(business);
    await removeUser(randomUUID(), person.phone);
    const next = new Person(person.phone);
    await next.register();
    const own = await next.send(business);
    // A state of a message of the previous user is logged, and no platform is notified.
    await reportState(reported, 'delivered_to_user');
    for (const destination of [app, platform]) destination.calls.length = 0;

    expect(await run(toUser)).toEqual({ settled: 1 });
    expect(await run(toPlatform)).toEqual({ settled: 1 });
    expect(app.calls.map(({ json }) => json.data.id)).toEqual([own]);
    expect(platform.calls.map(({ json }) => json.status)).toMatchObject([{ id: own, state: 'delivered_to_server' }]);
    expect(await statesOf(reported)).toEqual(['sent', 'delivered_to_server', 'delivered_to_user']);
    expect(await statesOf(pending)).toEqual(['sent', 'sending_failed']);
    expect(await statesOf(own)).toEqual(['sent', 'delivered_to_server']);
    await resume(person.phone);
    await pseudonymOf(person);
    expect((await messageHistory(own))?.phone).toBe(person.phone);
  });

  test('no status of the previous user stays in an outbox, even behind many messages of the new user', async () => {
    const person = new Person();
    const [business] = businesses;
    await person.register();
    const message = await person.send(business);
    await run(person.conversation('app', business.account));
    await removeUser(randomUUID(), person.phone);
    const next = new Person(person.phone);
    await next.register();
    for (let count = 0; count < 12; count += 1) await next.write(business);
    await reportState(message, 'read');
    // The statuses of both states.
    expect(await resume(person.phone)).toEqual({ ...NOTHING, waiting: 2, log_entries: 3 });
    const { entries } = await oldestEntries(next.conversation('platform', business.account));
    expect(entries.length).toBeGreaterThan(0);
    expect(linesAbout(await wholeTable(), { traces: [message] }).filter((line) => line.includes('OUTBOX#'))).toEqual(
      [],
    );
  });

  test('a second erasure removes the new user too, and its final check follows two minutes later', async () => {
    const person = await newErased();
    later(1);
    const next = await newPersonWithHistory(person.phone);
    expect(await eraseUser(person.phone)).toEqual(twice(HISTORY));
    expect(await leftOf(next)).toEqual([]);
    // The final check is due two minutes after the second erasure.
    later(1);
    expect(await due()).not.toContain(person.phone);
    later(1);
    expect(await due()).toContain(person.phone);
    await resume(person.phone);
    expect(linesAbout(await wholeTable(), next)).toEqual([]);
  });
});
