/**
 * Messages that end before their delivery: those of cancelled jobs, and those whose time is over. Step by step.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { setPause } from '../../../../shared/delivery/circuit-breaker.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { destinationNameOf } from '../../../../shared/destinations/destination.ts';
import { cancelJob } from '../../../../shared/messaging/jobs/cancel.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { conversationName, headKey, isEntryKey } from '../../../../shared/outbox/entities.ts';
import { oldestEntries } from '../../../../shared/outbox/entries.ts';
import type { Conversation } from '../../../../shared/outbox/event.ts';
import { readHead, scheduleRetry } from '../../../../shared/outbox/head.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { useAppNetworkServer } from '../../support/app-network-server.ts';
import { consumedBy } from '../../support/consumed.ts';
import { hang } from '../../support/destination-server.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { statesWithReasons } from '../../support/states.ts';
import { useStoppedClock } from '../../support/stopped-clock.ts';
import { dueItems } from '../../support/whole-table.ts';
import { newAccount, newPhone } from '../../support/world.ts';

const SECOND = 1_000;
const NOW = Date.UTC(2030, 0, 1);

useOwnTable('early-ends');

const written = captureLog();
const destination = useAppNetworkServer();

useStoppedClock(NOW, 60 * SECOND);

const newConversation = async (): Promise<Conversation> => ({
  direction: 'app',
  account: await newAccount(),
  phone: newPhone(),
});

type Options = Parameters<typeof sendMessage>[2];

const send = ({ account, phone }: Conversation, options: Options = {}): Promise<string> =>
  sendMessage(account, { to: phone, type: 'text', text: { body: 'Hello' } }, options);

/** The sort keys of the conversation's entries that are due at a time, in milliseconds since 1970. */
const endedOf = async (conversation: Conversation, time = Date.now()): Promise<string[]> => {
  const { pk: outbox } = headKey(conversationName(conversation));
  const due = await dueItems('conversations', new Date(time).toISOString());
  return due.filter((item) => isEntryKey(item) && item.pk === outbox).map(({ sk }) => sk);
};

/** A wake-up of `sweep`. */
const run = async (conversation: Conversation, remaining = () => 60_000) =>
  deliver(conversation, remaining, { ended: await endedOf(conversation), cancelled: true });

const CANCELLED = ['sent', 'sending_failed: cancelled'];
const EXPIRED = ['sent', 'sending_failed: expired'];
const DELIVERED = ['sent', 'delivered_to_server'];

/** The ids of the messages that the app network received, in order. */
const received = (): string[] => destination().calls.map(({ json }) => json.data.id);

/** Schedules a retry of a conversation in an hour, as after failed attempts. */
const failOnce = async (conversation: Conversation): Promise<void> => {
  const head = await readHead(conversation);
  const [oldest] = (await oldestEntries(conversation)).entries;
  if (head === undefined || oldest === undefined) throw new Error('Nothing is pending.');
  const until = Date.now() + 3_600 * SECOND;
  await scheduleRetry(head, { until, since: head.created, failed: oldest.id, cause: 'timeout', attempts: 5 });
};

/** Two states in which no attempt is made for an hour. */
const withoutAttempts = [
  ['a retry is scheduled', failOnce],
  [
    'the destination is paused',
    (conversation: Conversation) => setPause(destinationNameOf(conversation), Date.now() + 3_600 * SECOND),
  ],
] as const;

describe('a message of a cancelled job', () => {
  test('is not sent, and one without the job is', async () => {
    const conversation = await newConversation();
    const job_id = randomUUID();
    const ids = [await send(conversation, { job_id }), await send(conversation), await send(conversation, { job_id })];
    await cancelJob(conversation.account, job_id);
    expect(await run(conversation)).toEqual({ settled: 3 });
    expect(received()).toEqual([ids[1]]);
    expect(await Promise.all(ids.map(statesWithReasons))).toEqual([CANCELLED, DELIVERED, CANCELLED]);
    expect(written.filter((line) => line.includes('permanently failed'))).toEqual([]);
    expect(written.filter((line) => line.includes('ended early')).map((line) => JSON.parse(line))).toMatchObject(
      Array(2).fill({ level: 'info', reason: 'cancelled', ended_early: 1 }),
    );
  });

  test.each(withoutAttempts)('ends while %s, wherever it is in its conversation', async (_, prevent) => {
    const conversation = await newConversation();
    const job_id = randomUUID();
    const first = await send(conversation);
    await prevent(conversation);
    // More than a page of entries.
    const later: string[] = [];
    for (let count = 0; count < 11; count += 1) later.push(await send(conversation));
    const own = await send(conversation, { job_id });
    await cancelJob(conversation.account, job_id);
    expect(await run(conversation)).toMatchObject({ settled: 1 });
    expect(await statesWithReasons(own)).toEqual(CANCELLED);
    expect(received()).toEqual([]);
    expect(await Promise.all([first, ...later].map(statesWithReasons))).toEqual(Array(12).fill(['sent']));
  });

  test('makes way, if its attempts failed, for the message behind it', async () => {
    const conversation = await newConversation();
    const job_id = randomUUID();
    const own = await send(conversation, { job_id });
    const next = await send(conversation);
    await failOnce(conversation);
    await cancelJob(conversation.account, job_id);
    expect(await run(conversation)).toEqual({ settled: 2 });
    expect(await Promise.all([own, next].map(statesWithReasons))).toEqual([CANCELLED, DELIVERED]);
    expect(await readHead(conversation)).toBeUndefined();
  });

  test('leaves no head behind if nothing else is pending', async () => {
    const conversation = await newConversation();
    const job_id = randomUUID();
    await send(conversation, { job_id });
    await failOnce(conversation);
    await cancelJob(conversation.account, job_id);
    expect(await run(conversation)).toEqual({ settled: 1 });
    expect(await readHead(conversation)).toBeUndefined();
  });

  test('has the state of an attempt that is under way, and no second attempt', async () => {
    const conversation = await newConversation();
    const job_id = randomUUID();
    const id = await send(conversation, { job_id });
    destination().answers = [
      async (response) => {
        await cancelJob(conversation.account, job_id);
        response.writeHead(204).end();
      },
    ];
    await run(conversation);
    expect(await statesWithReasons(id)).toEqual(DELIVERED);

    const other = randomUUID();
    const failing = await send(conversation, { job_id: other });
    destination().calls.length = 0;
    destination().answers = [
      async (response) => {
        await cancelJob(conversation.account, other);
        response.writeHead(503).end();
      },
    ];
    await run(conversation);
    expect(received()).toEqual([failing]);
    expect(await statesWithReasons(failing)).toEqual(CANCELLED);
  });

  test('waits for another worker if time runs out, which is reported as unfinished', async () => {
    const conversation = await newConversation();
    const job_id = randomUUID();
    for (const _ of ['one', 'two']) await send(conversation, { job_id });
    await failOnce(conversation);
    await cancelJob(conversation.account, job_id);
    const left = [60_000, 5_000];
    expect(await run(conversation, () => left.shift() ?? 0)).toEqual({ settled: 1, unfinished: true });
    expect(await run(conversation, () => 5_000)).toEqual({ settled: 0, unfinished: true, stalled: true });
    expect(await run(conversation)).toEqual({ settled: 1 });
  });

  test('is another one than a message of the same job of another account', async () => {
    const [mine, theirs] = [await newConversation(), await newConversation()];
    const job_id = randomUUID();
    const ids = [await send(mine, { job_id }), await send(theirs, { job_id })];
    await cancelJob(mine.account, job_id);
    await run(mine);
    await run(theirs);
    expect(await Promise.all(ids.map(statesWithReasons))).toEqual([CANCELLED, DELIVERED]);
  });
});

describe('a message that is valid for a limited time', () => {
  test.each([
    ['is delivered before', 60 * SECOND - 1, DELIVERED],
    ['is not delivered afterwards', 60 * SECOND, EXPIRED],
  ])('%s', async (_, later, states) => {
    const conversation = await newConversation();
    const id = await send(conversation, { valid_for: 60 });
    vi.setSystemTime(NOW + later);
    await run(conversation);
    expect(await statesWithReasons(id)).toEqual(states);
  });

  test.each(withoutAttempts)('ends while %s, each one at its own time', async (_, prevent) => {
    const conversation = await newConversation();
    const first = await send(conversation);
    await prevent(conversation);
    const [long, short] = [await send(conversation, { valid_for: 300 }), await send(conversation, { valid_for: 60 })];
    vi.setSystemTime(NOW + 60 * SECOND);
    await run(conversation);
    expect(await Promise.all([first, long, short].map(statesWithReasons))).toEqual([['sent'], ['sent'], EXPIRED]);
    vi.setSystemTime(NOW + 300 * SECOND);
    await run(conversation);
    expect(await Promise.all([first, long].map(statesWithReasons))).toEqual([['sent'], EXPIRED]);
    expect(received()).toEqual([]);
  });

  test('is due when its time is over, although its conversation waits longer, and not after its end', async () => {
    const conversation = await newConversation();
    await send(conversation);
    await failOnce(conversation);
    await send(conversation, { valid_for: 60 });
    expect(await endedOf(conversation, NOW + 60 * SECOND - 1)).toEqual([]);
    vi.setSystemTime(NOW + 60 * SECOND);
    expect(await endedOf(conversation)).toHaveLength(1);
    await run(conversation);
    expect(await endedOf(conversation)).toEqual([]);
  });

  test('ends later, and not twice, if the clock was set back', async () => {
    const conversation = await newConversation();
    const id = await send(conversation, { valid_for: 60 });
    await failOnce(conversation);
    vi.setSystemTime(NOW - 3_600 * SECOND);
    await run(conversation);
    expect(await statesWithReasons(id)).toEqual(['sent']);
    vi.setSystemTime(NOW + 60 * SECOND);
    await run(conversation);
    vi.setSystemTime(NOW);
    await run(conversation);
    expect(await statesWithReasons(id)).toEqual(EXPIRED);
    expect(received()).toEqual([]);
  });

  test('is delivered by an attempt that began before its end', async () => {
    const conversation = await newConversation();
    const id = await send(conversation, { valid_for: 60 });
    destination().answers = [
      (response) => {
        vi.setSystemTime(NOW + 61 * SECOND);
        response.writeHead(204).end();
      },
    ];
    await run(conversation);
    expect(await statesWithReasons(id)).toEqual(DELIVERED);
  });
});

test('a wake-up that names no such messages reads the head only while no attempt is due', async () => {
  const conversation = await newConversation();
  await send(conversation);
  await failOnce(conversation);
  destination().answers = [hang];
  expect(await consumedBy(() => deliver(conversation, () => 60_000))).toMatchObject({ calls: 1, table: 1 });
});

test('messages that are valid for a limited time cost a bounded number of units each, however many wait', async () => {
  const conversation = await newConversation();
  const count = 50;
  await send(conversation);
  await failOnce(conversation);
  for (let index = 0; index < count; index += 1) {
    await send(conversation, { valid_for: 60 * (index + 1) });
    // The wake-up of `relay` for this entry reads the head only.
    expect(await consumedBy(() => deliver(conversation, () => 60_000))).toMatchObject({ table: 1 });
  }
  for (let index = 0; index < count; index += 1) {
    vi.setSystemTime(NOW + 60 * SECOND * (index + 1));
    const ended = await endedOf(conversation);
    expect(ended).toHaveLength(1);
    // The head, the entry, the check and the end of the message; none of the others.
    const { table } = await consumedBy(async () => {
      expect(await deliver(conversation, () => 60_000, { ended })).toEqual({ settled: 1 });
    });
    expect(table).toBeLessThanOrEqual(12);
  }
});
