/**
 * Single writes in conflict with a transaction on their item, with a fake table. For transactions, see
 * transactions.test.ts.
 */
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { ConditionalCheckFailedException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { documents, putIfAbsent, remove, removeAll, update, updateAndGet } from '../../../shared/table/client.ts';

/** The waits between attempts, in milliseconds. */
const pauses: number[] = [];

beforeEach(() => {
  pauses.length = 0;
  vi.stubEnv('TABLE_NAME', 'table');
  vi.spyOn(timers, 'setTimeout').mockImplementation(async (delay) => {
    pauses.push(delay ?? 0);
  });
  syncBuiltinESMExports();
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  syncBuiltinESMExports();
});

const key = { pk: 'A', sk: 'A' };
const item = { ...key, name: 'one', left_out: undefined };

const conflict = () =>
  new TransactionConflictException({ message: 'Transaction is ongoing for the item', $metadata: {} });

const conditionFailed = (found?: object) =>
  new ConditionalCheckFailedException({
    message: 'The conditional request failed',
    $metadata: {},
    ...(found && { Item: marshall(found) }),
  });

/** Makes the table fail with these errors in order, then succeed. */
const failWith = (...failures: Error[]) =>
  vi.spyOn(documents, 'send').mockImplementation(async () => {
    const failure = failures.shift();
    if (failure) throw failure;
    return { Attributes: item };
  });

const writes: [string, () => Promise<unknown>, unknown][] = [
  ['a put', () => putIfAbsent(item), undefined],
  ['an update', () => update({ Key: key, UpdateExpression: 'SET a = :a' }), true],
  ['an update that returns the item', () => updateAndGet({ Key: key, UpdateExpression: 'SET a = :a' }), item],
  ['a deletion', () => remove(key), true],
  ['a batch of deletions', () => removeAll([key]), undefined],
];

describe('a write in conflict with a transaction on its item', () => {
  test.each(writes)('is repeated unchanged until it succeeds: %s', async (_, write, result) => {
    const send = failWith(conflict(), conflict(), conflict());
    expect(await write()).toEqual(result);
    expect(send).toHaveBeenCalledTimes(4);
    expect(new Set(send.mock.calls.map(([{ input }]) => JSON.stringify(input))).size).toBe(1);
    expect(pauses).toHaveLength(3);
  });

  test.each(writes)("throws the table's error after the twelfth attempt: %s", async (_, write) => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const last = conflict();
    const send = failWith(...Array.from({ length: 11 }, conflict), last);
    await expect(write()).rejects.toBe(last);
    expect(send).toHaveBeenCalledTimes(12);
    expect(pauses).toEqual([20, 40, 80, 160, ...Array(7).fill(320)]);
  });

  test.each(writes)('is not repeated after another error: %s', async (_, write) => {
    const error = Object.assign(new Error('busy'), { name: 'ThrottlingException' });
    const send = failWith(error);
    await expect(write()).rejects.toBe(error);
    expect(send).toHaveBeenCalledTimes(1);
  });

  test('reports a failed condition after a conflict', async () => {
    failWith(conflict(), conditionFailed());
    expect(await update({ Key: key, UpdateExpression: 'SET a = :a' })).toBe(false);
    failWith(conflict(), conditionFailed());
    expect(await remove(key)).toBe(false);
    failWith(conflict(), conditionFailed({ ...key, name: 'another' }));
    expect(await putIfAbsent(item)).toEqual({ ...key, name: 'another' });
  });
});

test('putIfAbsent succeeds if it finds its own item, because an earlier attempt may have written it', async () => {
  // The client repeated the call itself, because the response to the first attempt was lost.
  failWith(conflict(), conditionFailed({ ...key, name: 'one' }));
  expect(await putIfAbsent(item)).toBeUndefined();
});
