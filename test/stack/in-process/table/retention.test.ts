/**
 * All rows of a message expire together. Then its idempotency key can be used again.
 *
 * @module-tag long
 */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type AccountPlatform,
  createAccount,
  updateAccount,
} from '../../../../infra/operator/queries/accounts-admin.ts';
import { resetCircuit } from '../../../../infra/operator/queries/outbox-inspection.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { APP_NETWORK_DESTINATION } from '../../../../shared/destinations/destination.ts';
import { rapidpro } from '../../../../shared/destinations/rapidpro.ts';
import { sendFromPlatform } from '../../../../shared/messaging/platform-messages.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { stateKey } from '../../../../shared/outbox/entities.ts';
import { oldestEntries } from '../../../../shared/outbox/entries.ts';
import type { Direction } from '../../../../shared/outbox/event.ts';
import type { LogItem } from '../../../../shared/outbox/message.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { countEntries, listJobs } from '../../../../shared/stats/job-counters.ts';
import { eraseUser } from '../../../../shared/user-data/erasure.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { useAppNetworkServer } from '../../support/app-network-server.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { reportState } from '../../support/states.ts';
import { itemsIn } from '../../support/whole-table.ts';
import { newAccountId, newPhone } from '../../support/world.ts';
import { restoreTable } from '../failing-calls/table.ts';

const NOW = Date.UTC(2030, 0, 1);
const DAY = 86_400_000;
/** The retention periods of these tests in days. */
const [MESSAGES, COUNTERS] = [90, 400];

useOwnTable('retention');
const destination = useAppNetworkServer();
captureLog();

beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }));
afterEach(async () => {
  vi.useRealTimers();
  await resetCircuit(APP_NETWORK_DESTINATION);
});

/** Sets the clock to `days` days after the start. */
const onDay = (days: number): void => void vi.setSystemTime(NOW + days * DAY);

const newBusiness = async (platform?: AccountPlatform) => {
  const { id: account } = await createAccount({ name: 'Test', id: newAccountId(), bot_number: newPhone() });
  if (platform) await updateAccount(account, { platform });
  return { account, phone: newPhone() };
};

const text = (to: string) => ({ to, type: 'text' as const, text: { body: 'Hello' } });

const run = (direction: Direction, { account, phone }: { account: string; phone: string }) =>
  deliver({ direction, account, phone }, () => 60_000);

const rowsOf = async (message: string): Promise<LogItem[]> =>
  (await itemsIn()).flatMap((item) => (item.pk === stateKey(message, '').pk ? [item as unknown as LogItem] : []));

/** The expiry of each row of a message by state, in days after the start. */
const expiries = async (message: string) =>
  Object.fromEntries((await rowsOf(message)).map(({ state, expires_at }) => [state, (expires_at * 1_000 - NOW) / DAY]));

/** Removes rows of a message. TTL too removes rows independently, up to two days late. */
const removeByTtl = async (message: string, isRemoved: (row: LogItem) => boolean): Promise<void> => {
  const found = await itemsIn();
  const gone = new Set((await rowsOf(message)).filter(isRemoved).map(({ sk }) => sk));
  const kept = found.filter(({ pk, sk }) => pk !== stateKey(message, '').pk || !gone.has(sk));
  await restoreTable(kept, found);
};

describe('the rows of a message', () => {
  test('rows of late states expire together with the message', async () => {
    const business = await newBusiness();
    const id = await sendMessage(business.account, text(business.phone), {});
    onDay(2);
    await run('app', business);
    onDay(80);
    await reportState(id, 'read');
    expect(await expiries(id)).toEqual({ sent: MESSAGES, delivered_to_server: MESSAGES, read: MESSAGES });
  });

  test('rows of states that the platform receives, and their status receipts, expire together with the message', async () => {
    const url = 'https://rapidpro.example.com/c/ex/1/receive';
    const business = await newBusiness({ name: 'rapidpro', settings: { url } });
    const id = await sendFromPlatform(business.account, 'rapidpro', { ...text(business.phone), reference: '21' });
    onDay(2);
    await run('app', business);
    const { entries } = await oldestEntries({ direction: 'platform', ...business, reports: true });
    const [entry] = entries;
    if (entry === undefined) throw new Error('No status is pending for the platform.');
    expect(rapidpro({ url }).receiptFor?.(entry)).toMatchObject({
      id: '21',
      expires_at: (await rowsOf(id))[0]?.expires_at,
    });
    expect(await expiries(id)).toEqual({ sent: MESSAGES, delivered_to_server: MESSAGES });
  });

  test('the row of the failure after an erasure expires together with the message', async () => {
    const business = await newBusiness();
    const id = await sendMessage(business.account, text(business.phone), {});
    onDay(1);
    await eraseUser(business.phone);
    expect(await expiries(id)).toEqual({ sent: MESSAGES, sending_failed: MESSAGES });
  });
});

describe('an idempotency key after the retention period', () => {
  test.each<[string, (row: LogItem) => boolean]>([
    ['no row', () => false],
    ['only the row of the message', ({ state }) => state === 'sent'],
    ['only the rows of its states', ({ state }) => state !== 'sent'],
    ['all rows', () => true],
  ])('a used key creates a new message with all its states after TTL has removed %s', async (_, isRemoved) => {
    const business = await newBusiness();
    const send = () => sendMessage(business.account, text(business.phone), { idempotencyKey: 'order-1' });
    const first = await send();
    await run('app', business);
    onDay(MESSAGES - 1);
    await reportState(first, 'delivered_to_user');
    expect(await countEntries(await rowsOf(first))).toBe(3);

    onDay(MESSAGES);
    expect(await reportState(first, 'read')).toBe(false);
    await removeByTtl(first, isRemoved);
    const second = await send();
    expect(second).not.toBe(first);
    await run('app', business);
    await reportState(second, 'delivered_to_user');
    await reportState(second, 'read');

    expect(destination().calls).toHaveLength(2);
    const states = ['sent', 'delivered_to_server', 'delivered_to_user', 'read'];
    expect((await listLogs(business.account, {}, 10)).entries.map(({ state }) => state)).toEqual(states.toReversed());
    expect(await expiries(second)).toEqual(Object.fromEntries(states.map((state) => [state, 2 * MESSAGES])));
    expect(await countEntries(await rowsOf(second))).toBe(4);
  });
});

test('all counters of a day expire together, even if they were created at different times', async () => {
  const business = await newBusiness();
  const id = await sendMessage(business.account, text(business.phone), {});
  await countEntries(await rowsOf(id));
  await reportState(id, 'read');
  onDay(0.9);
  await countEntries(await rowsOf(id));
  const counted = async () => (await listJobs(business.account, '2030-01-01', '2030-01-01')).map(({ state }) => state);
  onDay(COUNTERS + 0.99);
  expect(await counted()).toEqual(['sent', 'read']);
  onDay(COUNTERS + 1);
  expect(await counted()).toEqual([]);
});
