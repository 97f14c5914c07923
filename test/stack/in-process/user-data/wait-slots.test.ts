/**
 * Slots of long polls: how many waits of an account there are at once, and what becomes of their slots.
 *
 * @module-tag long
 */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { sharedWaitsKey, waitsKey } from '../../../../shared/accounts/entities.ts';
import { releaseSlot, type Slot, takeSharedSlot, takeSlot } from '../../../../shared/accounts/rate-limit/wait-slots.ts';
import { slotOf } from '../../../../shared/http/wait-slot.ts';
import { documents, getConsistent, update } from '../../../../shared/table/client.ts';
import type { Key } from '../../../../shared/table/keys.ts';
import { consumedBy } from '../../support/consumed.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newAccountId } from '../../support/world.ts';

useOwnTable('wait-slots');

const LIMIT = 4;

beforeAll(() => void vi.stubEnv('WAITS_PER_ACCOUNT', String(LIMIT)));
afterAll(() => void vi.unstubAllEnvs());

const MINUTE = 60_000;

const take = (account: string, ms = MINUTE) => takeSlot(account, Date.now() + ms);

/** Takes so many slots at the same moment. Returns those that were free. */
const takeAtOnce = async (account: string, count: number): Promise<Slot[]> =>
  (await Promise.all(Array.from({ length: count }, () => take(account)))).filter((slot) => slot !== undefined);

const itemOf = (account: string) => getConsistent<Key & Record<string, unknown>>(waitsKey(account));

const slotsOf = async (account: string) =>
  Object.keys((await itemOf(account)) ?? {}).filter((name) => name.startsWith('slot'));

/** Lets so many slots of an item be in use until `end`. */
const setSlots = (Key: Key, count: number, end: number) =>
  update({
    Key,
    UpdateExpression: `SET ${Array.from({ length: count }, (_, index) => `slot${index} = :end`).join(', ')}`,
    ExpressionAttributeValues: { ':end': end },
  });

describe('the slots of an account', () => {
  test.each([LIMIT, 10 * LIMIT])(
    'of %i simultaneous waits as many get a slot as there are, each its own',
    async (count) => {
      const account = newAccountId();
      const taken = await takeAtOnce(account, count);
      expect(new Set(taken.map(({ name }) => name)).size).toBe(LIMIT);
      expect(taken).toHaveLength(LIMIT);
      expect(await take(account)).toBeUndefined();
    },
  );

  test('a slot that is released is free at once, and only that one', async () => {
    const account = newAccountId();
    const [first] = await takeAtOnce(account, LIMIT);
    if (first) await releaseSlot(first);
    expect(await take(account)).toMatchObject({ name: first?.name });
    expect(await take(account)).toBeUndefined();
  });

  test('a slot that is never released is free when its wait is over, though the table still has it', async () => {
    const account = newAccountId();
    const [lost] = await Promise.all([take(account, 300), ...Array.from({ length: LIMIT - 1 }, () => take(account))]);
    expect(await slotsOf(account)).toHaveLength(LIMIT);
    await expect.poll(() => take(account)).toMatchObject({ name: lost?.name });
    expect(Date.now()).toBeGreaterThanOrEqual(lost?.end ?? Number.NaN);
    expect(await take(account)).toBeUndefined();
  });

  test('a slot whose next holder is another wait is not released by the one before', async () => {
    const account = newAccountId();
    const [slot] = await takeAtOnce(account, LIMIT);
    // The clock of the wait before is late.
    if (slot) await releaseSlot({ ...slot, end: slot.end + 1 });
    expect(await take(account)).toBeUndefined();
  });

  test('all slots expire as one item, an hour after the last wait began', async () => {
    const account = newAccountId();
    await take(account, 1_000);
    const inAnHour = Date.now() / 1_000 + 3_600;
    expect(Math.abs(Number((await itemOf(account))?.expires_at) - inAnHour)).toBeLessThan(60);
  });

  test('fewer slots than before leave the waits of the others alone', async () => {
    const account = newAccountId();
    await takeAtOnce(account, LIMIT);
    await setSlots(waitsKey(account), 1, 0);
    vi.stubEnv('WAITS_PER_ACCOUNT', '1');
    expect(await take(account)).toMatchObject({ name: 'slot0' });
    expect(await take(account)).toBeUndefined();
    vi.stubEnv('WAITS_PER_ACCOUNT', String(LIMIT));
  });
});

describe('the slots that all accounts share', () => {
  /** Ends all waits for a group of slots, or begins them, before the test. */
  const setGroups = async (all: number, end: number) => {
    vi.stubEnv('WAITS_IN_ALL', String(all));
    for (let group = 0; group * 25 < all; group += 1) await setSlots(sharedWaitsKey(group), 25, end);
  };

  test('are as many as the setting says, whatever the accounts have', async () => {
    await setGroups(60, 0);
    const end = Date.now() + MINUTE;
    const places = Array.from({ length: 100 }, () => slotOf(newAccountId(), end));
    const taken = await Promise.all(places.map(({ take: takeBoth }) => takeBoth()));
    expect(taken.filter(Boolean)).toHaveLength(60);
    expect(await takeSharedSlot(end)).toBeUndefined();
    // A wait that ends early makes room for another account's.
    await places[taken.indexOf(true)]?.release();
    expect(await slotOf(newAccountId(), end).take()).toBe(true);
    expect(await slotOf(newAccountId(), end).take()).toBe(false);
  });

  test('leave no slot of an account in use that got none of them', async () => {
    await setGroups(10, Date.now() + MINUTE);
    const account = newAccountId();
    for (let attempt = 0; attempt < 2 * LIMIT; attempt += 1) {
      expect(await slotOf(account, Date.now() + MINUTE).take()).toBe(false);
    }
    expect(await slotsOf(account)).toEqual([]);
  });

  test('are free again when the waits of functions that ended without releasing them are over', async () => {
    await setGroups(10, Date.now() - 1);
    expect(await slotOf(newAccountId(), Date.now() + MINUTE).take()).toBe(true);
  });

  test('cost at most four writes if all are in use: one for the account, and one for each of three groups', async () => {
    await setGroups(500, Date.now() + MINUTE);
    const send = vi.spyOn(documents, 'send');
    expect(await takeSharedSlot(Date.now() + MINUTE)).toBeUndefined();
    expect(send).toHaveBeenCalledTimes(3);
    vi.restoreAllMocks();
  });
});

test('the last free slot is found with at most two writes of one unit, and that there is none with one', async () => {
  vi.stubEnv('WAITS_PER_ACCOUNT', '50');
  // The longest id of an account.
  const account = newAccountId().padEnd(40, '0');
  await setSlots(waitsKey(account), 49, Date.now() + MINUTE);
  const send = vi.spyOn(documents, 'send');
  const found: { slot?: Slot | undefined } = {};
  // The write that succeeds is the one that reports its units.
  const cost = await consumedBy(async () => Object.assign(found, { slot: await take(account) }));
  expect({ cost, name: found.slot?.name }).toMatchObject({ cost: { calls: 1, table: 1 }, name: 'slot49' });
  expect(send.mock.calls.length).toBeLessThanOrEqual(2);
  send.mockClear();
  expect(await take(account)).toBeUndefined();
  expect(send).toHaveBeenCalledTimes(1);
  expect(await consumedBy(async () => found.slot && releaseSlot(found.slot))).toMatchObject({ calls: 1, table: 1 });
  expect(await take(account)).toMatchObject({ name: 'slot49' });
  vi.restoreAllMocks();
  vi.stubEnv('WAITS_PER_ACCOUNT', String(LIMIT));
});
