/**
 * Entries whose last attempt is due while no request may be made: they fail permanently, together.
 *
 * @module-tag long
 */
import { DeleteCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { messageHistory } from '../../../../infra/operator/queries/message-history.ts';
import { breakerOf } from '../../../../shared/delivery/breaker.ts';
import { setPause } from '../../../../shared/delivery/circuit-breaker.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { listDeliveries } from '../../../../shared/delivery/history/deliveries.ts';
import { destinationNameOf } from '../../../../shared/destinations/destination.ts';
import { sendFromPlatform } from '../../../../shared/messaging/platform-messages.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { oldestEntries } from '../../../../shared/outbox/entries.ts';
import type { Conversation, Entry } from '../../../../shared/outbox/event.ts';
import { readHead } from '../../../../shared/outbox/head.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { documents } from '../../../../shared/table/client.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { useAppNetworkServer } from '../../support/app-network-server.ts';
import { consumedBy } from '../../support/consumed.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { useStoppedClock } from '../../support/stopped-clock.ts';
import { newAccount, newPhone } from '../../support/world.ts';

const HOUR = 3_600_000;
const LIFETIME = 72 * HOUR;
const NOW = Date.UTC(2030, 0, 1);

useOwnTable('exhausted');

const written = captureLog();
const destination = useAppNetworkServer();

useStoppedClock(NOW, HOUR / 60);

afterEach(() => void vi.restoreAllMocks());

const newConversation = async (): Promise<Conversation> => ({
  direction: 'app',
  account: await newAccount(),
  phone: newPhone(),
});

/** Sends so many messages, one after the other. Returns their ids. */
const send = async ({ account, phone }: Conversation, count: number): Promise<string[]> => {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    ids.push(await sendMessage(account, { to: phone, type: 'text', text: { body: `${index}` } }, {}));
  }
  return ids;
};

/** Opens the circuit of a conversation's account. */
const openCircuit = async (conversation: Conversation): Promise<void> => {
  for (const phone of [newPhone(), newPhone(), newPhone()]) {
    await breakerOf({ ...conversation, phone }).recordFailure('closed');
  }
};

const lastDay = () => void vi.setSystemTime(NOW + LIFETIME + 1);

const run = (conversation: Conversation, remaining = () => 60_000) => deliver(conversation, remaining);

const endOf = async (id: string): Promise<unknown> => (await messageHistory(id))?.states.at(-1);

const FAILED = { state: 'sending_failed', reason_code: 'unreachable' };

/** How many entries each transaction removes. */
const watchRemovals = (): number[] => {
  const removals: number[] = [];
  const call = documents.send.bind(documents) as (command: object) => Promise<object>;
  vi.spyOn(documents, 'send').mockImplementation(async (command: object) => {
    const writes = command instanceof TransactWriteCommand ? (command.input.TransactItems ?? []) : [];
    const removed = writes.filter((write) => write.Delete !== undefined).length;
    if (removed > 0) removals.push(removed);
    return call(command);
  });
  return removals;
};

describe('after three days, while no request may be made,', () => {
  test.each([
    [320, 'the circuit is open', [10, 50, 50, 50, 50, 50, 50, 10], openCircuit, 'circuit_open'],
    [
      12,
      'the destination is paused',
      [10, 2],
      (conversation: Conversation) => setPause(destinationNameOf(conversation), NOW + LIFETIME + HOUR),
      'rate_limited',
    ],
  ])('all %i messages of a conversation fail together: %s', async (count, _, together, prevent, cause) => {
    const conversation = await newConversation();
    const ids = await send(conversation, count);
    lastDay();
    await prevent(conversation);
    const removals = watchRemovals();
    expect(await run(conversation)).toEqual({ settled: count });
    expect(removals).toEqual(together);
    expect(destination().calls).toEqual([]);
    for (const id of [ids[0], ids[9], ids[10], ids.at(-1)]) expect(await endOf(id ?? '')).toMatchObject(FAILED);
    const lines = written.map((line) => JSON.parse(line)).filter(({ message }) => message === 'permanently failed');
    expect(lines.map(({ cause: its }) => its)).toEqual(Array(count).fill(cause));
    expect(await readHead(conversation)).toBeUndefined();
  });

  test('as soon as three messages have failed by an attempt, the others fail together', async () => {
    const conversation = await newConversation();
    await send(conversation, 20);
    lastDay();
    destination().answers = [503];
    // The second try follows after seconds.
    vi.stubEnv('MINUTE', '1000');
    const removals = watchRemovals();
    expect(await run(conversation)).toEqual({ settled: 20 });
    // Two tries of each.
    expect(destination().calls).toHaveLength(6);
    expect(removals).toEqual([1, 1, 1, 7, 10]);
  });

  test('a younger message waits, and the conversation is retried', async () => {
    const conversation = await newConversation();
    const old = await send(conversation, 2);
    vi.setSystemTime(NOW + 2);
    const [young = ''] = await send(conversation, 1);
    lastDay();
    await openCircuit(conversation);
    expect(await run(conversation)).toEqual({ settled: 2, retry_scheduled: 'circuit_open' });
    for (const id of old) expect(await endOf(id)).toMatchObject(FAILED);
    expect(await endOf(young)).toMatchObject({ state: 'sent' });
    expect((await readHead(conversation))?.failed).toBe((await oldestEntries(conversation)).entries[0]?.id);
  });

  test('a message that was settled in the meantime does not prevent the end of the others, and ends once', async () => {
    const conversation = await newConversation();
    const ids = await send(conversation, 3);
    lastDay();
    await openCircuit(conversation);
    const { entries } = await oldestEntries(conversation);
    const call = documents.send.bind(documents) as (command: object) => Promise<object>;
    let isFirst = true;
    vi.spyOn(documents, 'send').mockImplementation(async (command: object) => {
      if (command instanceof TransactWriteCommand && isFirst) {
        isFirst = false;
        const { pk, sk } = entries[1] as Entry;
        await call(new DeleteCommand({ TableName: process.env.TABLE_NAME, Key: { pk, sk } }));
      }
      return call(command);
    });
    expect(await run(conversation)).toEqual({ settled: 2 });
    expect(await endOf(ids[0] ?? '')).toMatchObject(FAILED);
    expect(await endOf(ids[1] ?? '')).toMatchObject({ state: 'sent' });
    expect(await endOf(ids[2] ?? '')).toMatchObject(FAILED);
  });

  test('a message whose states are reported is settled by itself, with its report', async () => {
    const conversation = await newConversation();
    const { account, phone } = conversation;
    await updateAccount(account, {
      platform: { name: 'rapidpro', settings: { url: destination().url } },
    });
    await send(conversation, 2);
    const content = { to: phone, type: 'text', text: { body: 'Hello' } } as const;
    const id = await sendFromPlatform(account, 'rapidpro', { ...content, reference: '1' });
    lastDay();
    await openCircuit(conversation);
    const removals = watchRemovals();
    expect(await run(conversation)).toEqual({ settled: 3 });
    expect(removals).toEqual([2, 1]);
    expect(await endOf(id)).toMatchObject(FAILED);
    const reports = await oldestEntries({ ...conversation, direction: 'platform', reports: true });
    expect(reports.entries.map(({ outgoing }) => outgoing)).toMatchObject([{ state: 'sending_failed' }]);
  });

  test('each costs 4 write units', async () => {
    const conversation = await newConversation();
    await send(conversation, 10);
    lastDay();
    await openCircuit(conversation);
    const { written: units } = await consumedBy(() => run(conversation));
    // The head is resumed, and then removed.
    expect(units - 10 * 4).toBeLessThanOrEqual(2);
  });

  test('too little time leaves all messages, and the next wake-up continues', async () => {
    const conversation = await newConversation();
    await send(conversation, 2);
    lastDay();
    await openCircuit(conversation);
    expect(await run(conversation, () => 5_000)).toEqual({ settled: 0, unfinished: true, stalled: true });
    expect((await oldestEntries(conversation)).entries).toHaveLength(2);
    expect(await run(conversation)).toEqual({ settled: 2 });
  });

  test("users' messages to a webhook fail together, and each has its failed delivery in the history", async () => {
    const { account, phone } = await newConversation();
    const bot = newPhone();
    await updateAccount(account, {
      bot_number: bot,
      platform: { name: 'webhook', settings: { url: destination().url, secret: 'whsec_c2VjcmV0' } },
    });
    const conversation: Conversation = { direction: 'platform', account, phone };
    for (const body of ['one', 'two', 'three']) {
      await receiveMessage(body, { from: phone, to: bot, type: 'text', text: { body } });
    }
    lastDay();
    await openCircuit(conversation);
    const removals = watchRemovals();
    expect(await run(conversation)).toEqual({ settled: 3 });
    expect(removals).toEqual([3]);
    const { deliveries } = await listDeliveries(account, {}, 10);
    expect(deliveries).toMatchObject(Array(3).fill({ status: 'failed', error: 'circuit_open', attempt: 0 }));
    for (const without of deliveries) expect(without).not.toHaveProperty('duration_ms');
    const states = (await listLogs(account, { phone }, 10)).entries.map(({ state }) => state);
    expect(states.filter((state) => state === 'reception_failed_http')).toHaveLength(3);
  });
});
