/** Transactions in conflict with others, or throttled, with a fake table that reports it. */
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { documents } from '../../../shared/table/client.ts';
import { throttledAttempts } from '../../../shared/table/conflicts.ts';
import { transact } from '../../../shared/table/transactions.ts';

/** The waits between attempts, in milliseconds. */
const pauses: number[] = [];

beforeEach(() => {
  pauses.length = 0;
  vi.spyOn(timers, 'setTimeout').mockImplementation(async (delay) => {
    pauses.push(delay ?? 0);
  });
  syncBuiltinESMExports();
});

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

const writes = ['1', '2', '3'].map((sk) => ({ Delete: { TableName: 'table', Key: { pk: 'A', sk } } }));

/** The error of a cancelled transaction, with one reason per write. */
const cancelled = (...codes: string[]): Error =>
  new TransactionCanceledException({
    message: 'Transaction cancelled',
    $metadata: {},
    CancellationReasons: codes.map((Code) => ({ Code })),
  });

const conflict = () => cancelled('None', 'TransactionConflict', 'None');

/** Makes the table fail with these errors in order, then succeed. Returns the spy. */
const failWith = (...failures: Error[]) =>
  vi.spyOn(documents, 'send').mockImplementation(async () => {
    const failure = failures.shift();
    if (failure) throw failure;
    return {};
  });

test('a transaction without a conflict makes one call', async () => {
  const send = failWith();
  expect(await transact(writes)).toEqual([]);
  expect(send).toHaveBeenCalledTimes(1);
  expect(send.mock.calls[0]?.[0].input).toEqual({ TransactItems: writes });
});

describe('a transaction in conflict with another', () => {
  test('is repeated unchanged until it succeeds', async () => {
    const send = failWith(conflict(), conflict(), conflict());
    expect(await transact(writes)).toEqual([]);
    expect(send.mock.calls.map(([{ input }]) => input)).toEqual(Array(4).fill({ TransactItems: writes }));
    expect(pauses).toHaveLength(3);
  });

  test('is made anew if its writes depend on the conflicts', async () => {
    const [first = {}, ...others] = writes;
    const conflicts: number[][] = [];
    const send = failWith(conflict(), cancelled('TransactionConflict', 'None', 'TransactionConflict'));
    const made = await transact(
      () => [first, ...others.slice(conflicts.length)],
      (places) => conflicts.push(places),
    );
    expect({ made, conflicts }).toEqual({ made: [], conflicts: [[1], [0, 2]] });
    expect(send.mock.calls.map(([{ input }]) => input)).toEqual(
      [others, others.slice(1), []].map((some) => ({ TransactItems: [first, ...some] })),
    );
  });

  test("waits in a span that doubles up to 640 ms, and after the twelfth attempt throws the table's error", async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const last = conflict();
    const send = failWith(...Array.from({ length: 11 }, conflict), last);
    await expect(transact(writes)).rejects.toBe(last);
    expect(send).toHaveBeenCalledTimes(12);
    expect(pauses).toEqual([20, 40, 80, 160, ...Array(7).fill(320)]);
  });

  test('waits a random time within each span', async () => {
    failWith(...Array.from({ length: 11 }, conflict));
    await transact(writes);
    for (const [index, pause] of pauses.entries()) {
      expect(pause).toBeGreaterThanOrEqual(0);
      expect(pause).toBeLessThan(Math.min(20 * 2 ** (index + 1), 640));
    }
    expect(new Set(pauses).size).toBe(11);
  });
});

// Its documentation names the first for tables with provisioned throughput, and the second for those on demand.
describe.each(['ProvisionedThroughputExceeded', 'ThrottlingError'])(
  'a transaction that is cancelled with %s',
  (code) => {
    const throttled = () => cancelled('None', code, 'None');

    test('is made within as many attempts as the SDK makes of other calls', async () => {
      const send = failWith(throttled(), throttled());
      const before = throttledAttempts();
      expect(await transact(writes)).toEqual([]);
      expect(send).toHaveBeenCalledTimes(3);
      expect(throttledAttempts() - before).toBe(2);
    });

    test("throws the table's error after the third", async () => {
      const last = throttled();
      const send = failWith(throttled(), throttled(), last);
      await expect(transact(writes)).rejects.toBe(last);
      expect(send).toHaveBeenCalledTimes(3);
    });

    test('does not take attempts from conflicts, and returns a failed condition beside it', async () => {
      failWith(throttled(), ...Array.from({ length: 11 }, conflict), cancelled(code, 'None', 'ConditionalCheckFailed'));
      expect(await transact(writes)).toEqual([2]);
      expect(pauses).toHaveLength(12);
    });
  },
);

describe('failed conditions', () => {
  test.each([
    [[0], ['ConditionalCheckFailed', 'None', 'None']],
    [[2], ['None', 'None', 'ConditionalCheckFailed']],
    [
      [0, 2],
      ['ConditionalCheckFailed', 'None', 'ConditionalCheckFailed'],
    ],
  ])('are returned as the places of their writes, without a retry: %j', async (places, codes) => {
    const send = failWith(cancelled(...codes));
    expect(await transact(writes)).toEqual(places);
    expect(send).toHaveBeenCalledTimes(1);
  });

  test('are returned after a conflict, and beside a conflict', async () => {
    failWith(conflict(), cancelled('TransactionConflict', 'None', 'ConditionalCheckFailed'));
    expect(await transact(writes)).toEqual([2]);
    expect(pauses).toHaveLength(1);
  });
});

test.each([
  ['another reason', cancelled('None', 'ValidationError', 'None')],
  ['no reason', new TransactionCanceledException({ message: 'cancelled', $metadata: {} })],
  ['throttling, which the SDK has repeated', Object.assign(new Error('busy'), { name: 'ThrottlingException' })],
])('a failure with %s is thrown without a retry', async (_, error) => {
  const send = failWith(error);
  await expect(transact(writes)).rejects.toBe(error);
  expect(send).toHaveBeenCalledTimes(1);
  expect(pauses).toEqual([]);
});
