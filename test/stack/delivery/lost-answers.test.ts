/** A write that took effect, and whose answer was lost on the way: the client repeats it, and nobody may notice. */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAccount, updateAccount } from '../../../infra/operator/queries/accounts-admin.ts';
import { listTokens } from '../../../infra/operator/queries/tokens-admin.ts';
import { deliver } from '../../../shared/delivery/deliver.ts';
import type { Conversation } from '../../../shared/messaging/events.ts';
import type { LogItem } from '../../../shared/messaging/message.ts';
import { oldestEntries, readHead } from '../../../shared/messaging/outbox.ts';
import { receiveMessage } from '../../../shared/messaging/receive.ts';
import { sendMessage } from '../../../shared/messaging/send.ts';
import { recordAnswer } from '../../../shared/profilers/answers.ts';
import { createProfiler, deleteProfiler, listProfilers } from '../../../shared/profilers/profilers.ts';
import { listLogs } from '../../../shared/stats/delivery-log.ts';
import { countEntries, listJobs } from '../../../shared/stats/job-counters.ts';
import { documents, pages } from '../../../shared/table/client.ts';
import { messageKey } from '../../../shared/table/keys.ts';
import { useOwnTable, useSecret } from '../support/own-table.ts';
import { Receiver } from '../support/receiver.ts';
import { reportState } from '../support/states.ts';
import { newAccountId, newCaller, newPanelist, newPhone, newVendor } from '../support/world.ts';

/** A table that no stack serves: what is accepted stays where it was put until the test itself delivers it. */
useOwnTable('lost');

let lost = 0;
let losing: 'nothing' | 'first' | 'all' = 'nothing';

/** Loses answers to writes, below the client's own attempts: the first to each, or all of them. */
documents.middlewareStack.add(
  (next, { commandName }) => {
    let attempts = 0;
    return async (args) => {
      attempts += 1;
      const isWrite = /Put|Update|Delete|Transact/.test(commandName ?? '');
      if (!isWrite || losing === 'nothing' || (losing === 'first' && attempts > 1)) return next(args);
      await Promise.allSettled([next(args)]);
      lost += 1;
      throw Object.assign(new Error('socket hang up'), { name: 'TimeoutError', code: 'ECONNRESET' });
    };
  },
  { step: 'finalizeRequest', priority: 'low' },
);

const withLostAnswers = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  lost = 0;
  losing = 'first';
  const result = await work();
  losing = 'nothing';
  expect(lost).toBeGreaterThan(0);
  return result;
};

/** The answer is lost to all of the client's attempts: the caller hears of an error, though all was done. */
const withoutAnswer = async (work: () => Promise<unknown>): Promise<void> => {
  lost = 0;
  losing = 'all';
  await expect(work()).rejects.toThrow('socket hang up');
  losing = 'nothing';
  expect(lost).toBeGreaterThan(1);
};

afterEach(() => {
  losing = 'nothing';
});

const question = { question: 'Well?', options: ['yes', 'no'] };

test('a profiler is created once, and the answer names it', async () => {
  const { account } = await newVendor();
  const { id } = await withLostAnswers(() => createProfiler(account, question));
  expect((await listProfilers(account)).profilers.map((profiler) => profiler.id)).toEqual([id]);
});

test('a profiler is deleted, and not said to be unknown', async () => {
  const { account } = await newVendor();
  const { id } = await createProfiler(account, question);
  await withLostAnswers(() => deleteProfiler(account, id));
  await expect(deleteProfiler(account, id)).rejects.toThrow('profiler_not_found');
});

test('an answer is recorded', async () => {
  const { account } = await newVendor();
  const { id, options } = await createProfiler(account, question);
  const answer = { profiler_id: id, option_id: options[0]?.id ?? '', phone_number: await newPanelist() };
  await withLostAnswers(() => recordAnswer(account, answer));
});

test('an account is opened and changed, and a token issued', async () => {
  const id = `lost-${randomUUID().slice(0, 18)}`;
  const [first, second] = [newPhone(), newPhone()];
  await withLostAnswers(() => createAccount({ name: 'Lost', id, bot_number: first }));
  expect(await withLostAnswers(() => updateAccount(id, { bot_number: second }))).toMatchObject({ bot_number: second });
  const { account } = await withLostAnswers(() => newCaller('stats'));
  expect(await listTokens(account)).toHaveLength(1);
});

let receiver: Receiver;
let secret = '';

useSecret(() => secret);

beforeAll(async () => {
  receiver = await Receiver.start();
  secret = JSON.stringify({ url: receiver.url, secret: `whsec_${randomBytes(32).toString('base64')}` });
});

afterAll(() => receiver.close());

beforeEach(() => {
  receiver.calls.length = 0;
});

/** A new account with a webhook and a bot, and a conversation in each direction. */
const newConversations = async () => {
  const bot = newPhone();
  const { id: account } = await createAccount({ name: 'Lost', id: newAccountId(), bot_number: bot });
  const settings = { url: receiver.url, secret: `whsec_${randomBytes(32).toString('base64')}` };
  await updateAccount(account, { platform: { name: 'webhook', settings } });
  const phone = newPhone();
  const app: Conversation = { direction: 'app', account, phone };
  const platform: Conversation = { direction: 'platform', account, phone };
  return { account, bot, phone, app, platform };
};

const text = (to: string) => ({ to, type: 'text' as const, text: { body: 'Hello' } });

/** How much waits in a conversation, and how often something was accepted there. */
const waitingIn = async (conversation: Conversation) => ({
  entries: (await oldestEntries(conversation)).entries.length,
  accepted: (await readHead(conversation))?.generation ?? 0,
});

const ONE = { entries: 1, accepted: 1 };
const NONE = { entries: 0, accepted: 0 };

/** States of a user's messages, oldest first. */
const statesOf = async ({ account, phone }: Conversation): Promise<string[]> =>
  (await listLogs(account, { phone }, 100)).entries.map(({ state }) => state).reverse();

const run = (conversation: Conversation) => deliver(conversation, () => 60_000);

describe('a message to a user', () => {
  test.each([
    ['without an idempotency key', {}],
    ['with an idempotency key', { idempotencyKey: 'lost' }],
  ])('is accepted once, %s', async (_, options) => {
    const { account, phone, app } = await newConversations();
    const id = await withLostAnswers(() => sendMessage(account, text(phone), options));
    expect(await waitingIn(app)).toEqual(ONE);
    expect((await oldestEntries(app)).entries).toMatchObject([{ outgoing: { message: { id } } }]);
    expect(await statesOf(app)).toEqual(['sent']);
  });

  test('is accepted once where the caller heard of an error and repeats it with its key', async () => {
    const { account, phone, app } = await newConversations();
    const send = () => sendMessage(account, text(phone), { idempotencyKey: 'lost' });
    await withoutAnswer(send);
    const id = await send();
    expect(await send()).toBe(id);
    expect(await waitingIn(app)).toEqual(ONE);
    expect(await statesOf(app)).toEqual(['sent']);
  });

  test('is delivered once, and told of once', async () => {
    const { account, phone, app, platform } = await newConversations();
    await sendMessage(account, text(phone), {});
    expect(await withLostAnswers(() => run(app))).toEqual({ settled: 1 });
    expect(receiver.calls).toHaveLength(1);
    expect(await waitingIn(app)).toEqual(NONE);
    expect(await statesOf(app)).toEqual(['sent', 'delivered_to_server']);
    expect(await waitingIn(platform)).toEqual(ONE);
    expect(await withLostAnswers(() => run(platform))).toEqual({ settled: 1 });
    expect(receiver.calls.map(({ json }) => json.status?.state)).toEqual([undefined, 'delivered_to_server']);
    expect(await waitingIn(platform)).toEqual(NONE);
  });

  test('is delivered and logged once where its worker heard of an error, and the wake-up comes again', async () => {
    const { account, phone, app, platform } = await newConversations();
    await sendMessage(account, text(phone), {});
    await withoutAnswer(() => run(app));
    expect(await run(app)).toEqual({ settled: 0 });
    expect(receiver.calls).toHaveLength(1);
    expect(await waitingIn(app)).toEqual(NONE);
    expect(await statesOf(app)).toEqual(['sent', 'delivered_to_server']);
    expect(await waitingIn(platform)).toEqual(ONE);
  });

  test('reaches a state that the app reports once', async () => {
    const { account, phone, app, platform } = await newConversations();
    const id = await sendMessage(account, text(phone), {});
    expect(await withLostAnswers(() => reportState(id, 'read'))).toBe(true);
    await withoutAnswer(() => reportState(id, 'delivery_failed'));
    expect(await reportState(id, 'delivery_failed')).toBe(true);
    expect(await statesOf(app)).toEqual(['sent', 'read', 'delivery_failed']);
    expect(await waitingIn(platform)).toEqual({ entries: 2, accepted: 2 });
  });
});

describe('a message from a user', () => {
  test('is logged and passed on once', async () => {
    const { bot, phone, platform } = await newConversations();
    const event = { from: phone, ...text(phone), to: bot };
    expect(await withLostAnswers(() => receiveMessage('event-1', event))).toBe(true);
    expect(await waitingIn(platform)).toEqual(ONE);
    expect(await statesOf(platform)).toEqual(['received']);
  });

  test('is logged and passed on once where the app network heard of an error and repeats it', async () => {
    const { bot, phone, platform } = await newConversations();
    const event = { from: phone, ...text(phone), to: bot };
    await withoutAnswer(() => receiveMessage('event-2', event));
    expect(await receiveMessage('event-2', event)).toBe(true);
    expect(await waitingIn(platform)).toEqual(ONE);
    expect(await statesOf(platform)).toEqual(['received']);
  });

  test('is logged once where nobody is notified of it', async () => {
    const { account, bot, phone, platform } = await newConversations();
    await updateAccount(account, { platform: null });
    const event = { from: phone, ...text(phone), to: bot };
    expect(await withLostAnswers(() => receiveMessage('event-3', event))).toBe(true);
    await withoutAnswer(() => receiveMessage('event-4', event));
    expect(await receiveMessage('event-4', event)).toBe(true);
    expect(await statesOf(platform)).toEqual(['received', 'received']);
    expect(await waitingIn(platform)).toEqual(NONE);
  });
});

describe('counting', () => {
  const today = new Date().toISOString().slice(0, 10);

  /** The log entries of a message, as the stream brings them. */
  const logged = async (id: string): Promise<LogItem[]> => {
    const found: LogItem[] = [];
    for await (const items of pages<LogItem>({
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': messageKey(id).pk },
    })) {
      found.push(...items);
    }
    return found;
  };

  const sent = async () => {
    const { account, phone } = await newConversations();
    const ids = [await sendMessage(account, text(phone), {}), await sendMessage(account, text(phone), {})];
    return { account, entries: (await Promise.all(ids.map(logged))).flat() };
  };

  const counts = async (account: string): Promise<number[]> =>
    (await listJobs(account, today, new Date().toISOString().slice(0, 10))).map(({ count }) => count);

  test('is done once', async () => {
    const { account, entries } = await sent();
    await withLostAnswers(() => countEntries(entries));
    expect(await counts(account)).toEqual([2]);
  });

  test('is done once where the batch failed and comes again', async () => {
    const { account, entries } = await sent();
    await withoutAnswer(() => countEntries(entries));
    expect(await countEntries(entries)).toBe(0);
    expect(await counts(account)).toEqual([2]);
  });
});
