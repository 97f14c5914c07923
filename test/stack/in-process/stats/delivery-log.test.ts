/**
 * The log lines of delivery: one line for each attempt result, with the values for the metrics.
 *
 * @module-tag long
 */
import { describe, expect, test, vi } from 'vitest';
import {
  type AccountPlatform,
  createAccount,
  updateAccount,
} from '../../../../infra/operator/queries/accounts-admin.ts';
import { messageHistory } from '../../../../infra/operator/queries/message-history.ts';
import { findOpenCircuit } from '../../../../infra/operator/queries/outbox-inspection.ts';
import { sortableTime, timestampOf } from '../../../../shared/core/clock.ts';
import { acquire, recordFailure } from '../../../../shared/delivery/circuit-breaker.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { checkReported } from '../../../../shared/delivery/status-receipts.ts';
import { destinationNameOf } from '../../../../shared/destinations/destination.ts';
import { ScheduledWork } from '../../../../shared/due-work/scheduled-work.ts';
import { statusReceiptKey } from '../../../../shared/messaging/entities.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { conversationName, headKey } from '../../../../shared/outbox/entities.ts';
import { oldestEntries } from '../../../../shared/outbox/entries.ts';
import type { Conversation } from '../../../../shared/outbox/event.ts';
import { readHead } from '../../../../shared/outbox/head.ts';
import { logItem } from '../../../../shared/outbox/message.ts';
import { putIfAbsent } from '../../../../shared/table/client.ts';
import { traced } from '../../../../shared/telemetry/trace.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { lifetime } from '../../../support/lifetime.ts';
import { useAppNetworkServer } from '../../support/app-network-server.ts';
import { breakOldestEntry } from '../../support/broken-entry.ts';
import type { Answer } from '../../support/destination-server.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { useStoppedClock } from '../../support/stopped-clock.ts';
import { newAccountId, newPhone } from '../../support/world.ts';

/** The length of a minute in milliseconds. Pauses shrink in proportion: 1.5 s takes 25 ms. */
const MINUTE = 1_000;
const LIFETIME = 3 * 24 * 60 * MINUTE;
const NOW = Date.UTC(2030, 0, 1);
const SECRET = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;

useOwnTable('delivery-log');

const destination = useAppNetworkServer();
const written = captureLog();

useStoppedClock(NOW, MINUTE);

const text = (to: string, body = 'Hello') => ({ to, type: 'text' as const, text: { body } });

/** Creates a user, a business, and pending messages to the user. Returns the ids of the messages. */
const newPendingMessages = async (...bodies: string[]) => {
  const { id: account } = await createAccount({ name: 'Test', id: newAccountId(), bot_number: newPhone() });
  const conversation: Conversation = { direction: 'app', account, phone: newPhone() };
  const ids: string[] = [];
  for (const body of bodies) ids.push(await sendMessage(account, text(conversation.phone, body), {}));
  return { conversation, account, ids };
};

/** Creates a user's message that is pending for a platform. The destination is the platform's server. */
const newPendingForPlatform = async (platform: AccountPlatform) => {
  const bot = newPhone();
  const { id: account } = await createAccount({ name: 'Test', id: newAccountId(), bot_number: bot });
  await updateAccount(account, { platform });
  const phone = newPhone();
  await receiveMessage(`event of ${phone}`, { from: phone, ...text(bot) });
  const conversation: Conversation = { direction: 'platform', account, phone };
  return { conversation, account };
};

const run = (conversation: Conversation, remaining = 60_000) => deliver(conversation, () => remaining);

/** All log lines, without lines about accepted messages. */
const lines = () => written.map((line) => JSON.parse(line)).filter(({ message }) => message !== 'accepted');

const isEmpty = async (conversation: Conversation): Promise<boolean> =>
  (await readHead(conversation)) === undefined && (await oldestEntries(conversation)).entries.length === 0;

describe('the log line of an attempt', () => {
  test('a delivered message is logged with its delivery time', async () => {
    const { conversation, account, ids } = await newPendingMessages('one');
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

  test('the delivery time is 0 if the message was accepted by an instance with a fast clock', async () => {
    const { conversation } = await newPendingMessages('one');
    vi.setSystemTime(NOW - 5_000);
    await run(conversation);
    expect(lines()).toMatchObject([{ message: 'delivered', delivery_ms: 0 }]);
  });

  test('a permanently failed message is logged with its cause and the reason for metrics', async () => {
    const { conversation, account, ids } = await newPendingMessages('one');
    destination().answers = [404];
    await run(conversation);
    const [message_id] = ids;
    const reasons = { cause: 'status_404', reason: 'status_4xx' };
    expect(lines()).toMatchObject([
      { level: 'error', message: 'permanently failed', account, message_id, ...reasons, permanently_failed: 1 },
    ]);
  });

  test.each<[string, Answer, string, string]>([
    ['status 503', 503, 'status_503', 'status_5xx'],
    ['a closed connection', (response) => response.destroy(), 'no_connection', 'no_connection'],
  ])('a scheduled retry is logged with its cause: %s', async (_, answer, cause, reason) => {
    const { conversation, account, ids } = await newPendingMessages('one');
    destination().answers = [answer];
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

  test('a 429 of a platform is logged as rate limited, and does not count as a failed attempt', async () => {
    const { conversation, account } = await newPendingForPlatform({
      name: 'turn',
      settings: { url: destination().url, channel: 'channel', token: 'token' },
    });
    destination().answers = [429];
    await run(conversation);
    expect(lines()).toMatchObject([
      { level: 'info', message: 'rate limited', account, cause: 'status_429', rate_limited: 1 },
    ]);
    expect(await readHead(conversation)).toMatchObject({ attempts: 0 });
  });

  test('a 429 for a message of three days is logged as permanently failed, and pauses the destination', async () => {
    const { conversation, account } = await newPendingForPlatform({
      name: 'turn',
      settings: { url: destination().url, channel: 'channel', token: 'token' },
    });
    destination().answers = [429];
    vi.setSystemTime(NOW + LIFETIME);
    expect(await run(conversation)).toEqual({ settled: 1 });
    expect(lines()).toMatchObject([
      { message: 'permanently failed', account, cause: 'status_429', reason: 'status_4xx' },
    ]);
    expect(await acquire(destinationNameOf(conversation))).toMatchObject({ cause: 'rate_limited' });
  });

  test('an entry without a platform waits, and has no log line', async () => {
    const { conversation, account } = await newPendingForPlatform({
      name: 'webhook',
      settings: { url: destination().url, secret: SECRET },
    });
    await updateAccount(account, { platform: null });
    await run(conversation);
    expect(lines()).toEqual([]);
    expect(await readHead(conversation)).toMatchObject({ state: 'waiting' });
  });

  test('an internal error is logged, and after three days also as permanently failed', async () => {
    const { conversation, account } = await newPendingForPlatform({
      name: 'rapidpro',
      settings: { url: destination().url },
    });
    await breakOldestEntry(conversation);
    vi.setSystemTime(NOW + LIFETIME);
    await recordFailure(destinationNameOf(conversation), 'closed');
    await run(conversation);
    // An internal error does not change the circuit of the destination.
    expect(await acquire(destinationNameOf(conversation))).toBe('degraded');
    expect(lines()).toMatchObject([
      { level: 'error', message: 'internal error', account, error: 'TypeError' },
      { level: 'error', message: 'permanently failed', account, cause: 'unexpected_error', reason: 'unexpected_error' },
    ]);
  });
});

describe('the retry after 1.5 s', () => {
  test.each<[string, Answer, number, number]>([
    ['is made without Retry-After', 503, 60_000, 2],
    ['is made with a shorter Retry-After', { status: 503, headers: { 'retry-after': '0' } }, 60_000, 2],
    ['is not made with a longer Retry-After', { status: 503, headers: { 'retry-after': '1' } }, 60_000, 1],
    ['is not made when the function has no time left', 503, 12_015, 1],
    ['is made when the function has just enough time left', 503, 12_035, 2],
  ])('a retry after 1.5 s %s', async (_, answer, remaining, calls) => {
    const { conversation } = await newPendingMessages('one');
    destination().answers = [answer];
    expect(await run(conversation, remaining)).toMatchObject({ retry_scheduled: 'status_503' });
    expect(destination().calls).toHaveLength(calls);
  });
});

describe('a destination with an open circuit', () => {
  test('entries that wait or fail permanently while the circuit is open do not count as failures', async () => {
    destination().answers = [500];
    const { conversation, account, ids } = await newPendingMessages('one', 'two', 'three');
    for (const phone of [newPhone(), newPhone(), newPhone()]) {
      await sendMessage(account, text(phone), {});
      await run({ ...conversation, phone });
    }
    const calls = destination().calls.length;
    expect(await run(conversation)).toEqual({ settled: 0, retry_scheduled: 'circuit_open' });
    expect(await findOpenCircuit(destinationNameOf(conversation))).toMatchObject({ failures: 3 });
    expect(await readHead(conversation)).toMatchObject({ attempts: 0, cause: 'circuit_open' });

    // Only the first expired entry probes the destination. The others fail without an attempt.
    vi.setSystemTime(NOW + LIFETIME);
    expect(await run(conversation)).toEqual({ settled: 3 });
    expect(destination().calls.length).toBe(calls + 2);
    expect(await findOpenCircuit(destinationNameOf(conversation))).toMatchObject({ failures: 4 });
    const [, message_id] = ids;
    expect(lines().filter(({ message }) => message === 'permanently failed')).toMatchObject([
      { account, cause: 'status_500' },
      { account, message_id, cause: 'circuit_open', reason: 'circuit_open' },
      { account, cause: 'circuit_open' },
    ]);
  });
});

describe('a conversation', () => {
  test('a delivery resets the failures of a conversation, so the next failure counts as the first', async () => {
    const { conversation } = await newPendingMessages('one', 'two');
    destination().answers = [503];
    await run(conversation);
    vi.setSystemTime(NOW + 2 * MINUTE);
    destination().answers = [204, 503];
    expect(await run(conversation)).toEqual({ settled: 1, retry_scheduled: 'status_503' });
    expect(await readHead(conversation)).toMatchObject({ attempts: 1 });
  });

  test('a delivery moves the due time of its conversation by a minute, so sweep does not wake it', async () => {
    const { conversation } = await newPendingMessages('one', 'two');
    vi.setSystemTime(NOW + 5 * MINUTE);
    let head: Awaited<ReturnType<typeof readHead>>;
    destination().answers = [
      204,
      async (response) => {
        head = await readHead(conversation);
        response.writeHead(204).end();
      },
    ];
    await run(conversation);
    expect(head).toMatchObject({ dueAt: sortableTime(NOW + 6 * MINUTE) });
    expect(await isEmpty(conversation)).toBe(true);
  });

  test('a conversation ends even if the state of its message is already logged', async () => {
    const { conversation, ids } = await newPendingMessages('one');
    const [id = ''] = ids;
    const story = await messageHistory(id);
    if (story === undefined) throw new Error('The message is missing.');
    const { account, phone, job_id, payload_type } = story;
    const message = { id, account, phone, job_id, payload_type, ...lifetime };
    await putIfAbsent(logItem(message, 'delivered_to_server', '2030-01-01T00:00:01.000000'));
    expect(await run(conversation)).toEqual({ settled: 1 });
    expect(await isEmpty(conversation)).toBe(true);
    expect((await messageHistory(id))?.states.map(({ state }) => state)).toEqual(['sent', 'delivered_to_server']);
  });

  test('each entry, and the line of its delivery, contains the trace id of its request', async () => {
    const { conversation, account } = await newPendingMessages('one');
    await traced('trace-1', () => sendMessage(account, text(conversation.phone, 'two'), {}));
    const { entries } = await oldestEntries(conversation);
    expect(entries.map(({ trace_id }) => trace_id)).toEqual([undefined, 'trace-1']);
    await run(conversation);
    expect(lines().map(({ trace_id }) => trace_id)).toEqual([undefined, 'trace-1']);
  });

  test('a conversation is due work from its due time on, and not before', async () => {
    const { conversation } = await newPendingMessages('one');
    const head = await readHead(conversation);
    const isIn = async (work: AsyncGenerator<{ pk: string }[]>): Promise<boolean> => {
      for await (const items of work)
        if (items.some(({ pk }) => pk === headKey(conversationName(conversation)).pk)) return true;
      return false;
    };
    const due = head?.dueAt ?? '';
    const before = sortableTime(Date.parse(due) - 1);
    for (const [time, expected] of [
      [due, true],
      [before, false],
    ] as const) {
      expect(await isIn(new ScheduledWork('conversations', time).due())).toBe(expected);
    }
  });
});

test('a status is new again after its status receipt has expired', async () => {
  const state = { id: 'id-1', message: 'message-1', generation: 0, state: 'sent', neverAfter: ['delivered'] };
  const receipt = { ...state, accepted: timestampOf(NOW), pauseMs: 0, expires_at: NOW / 1_000 + 60 };
  const account = newAccountId();
  const isNews = async () => (await checkReported(account, receipt)).isNew;
  expect(await isNews()).toBe(true);
  await putIfAbsent({
    ...statusReceiptKey(account, 'id-1', 0, 'delivered'),
    reported: NOW,
    expires_at: NOW / 1_000 + 60,
  });
  expect(await isNews()).toBe(false);
  vi.setSystemTime(NOW + 60_000);
  expect(await isNews()).toBe(true);
});
