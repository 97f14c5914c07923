/**
 * Writes to the table that take effect, but whose response is lost. The client's repetition has no visible effect.
 *
 * @module-tag long
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { SendOptions } from '../../../../infra/bundle/sdk/json-client.ts';
import { createAccount, updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { listTokens } from '../../../../infra/operator/queries/tokens-admin.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { messageKey } from '../../../../shared/outbox/entities.ts';
import { oldestEntries } from '../../../../shared/outbox/entries.ts';
import type { Conversation } from '../../../../shared/outbox/event.ts';
import { readHead } from '../../../../shared/outbox/head.ts';
import type { LogItem } from '../../../../shared/outbox/message.ts';
import { recordAnswer } from '../../../../shared/profilers/answers.ts';
import { createProfiler, deleteProfiler, listProfilers } from '../../../../shared/profilers/profilers.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { countEntries, listJobs } from '../../../../shared/stats/job-counters.ts';
import { documents, pages } from '../../../../shared/table/client.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { useOwnTable, useSecret } from '../../support/own-table.ts';
import { reportState } from '../../support/states.ts';
import { newBusiness, newCaller, newPanelist, newPhone, newVendor } from '../../support/world.ts';

/** A table without a running stack: entries stay pending until the test delivers them. */
useOwnTable('lost');

let lost = 0;
let losing: 'nothing' | 'first' | 'all' | 'all and later reads' = 'nothing';

const send = documents.send.bind(documents) as (command: object, options: SendOptions) => Promise<unknown>;

/** Drops the table's responses to writes, below the client's own retries: the first response, or all. Then also reads. */
documents.send = (async (command: object, options: SendOptions = {}) => {
  let attempts = 0;
  const interceptor: SendOptions['interceptor'] = async (request, exchange) => {
    attempts += 1;
    const isWrite = /Put|Update|Delete|Transact/.test(command.constructor.name);
    const isLost = isWrite || (losing === 'all and later reads' && lost > 0);
    if (!isLost || losing === 'nothing' || (losing === 'first' && attempts > 1)) return exchange(request);
    const { body } = await exchange(request);
    body.resume();
    lost += 1;
    throw Object.assign(new Error('socket hang up'), { name: 'TimeoutError', code: 'ECONNRESET' });
  };
  return send(command, { ...options, interceptor });
}) as typeof documents.send;

const withLostResponses = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  lost = 0;
  losing = 'first';
  const result = await work();
  losing = 'nothing';
  expect(lost).toBeGreaterThan(0);
  return result;
};

/** Drops the responses to all attempts of the client: the caller receives an error although the write took effect. */
const withoutResponse = async (
  work: () => Promise<unknown>,
  responses: 'all' | 'all and later reads' = 'all',
): Promise<void> => {
  lost = 0;
  losing = responses;
  await expect(work()).rejects.toThrow('socket hang up');
  losing = 'nothing';
  expect(lost).toBeGreaterThan(1);
};

afterEach(() => {
  losing = 'nothing';
});

const question = { question: 'Well?', options: ['yes', 'no'] };

test('a profiler is created once, and its id is returned', async () => {
  const { account } = await newVendor();
  const { id } = await withLostResponses(() => createProfiler(account, question));
  expect((await listProfilers(account)).profilers.map((profiler) => profiler.id)).toEqual([id]);
});

test('a profiler is deleted without profiler_not_found', async () => {
  const { account } = await newVendor();
  const { id } = await createProfiler(account, question);
  await withLostResponses(() => deleteProfiler(account, id));
  await expect(deleteProfiler(account, id)).rejects.toThrow('profiler_not_found');
});

test("a panelist's answer is recorded without an error", async () => {
  const { account } = await newVendor();
  const { id, options } = await createProfiler(account, question);
  const answer = { profiler_id: id, option_id: options[0]?.id ?? '', phone_number: await newPanelist() };
  await withLostResponses(() => recordAnswer(account, answer));
});

test('an account is created and updated without an error, and one token is issued', async () => {
  const id = `lost-${randomUUID().slice(0, 18)}`;
  const [first, second] = [newPhone(), newPhone()];
  await withLostResponses(() => createAccount({ name: 'Lost', id, bot_number: first }));
  expect(await withLostResponses(() => updateAccount(id, { bot_number: second }))).toMatchObject({
    bot_number: second,
  });
  const { account } = await withLostResponses(() => newCaller('stats'));
  expect(await listTokens(account)).toHaveLength(1);
});

let destination: DestinationServer;
let secret = '';

useSecret(() => secret);

beforeAll(async () => {
  destination = await DestinationServer.start();
  secret = JSON.stringify({ url: destination.url, secret: `whsec_${randomBytes(32).toString('base64')}` });
});

afterAll(() => destination.close());

beforeEach(() => {
  destination.calls.length = 0;
});

/** A new account with a webhook and a bot, and a conversation in each direction. */
const newConversations = async () => {
  const settings = { url: destination.url, secret: `whsec_${randomBytes(32).toString('base64')}` };
  const { account, bot, phone } = await newBusiness({ name: 'webhook', settings });
  const app: Conversation = { direction: 'app', account, phone };
  const platform: Conversation = { direction: 'platform', account, phone };
  return { account, bot, phone, app, platform };
};

const text = (to: string) => ({ to, type: 'text' as const, text: { body: 'Hello' } });

/** The number of pending entries of a conversation, and how many were accepted. */
const pendingIn = async (conversation: Conversation) => ({
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
    const id = await withLostResponses(() => sendMessage(account, text(phone), options));
    expect(await pendingIn(app)).toEqual(ONE);
    expect((await oldestEntries(app)).entries).toMatchObject([{ outgoing: { message: { id } } }]);
    expect(await statesOf(app)).toEqual(['sent']);
  });

  test('is accepted once, and its id is returned, if the record of its idempotency key can be read', async () => {
    const { account, phone, app } = await newConversations();
    const send = () => sendMessage(account, text(phone), { idempotencyKey: 'lost' });
    losing = 'all';
    lost = 0;
    const id = await send();
    losing = 'nothing';
    expect(lost).toBeGreaterThan(1);
    expect(await send()).toBe(id);
    expect(await pendingIn(app)).toEqual(ONE);
    expect(await statesOf(app)).toEqual(['sent']);
  });

  test('is accepted once if the caller receives an error and repeats it with its idempotency key', async () => {
    const { account, phone, app } = await newConversations();
    const send = () => sendMessage(account, text(phone), { idempotencyKey: 'lost' });
    await withoutResponse(send, 'all and later reads');
    const id = await send();
    expect(await send()).toBe(id);
    expect(await pendingIn(app)).toEqual(ONE);
    expect(await statesOf(app)).toEqual(['sent']);
  });

  test('is delivered once, and its status is reported once', async () => {
    const { account, phone, app, platform } = await newConversations();
    await sendMessage(account, text(phone), {});
    expect(await withLostResponses(() => run(app))).toEqual({ settled: 1 });
    expect(destination.calls).toHaveLength(1);
    expect(await pendingIn(app)).toEqual(NONE);
    expect(await statesOf(app)).toEqual(['sent', 'delivered_to_server']);
    expect(await pendingIn(platform)).toEqual(ONE);
    expect(await withLostResponses(() => run(platform))).toEqual({ settled: 1 });
    expect(destination.calls.map(({ json }) => json.status?.state)).toEqual([undefined, 'delivered_to_server']);
    expect(await pendingIn(platform)).toEqual(NONE);
  });

  test('is delivered and logged once if its worker receives an error and the wake-up is repeated', async () => {
    const { account, phone, app, platform } = await newConversations();
    await sendMessage(account, text(phone), {});
    await withoutResponse(() => run(app));
    expect(await run(app)).toEqual({ settled: 0 });
    expect(destination.calls).toHaveLength(1);
    expect(await pendingIn(app)).toEqual(NONE);
    expect(await statesOf(app)).toEqual(['sent', 'delivered_to_server']);
    expect(await pendingIn(platform)).toEqual(ONE);
  });

  test('reaches each state that the app reports once', async () => {
    const { account, phone, app, platform } = await newConversations();
    const id = await sendMessage(account, text(phone), {});
    expect(await withLostResponses(() => reportState(id, 'read'))).toBe(true);
    await withoutResponse(() => reportState(id, 'delivery_failed'));
    expect(await reportState(id, 'delivery_failed')).toBe(true);
    expect(await statesOf(app)).toEqual(['sent', 'read', 'delivery_failed']);
    expect(await pendingIn(platform)).toEqual({ entries: 2, accepted: 2 });
  });
});

describe('a message from a user', () => {
  test('is logged once and creates one entry', async () => {
    const { bot, phone, platform } = await newConversations();
    const event = { from: phone, ...text(phone), to: bot };
    expect(await withLostResponses(() => receiveMessage('event-1', event))).toBe(true);
    expect(await pendingIn(platform)).toEqual(ONE);
    expect(await statesOf(platform)).toEqual(['received']);
  });

  test('is logged once and creates one entry if the app network receives an error and repeats it', async () => {
    const { bot, phone, platform } = await newConversations();
    const event = { from: phone, ...text(phone), to: bot };
    await withoutResponse(() => receiveMessage('event-2', event));
    expect(await receiveMessage('event-2', event)).toBe(true);
    expect(await pendingIn(platform)).toEqual(ONE);
    expect(await statesOf(platform)).toEqual(['received']);
  });

  test('is logged once and creates one entry if its account has no platform', async () => {
    const { account, bot, phone, platform } = await newConversations();
    await updateAccount(account, { platform: null });
    const event = { from: phone, ...text(phone), to: bot };
    expect(await withLostResponses(() => receiveMessage('event-3', event))).toBe(true);
    expect(await pendingIn(platform)).toEqual(ONE);
    await withoutResponse(() => receiveMessage('event-4', event));
    expect(await receiveMessage('event-4', event)).toBe(true);
    expect(await statesOf(platform)).toEqual(['received', 'received']);
    // They wait for a platform.
    expect(await pendingIn(platform)).toEqual({ entries: 2, accepted: 2 });
  });
});

describe('each log entry', () => {
  const today = new Date().toISOString().slice(0, 10);

  /** The log entries of a message, as the stream contains them. */
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

  const sent = async (count: number) => {
    const { account, phone } = await newConversations();
    const ids: string[] = [];
    for (let left = count; left > 0; left -= 1) ids.push(await sendMessage(account, text(phone), {}));
    return { account, entries: (await Promise.all(ids.map(logged))).flat() };
  };

  const counts = async (account: string): Promise<number[]> =>
    (await listJobs(account, today, new Date().toISOString().slice(0, 10))).map(({ count }) => count);

  // Two are marked in the transaction of their sum, and three by a claim.
  test.each([2, 3])('is counted once, with %d entries in a batch', async (count) => {
    const { account, entries } = await sent(count);
    await withLostResponses(() => countEntries(entries));
    expect(await counts(account)).toEqual([count]);
  });

  test.each([2, 3])('is counted once if its batch of %d fails and is repeated', async (count) => {
    const { account, entries } = await sent(count);
    await withoutResponse(() => countEntries(entries));
    await countEntries(entries);
    expect(await countEntries(entries)).toBe(0);
    expect(await counts(account)).toEqual([count]);
  });
});
