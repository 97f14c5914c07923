/** What delivery tells of each way that an entry can go: one line each, with the figures that metrics are made of. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type AccountPlatform, createAccount, updateAccount } from '../../../infra/operator/queries/accounts-admin.ts';
import { messageHistory } from '../../../infra/operator/queries/message-history.ts';
import { findOpenCircuit, resetCircuit } from '../../../infra/operator/queries/outbox-inspection.ts';
import { sortableTime, timestampOf } from '../../../shared/core/clock.ts';
import { acquire, recordFailure } from '../../../shared/delivery/circuit-breaker.ts';
import { deliver } from '../../../shared/delivery/deliver.ts';
import { nextAttempt } from '../../../shared/delivery/retry-policy.ts';
import { dueWork, laterWork } from '../../../shared/delivery/scheduled-work.ts';
import { checkReported } from '../../../shared/delivery/status-receipts.ts';
import type { Conversation } from '../../../shared/messaging/events.ts';
import { logItem } from '../../../shared/messaging/message.ts';
import { oldestEntries, readHead } from '../../../shared/messaging/outbox.ts';
import { receiveMessage } from '../../../shared/messaging/receive.ts';
import { sendMessage } from '../../../shared/messaging/send.ts';
import { APP_NETWORK_DESTINATION, destinationNameOf } from '../../../shared/outbound/destination.ts';
import { putIfAbsent, update } from '../../../shared/table/client.ts';
import { statusReceiptKey } from '../../../shared/table/keys.ts';
import { traced } from '../../../shared/telemetry/trace.ts';
import { captureLog } from '../../support/captured-log.ts';
import { lifetime } from '../../support/lifetime.ts';
import { useAppReceiver } from '../support/app-receiver.ts';
import { useOwnTable } from '../support/own-table.ts';
import type { Answer } from '../support/receiver.ts';
import { newAccountId, newPhone } from '../support/world.ts';

/** Milliseconds of a minute of the schedule here. Waits of seconds are real: 1.5 s are 25 ms. */
const MINUTE = 1_000;
const LIFETIME = 3 * 24 * 60 * MINUTE;
const NOW = Date.UTC(2030, 0, 1);
const SECRET = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;

useOwnTable('delivery-log');

const receiver = useAppReceiver();
const written = captureLog();

beforeEach(() => {
  vi.stubEnv('MINUTE', String(MINUTE));
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
});

afterEach(async () => {
  vi.useRealTimers();
  await resetCircuit(APP_NETWORK_DESTINATION);
});

const text = (to: string, body = 'Hello') => ({ to, type: 'text' as const, text: { body } });

/** A user and a business, and messages to that user that wait; answers their ids. */
const waiting = async (...bodies: string[]) => {
  const { id: account } = await createAccount({ name: 'Test', id: newAccountId(), bot_number: newPhone() });
  const conversation: Conversation = { direction: 'app', account, phone: newPhone() };
  const ids: string[] = [];
  for (const body of bodies) ids.push(await sendMessage(account, text(conversation.phone, body), {}));
  return { conversation, account, ids };
};

/** A user's message that waits for a platform at the receiver. */
const waitingForPlatform = async (platform: AccountPlatform) => {
  const bot = newPhone();
  const { id: account } = await createAccount({ name: 'Test', id: newAccountId(), bot_number: bot });
  await updateAccount(account, { platform });
  const phone = newPhone();
  await receiveMessage(`event of ${phone}`, { from: phone, ...text(bot) });
  const conversation: Conversation = { direction: 'platform', account, phone };
  return { conversation, account };
};

const run = (conversation: Conversation, remaining = 60_000) => deliver(conversation, () => remaining);

/** All lines but that something was accepted. */
const lines = () => written.map((line) => JSON.parse(line)).filter(({ message }) => message !== 'accepted');

const isEmpty = async (conversation: Conversation): Promise<boolean> =>
  (await readHead(conversation)) === undefined && (await oldestEntries(conversation)).entries.length === 0;

describe('a line tells', () => {
  test('that a message was delivered, and after how long', async () => {
    const { conversation, account, ids } = await waiting('one');
    vi.setSystemTime(NOW + 5_000);
    await run(conversation);
    const [message_id] = ids;
    expect(lines()).toMatchObject([
      {
        level: 'info',
        message: 'delivered',
        type: 'message.send',
        account,
        message_id,
        delivered: 1,
        delivery_ms: 5_000,
      },
    ]);
  });

  test('that it took no time, where the clock of who accepted it is ahead', async () => {
    const { conversation } = await waiting('one');
    vi.setSystemTime(NOW - 5_000);
    await run(conversation);
    expect(lines()).toMatchObject([{ message: 'delivered', delivery_ms: 0 }]);
  });

  test.each<[string, Answer, string, string]>([
    ['a status', 404, 'status_404', 'status_4xx'],
    ['another one', 422, 'status_422', 'status_4xx'],
  ])('that it was given up, and why, in few words for figures: %s', async (_, answer, cause, reason) => {
    const { conversation, account, ids } = await waiting('one');
    receiver().answers = [answer];
    await run(conversation);
    const [message_id] = ids;
    expect(lines()).toMatchObject([
      { level: 'error', message: 'permanently failed', account, message_id, cause, reason, permanently_failed: 1 },
    ]);
  });

  test.each<[string, Answer, string, string]>([
    ['a status', 503, 'status_503', 'status_5xx'],
    ['no answer', (response) => response.destroy(), 'no_connection', 'no_connection'],
  ])('that it was put off, and why: %s', async (_, answer, cause, reason) => {
    const { conversation, account, ids } = await waiting('one');
    receiver().answers = [answer];
    await run(conversation);
    const [message_id] = ids;
    expect(lines()).toMatchObject([
      {
        level: 'warn',
        message: 'retry scheduled',
        account,
        message_id,
        cause,
        reason,
        attempts: 1,
        retries_scheduled: 1,
      },
    ]);
  });

  test('that a platform asked for fewer calls: nothing has failed', async () => {
    const { conversation, account } = await waitingForPlatform({
      name: 'turn',
      settings: { url: receiver().url, channel: 'channel', token: 'token' },
    });
    receiver().answers = [429];
    await run(conversation);
    expect(lines()).toMatchObject([
      { level: 'info', message: 'rate limited', account, cause: 'status_429', rate_limited: 1 },
    ]);
    expect(await readHead(conversation)).toMatchObject({ attempts: 0 });
  });

  test('that it was given up, where a platform asks for fewer calls of what has waited too long', async () => {
    const { conversation, account } = await waitingForPlatform({
      name: 'turn',
      settings: { url: receiver().url, channel: 'channel', token: 'token' },
    });
    receiver().answers = [429];
    vi.setSystemTime(NOW + LIFETIME);
    expect(await run(conversation)).toEqual({ settled: 1 });
    expect(lines()).toMatchObject([
      { message: 'permanently failed', account, cause: 'status_429', reason: 'status_4xx' },
    ]);
    expect(await acquire(destinationNameOf(conversation))).toMatchObject({ cause: 'rate_limited' });
  });

  test('that nobody is to be told', async () => {
    const { conversation, account } = await waitingForPlatform({
      name: 'webhook',
      settings: { url: receiver().url, secret: SECRET },
    });
    await updateAccount(account, { platform: null });
    await run(conversation);
    expect(lines()).toMatchObject([{ level: 'info', message: 'skipped', account }]);
  });

  test('what our own code fails at, when it fails permanently', async () => {
    const { conversation, account } = await waitingForPlatform({
      name: 'rapidpro',
      settings: { url: receiver().url },
    });
    const [first] = (await oldestEntries(conversation)).entries;
    if (first === undefined) throw new Error('Nothing waits.');
    await update({ Key: { pk: first.pk, sk: first.sk }, UpdateExpression: 'REMOVE outgoing.content' });
    vi.setSystemTime(NOW + LIFETIME);
    await recordFailure(destinationNameOf(conversation), 'closed');
    await run(conversation);
    // It says nothing of the receiver.
    expect(await acquire(destinationNameOf(conversation))).toBe('degraded');
    expect(lines()).toMatchObject([
      { level: 'error', message: 'internal error', account, error: 'TypeError' },
      { level: 'error', message: 'permanently failed', account, cause: 'unexpected_error', reason: 'unexpected_error' },
    ]);
  });
});

describe('an attempt is repeated after 1.5 s', () => {
  test.each<[string, Answer, number, number]>([
    ['where the receiver does not say when', 503, 60_000, 2],
    ['where it asks for less', { status: 503, headers: { 'retry-after': '0' } }, 60_000, 2],
    ['not where it asks for more', { status: 503, headers: { 'retry-after': '1' } }, 60_000, 1],
    ['not where no time is left for it', 503, 12_015, 1],
    ['where just enough is', 503, 12_035, 2],
  ])('%s', async (_, answer, remaining, calls) => {
    const { conversation } = await waiting('one');
    receiver().answers = [answer];
    expect(await run(conversation, remaining)).toMatchObject({ retry_scheduled: 'status_503' });
    expect(receiver().calls).toHaveLength(calls);
  });
});

describe('a destination that has an open circuit', () => {
  test('has failed no more often for what waits, or fails permanently, meanwhile', async () => {
    receiver().answers = [500];
    for (const _ of [1, 2, 3]) await run((await waiting('one')).conversation);
    const calls = receiver().calls.length;
    const { conversation, account, ids } = await waiting('one', 'two', 'three');
    expect(await run(conversation)).toEqual({ settled: 0, retry_scheduled: 'circuit_open' });
    expect(await findOpenCircuit(APP_NETWORK_DESTINATION)).toMatchObject({ failures: 3 });
    expect(await readHead(conversation)).toMatchObject({ attempts: 0, cause: 'circuit_open' });

    // It is tried by the first, and left alone for all others that have waited too long.
    vi.setSystemTime(NOW + LIFETIME);
    expect(await run(conversation)).toEqual({ settled: 3 });
    expect(receiver().calls.length).toBe(calls + 2);
    expect(await findOpenCircuit(APP_NETWORK_DESTINATION)).toMatchObject({ failures: 4 });
    const [, message_id] = ids;
    expect(lines().filter(({ message }) => message === 'permanently failed')).toMatchObject([
      { account, cause: 'status_500' },
      { account, message_id, cause: 'circuit_open', reason: 'circuit_open' },
      { account, cause: 'circuit_open' },
    ]);
  });
});

describe('a conversation', () => {
  test('that goes on has forgotten what failed before: the next failure is the first', async () => {
    const { conversation } = await waiting('one', 'two');
    receiver().answers = [503];
    await run(conversation);
    vi.setSystemTime(NOW + 2 * MINUTE);
    receiver().answers = [204, 503];
    expect(await run(conversation)).toEqual({ settled: 1, retry_scheduled: 'status_503' });
    expect(await readHead(conversation)).toMatchObject({ attempts: 1 });
  });

  test('that goes on is not looked at by the sweep for a minute', async () => {
    const { conversation } = await waiting('one', 'two');
    vi.setSystemTime(NOW + 5 * MINUTE);
    let head: Awaited<ReturnType<typeof readHead>>;
    receiver().answers = [
      204,
      async (response) => {
        head = await readHead(conversation);
        response.writeHead(204).end();
      },
    ];
    await run(conversation);
    expect(head).toMatchObject({ gsi1sk: sortableTime(NOW + 6 * MINUTE) });
    expect(await isEmpty(conversation)).toBe(true);
  });

  test('ends though the state that is to be logged is logged already', async () => {
    const { conversation, ids } = await waiting('one');
    const [id = ''] = ids;
    const story = await messageHistory(id);
    if (story === undefined) throw new Error('There is no message.');
    const { account, phone, job_id, payload_type } = story;
    const message = { id, account, phone, job_id, payload_type, ...lifetime };
    await putIfAbsent(logItem(message, 'delivered_to_server', '2030-01-01T00:00:01.000000'));
    expect(await run(conversation)).toEqual({ settled: 1 });
    expect(await isEmpty(conversation)).toBe(true);
    expect((await messageHistory(id))?.states.map(({ state }) => state)).toEqual(['sent', 'delivered_to_server']);
  });

  test('is in the order in which its messages were taken, though the clock of one instance is behind', async () => {
    const { conversation, account } = await waiting('one');
    vi.setSystemTime(NOW - 600_000);
    await sendMessage(account, text(conversation.phone, 'two'), {});
    await run(conversation);
    expect(receiver().calls.map(({ json }) => json.data.text.body)).toEqual(['one', 'two']);
  });

  test('holds the trace in which each entry was accepted', async () => {
    const { conversation, account } = await waiting('one');
    await traced('trace-1', () => sendMessage(account, text(conversation.phone, 'two'), {}));
    const { entries } = await oldestEntries(conversation);
    expect(entries.map(({ trace_id }) => trace_id)).toEqual([undefined, 'trace-1']);
    await run(conversation);
    expect(lines().map(({ trace_id }) => trace_id)).toEqual([undefined, 'trace-1']);
  });

  test('is due at its time, and before that it is later work', async () => {
    const { conversation } = await waiting('one');
    const head = await readHead(conversation);
    const isIn = async (work: AsyncGenerator<{ pk: string }[]>): Promise<boolean> => {
      for await (const items of work) if (items.some(({ pk }) => pk === head?.pk)) return true;
      return false;
    };
    const due = head?.gsi1sk ?? '';
    const before = sortableTime(Date.parse(due) - 1);
    expect([await isIn(dueWork(due)), await isIn(laterWork(due))]).toEqual([true, false]);
    expect([await isIn(dueWork(before)), await isIn(laterWork(before))]).toEqual([false, true]);
  });
});

test('what a platform was told is news again when the note of it has expired', async () => {
  const state = { id: 'id-1', generation: 0, state: 'sent', neverAfter: ['delivered'] };
  const telling = { ...state, accepted: timestampOf(NOW), pauseMs: 0, expires_at: NOW / 1_000 + 60 };
  const account = newAccountId();
  const isNews = async () => (await checkReported(account, telling)).isNew;
  expect(await isNews()).toBe(true);
  await putIfAbsent({ ...statusReceiptKey(account, 'id-1', 0, 'delivered'), expires_at: NOW / 1_000 + 60 });
  expect(await isNews()).toBe(false);
  vi.setSystemTime(NOW + 60_000);
  expect(await isNews()).toBe(true);
});

test.each([
  [1, 0, undefined, 0.8],
  [1, 1, undefined, 1.2],
  [4, 0.5, undefined, 30],
  [9, 0.5, undefined, 360],
  [1, 0, 1.5, 1.5],
  [1, 0, 60, 2],
])(
  'after %i failures, the next attempt is a step later, a fifth more or less, or as the destination asks',
  (failures, random, asked, minutes) => {
    vi.spyOn(Math, 'random').mockReturnValue(random);
    expect(nextAttempt(failures, asked === undefined ? undefined : asked * MINUTE)).toBeCloseTo(NOW + minutes * MINUTE);
  },
);
