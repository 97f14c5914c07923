/** Transactions that meet others, told by a table that says so. */
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { documents } from '../../../shared/table/client.ts';
import { transact } from '../../../shared/table/transactions.ts';

/** Milliseconds that were waited. */
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

/** The table cancels a transaction, for these reasons, one for each write. */
const cancelled = (...codes: string[]): Error =>
  new TransactionCanceledException({
    message: 'Transaction cancelled',
    $metadata: {},
    CancellationReasons: codes.map((Code) => ({ Code })),
  });

const conflict = () => cancelled('None', 'TransactionConflict', 'None');

/** Has the table fail so, call by call; then it writes. Answers what it was called with. */
const failWith = (...failures: Error[]) =>
  vi.spyOn(documents, 'send').mockImplementation(async () => {
    const failure = failures.shift();
    if (failure) throw failure;
    return {};
  });

test('what is written at once is asked for once', async () => {
  const send = failWith();
  expect(await transact(writes)).toEqual([]);
  expect(send).toHaveBeenCalledTimes(1);
  expect(send.mock.calls[0]?.[0].input).toEqual({ TransactItems: writes });
});

describe('a transaction that meets another', () => {
  test('is written again, whole, until it goes through', async () => {
    const send = failWith(conflict(), conflict(), conflict());
    expect(await transact(writes)).toEqual([]);
    expect(send.mock.calls.map(([{ input }]) => input)).toEqual(Array(4).fill({ TransactItems: writes }));
    expect(pauses).toHaveLength(3);
  });

  test('waits longer each time, in a span that doubles up to 640 ms, and fails after the twelfth with what the table said', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const last = conflict();
    const send = failWith(...Array.from({ length: 11 }, conflict), last);
    await expect(transact(writes)).rejects.toBe(last);
    expect(send).toHaveBeenCalledTimes(12);
    expect(pauses).toEqual([20, 40, 80, 160, ...Array(7).fill(320)]);
  });

  test('does not wait as long as the other one', async () => {
    failWith(...Array.from({ length: 11 }, conflict));
    await transact(writes);
    for (const [place, pause] of pauses.entries()) {
      expect(pause).toBeGreaterThanOrEqual(0);
      expect(pause).toBeLessThan(Math.min(20 * 2 ** (place + 1), 640));
    }
    expect(new Set(pauses).size).toBe(11);
  });
});

describe('conditions that failed', () => {
  test.each([
    [[0], ['ConditionalCheckFailed', 'None', 'None']],
    [[2], ['None', 'None', 'ConditionalCheckFailed']],
    [
      [0, 2],
      ['ConditionalCheckFailed', 'None', 'ConditionalCheckFailed'],
    ],
  ])('are answered by the places of their writes, at once: %j', async (places, codes) => {
    const send = failWith(cancelled(...codes));
    expect(await transact(writes)).toEqual(places);
    expect(send).toHaveBeenCalledTimes(1);
  });

  test('are answered after a conflict, and beside one', async () => {
    failWith(conflict(), cancelled('TransactionConflict', 'None', 'ConditionalCheckFailed'));
    expect(await transact(writes)).toEqual([2]);
    expect(pauses).toHaveLength(1);
  });
});

test.each([
  ['another reason', cancelled('None', 'ValidationError', 'None')],
  ['too much at once', cancelled('ThrottlingError', 'None', 'None')],
  ['no reason', new TransactionCanceledException({ message: 'cancelled', $metadata: {} })],
  ['another error', Object.assign(new Error('busy'), { name: 'ThrottlingException' })],
])('%s is an error at once', async (_, error) => {
  const send = failWith(error);
  await expect(transact(writes)).rejects.toBe(error);
  expect(send).toHaveBeenCalledTimes(1);
  expect(pauses).toEqual([]);
});
