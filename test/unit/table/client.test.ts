/** The table's client: a failed condition is a result, any other failure is an error. */
import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { isRetryable } from '../../../shared/core/retryable-errors.ts';
import { documents, putIfAbsent, remove, update, updateAndGet } from '../../../shared/table/client.ts';
import {
  conditionCheckWrite,
  deleteExistingWrite,
  transactReturningItems,
} from '../../../shared/table/transactions.ts';

const key = { pk: 'A', sk: 'B' };

/** Makes each call to the table end like this. */
const ending = (end: () => unknown) => vi.spyOn(documents, 'send').mockImplementation(async () => end());

const failing = (error: Error) =>
  ending(() => {
    throw error;
  });

const conditionFailed = (item?: object) =>
  new ConditionalCheckFailedException({ message: 'no', $metadata: {}, ...(item && { Item: marshall(item) }) });

beforeEach(() => void vi.stubEnv('TABLE_NAME', 'table'));

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

describe('a failed condition', () => {
  test('makes update and remove return false', async () => {
    failing(conditionFailed());
    expect(await update({ Key: key, UpdateExpression: 'SET a = :a' })).toBe(false);
    expect(await remove(key)).toBe(false);
  });

  test('makes putIfAbsent return the existing item', async () => {
    failing(conditionFailed({ ...key, name: 'first' }));
    expect(await putIfAbsent({ ...key, name: 'second' })).toEqual({ ...key, name: 'first' });
  });
});

describe('a transaction', () => {
  test('returns the places of failed conditions, with the existing item if requested', async () => {
    failing(
      new TransactionCanceledException({
        message: 'no',
        $metadata: {},
        CancellationReasons: [
          { Code: 'None' },
          { Code: 'ConditionalCheckFailed' },
          { Code: 'ConditionalCheckFailed', Item: marshall({ ...key, newest: 'id-1' }) },
        ],
      }),
    );
    expect(await transactReturningItems([])).toStrictEqual([
      { place: 1 },
      { place: 2, item: { ...key, newest: 'id-1' } },
    ]);
  });

  test('may require that an item exists or matches a condition', () => {
    expect(deleteExistingWrite(key)).toEqual({
      Delete: { TableName: 'table', Key: key, ConditionExpression: 'attribute_exists(pk)' },
    });
    const condition = { ConditionExpression: 'a = :a', ExpressionAttributeValues: { ':a': 1 } };
    expect(conditionCheckWrite(key, condition)).toEqual({
      ConditionCheck: { TableName: 'table', Key: key, ...condition },
    });
  });
});

describe('any other result of a call', () => {
  test('is success', async () => {
    ending(() => ({}));
    expect(await update({ Key: key, UpdateExpression: 'SET a = :a' })).toBe(true);
    expect(await remove(key)).toBe(true);
    expect(await putIfAbsent(key)).toBeUndefined();
    expect(await transactReturningItems([])).toEqual([]);
  });

  test('is an error, which is thrown unchanged', async () => {
    const error = Object.assign(new Error('slow down'), { name: 'ThrottlingException', Item: marshall(key) });
    const send = failing(error);
    for (const call of [
      () => update({ Key: key, UpdateExpression: 'SET a = :a' }),
      () => updateAndGet({ Key: key, UpdateExpression: 'SET a = :a' }),
      () => remove(key),
      () => putIfAbsent(key),
      () => transactReturningItems([]),
    ]) {
      await expect(call()).rejects.toBe(error);
    }
    expect(send).toHaveBeenCalledTimes(5);
  });

  test('is an error if putIfAbsent gets a failed condition without the existing item', async () => {
    const error = conditionFailed();
    failing(error);
    await expect(putIfAbsent(key)).rejects.toBe(error);
  });
});

describe('isRetryable', () => {
  test.each([
    ['a status of 500', { $metadata: { httpStatusCode: 500 } }, true],
    ['a status of 499', { $metadata: { httpStatusCode: 499 } }, false],
    ['no status', { $metadata: {} }, false],
    ['a broken connection', { code: 'ECONNRESET' }, true],
    ['another code', { code: 'ERR_INVALID_ARG_TYPE' }, false],
    ['no code', {}, false],
  ])('for an error with %s and properties %j returns %s', (_, properties, busy) => {
    expect(isRetryable(Object.assign(new Error('no'), properties))).toBe(busy);
  });
});
