/**
 * Guarantees that hold although the clocks of function instances differ by minutes.
 *
 * @module-tag long
 */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { sortableTime } from '../../../../shared/core/clock.ts';
import { acquire, recordFailure } from '../../../../shared/delivery/circuit-breaker.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { ScheduledWork } from '../../../../shared/due-work/scheduled-work.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { conversationName, headKey, messageKey } from '../../../../shared/outbox/entities.ts';
import { oldestEntries } from '../../../../shared/outbox/entries.ts';
import type { Conversation } from '../../../../shared/outbox/event.ts';
import { readHead } from '../../../../shared/outbox/head.ts';
import type { LogItem } from '../../../../shared/outbox/message.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { countEntries, listJobs } from '../../../../shared/stats/job-counters.ts';
import { answerRequest } from '../../../../shared/user-data/request-answers.ts';
import { fetchRequest, startRequest } from '../../../../shared/user-data/requests.ts';
import { updateUser } from '../../../../shared/users/users.ts';
import { useAppNetworkServer } from '../../support/app-network-server.ts';
import { startInstance } from '../../support/instance.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { reportState } from '../../support/states.ts';
import { itemsOf } from '../../support/whole-table.ts';
import { newAccountId, newPhone } from '../../support/world.ts';

const MINUTE = 60_000;

useOwnTable('clock-skew');
const destination = useAppNetworkServer();

afterEach(() => void vi.useRealTimers());

/** Runs work on an instance with a clock that is `minutes` ahead. Negative minutes are behind. */
const ahead = async <Result>(minutes: number, work: () => Promise<Result>): Promise<Result> => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + minutes * MINUTE });
  try {
    return await work();
  } finally {
    vi.useRealTimers();
  }
};

const newConversation = async (): Promise<Conversation> => {
  const { id: account } = await createAccount({ name: 'Test', id: newAccountId(), bot_number: newPhone() });
  return { direction: 'app', account, phone: newPhone() };
};

const text = (to: string, body = 'Hello') => ({ to, type: 'text' as const, text: { body } });

const run = (conversation: Conversation) => deliver(conversation, () => 60_000);

const deliveredTexts = (): string[] => destination().calls.map(({ json }) => json.data.text.body);

/** Whether `sweep`, scheduled `minutes` from now, wakes a conversation. */
const isSwept = async (conversation: Conversation, minutes: number): Promise<boolean> => {
  for await (const due of new ScheduledWork('conversations', sortableTime(Date.now() + minutes * MINUTE)).due()) {
    if (due.some(({ pk }) => pk === headKey(conversationName(conversation)).pk)) return true;
  }
  return false;
};

describe('an instance with a clock that is ten minutes off', () => {
  test.each([
    ['ahead', 10],
    ['behind', -10],
  ])(
    'a message that was accepted with a clock ten minutes %s is delivered at the first wake-up',
    async (_, minutes) => {
      const conversation = await newConversation();
      await ahead(minutes, () => sendMessage(conversation.account, text(conversation.phone), {}));
      expect(await run(conversation)).toEqual({ settled: 1 });
      expect(await readHead(conversation)).toBeUndefined();
    },
  );

  test('sweep finds a message that was accepted with a fast clock later by the difference', async () => {
    const conversation = await newConversation();
    await ahead(10, () => sendMessage(conversation.account, text(conversation.phone), {}));
    expect(await isSwept(conversation, 9)).toBe(false);
    expect(await isSwept(conversation, 12)).toBe(true);
  });

  test('sweep finds a message that was accepted with a slow clock at once', async () => {
    const conversation = await newConversation();
    await ahead(-10, () => sendMessage(conversation.account, text(conversation.phone), {}));
    expect(await isSwept(conversation, 0)).toBe(true);
  });
});

test('the same idempotency key creates one message on instances with different clocks', async () => {
  const { account, phone } = await newConversation();
  const send = () => sendMessage(account, text(phone), { idempotencyKey: 'skewed' });
  const ids = [await ahead(10, send), await ahead(-10, send), await send()];
  expect(new Set(ids).size).toBe(1);
  const end = Math.ceil((Date.now() + 20 * MINUTE) / 1_000);
  expect((await listLogs(account, { phone, end }, 10)).entries).toHaveLength(1);
});

describe('a worker with a slow clock', () => {
  test('a worker with a slow clock makes a scheduled retry when its own clock reaches the time', async () => {
    const conversation = await newConversation();
    vi.stubEnv('MINUTE', '1000');
    await sendMessage(conversation.account, text(conversation.phone), {});
    destination().answers = [500, 500, 204];
    expect(await run(conversation)).toMatchObject({ retry_scheduled: 'status_500' });
    expect(await ahead(-10, () => run(conversation))).toEqual({ settled: 0 });
    expect(await ahead(2, () => run(conversation))).toEqual({ settled: 1 });
    vi.stubEnv('MINUTE', undefined);
    expect(deliveredTexts()).toEqual(['Hello', 'Hello', 'Hello']);
    expect(new Set(destination().calls.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  test('a worker with a slow clock counts each log entry of other instances once', async () => {
    const { account, phone } = await newConversation();
    const id = await ahead(10, () => sendMessage(account, text(phone), {}));
    await reportState(id, 'read');
    const entries = await itemsOf<LogItem>(messageKey(id));
    expect(await ahead(-10, () => countEntries(entries))).toBe(2);
    expect(await countEntries(entries)).toBe(0);
    const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);
    expect((await listJobs(account, day(-1), day(1))).map(({ state, count }) => [state, count])).toEqual([
      ['sent', 1],
      ['read', 1],
    ]);
  });
});

test('a circuit that an instance with a fast clock opened is probed later by the difference', async () => {
  const name = `platform#${newAccountId()}`;
  await ahead(10, async () => {
    for (let failures = 0; failures < 3; failures += 1) await recordFailure(name, 'degraded');
  });
  expect(await acquire(name)).toMatchObject({ until: expect.any(Number) });
  expect(await ahead(12, () => acquire(name))).toBe('half_open');
});

test('a user who was registered by an instance with a fast clock can answer a request', async () => {
  const { account, phone } = await newConversation();
  const property = { value: 'Ann', source: 'self' };
  const properties = { first_name: property, device_make: property };
  await ahead(10, () => updateUser(`registered ${phone}`, { phone_number: phone, properties }));
  const data = [
    { property: 'first_name' as const, required: false },
    { property: 'device_make' as const, required: false },
  ];
  const { id } = await startRequest(account, phone, { reason: 'Why not?', data }, undefined);
  expect(await answerRequest(id, { first_name: 'approved' })).toBeUndefined();
  expect(await fetchRequest(account, id)).toMatchObject({
    status: 'completed',
    results: { first_name: { status: 'approved' }, device_make: { status: 'approved' } },
  });
});

test('consecutive messages of a sender are delivered in order, even if instances with other clocks accept them', async () => {
  const conversation = await newConversation();
  const { account, phone } = conversation;
  const instances = [await startInstance(10 * MINUTE), await startInstance(-10 * MINUTE)];
  const bodies = ['one', 'two', 'three', 'four'];
  for (const [index, body] of bodies.entries()) await instances[index % 2]?.(account, phone, body);
  expect((await oldestEntries(conversation)).entries).toHaveLength(4);
  await run(conversation);
  expect(deliveredTexts()).toEqual(bodies);
});
