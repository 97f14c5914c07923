/**
 * The table's client: a failed condition is a result, any other failure is an error. For single writes, see
 * write-conflicts.test.ts.
 */
import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { isRetryable } from '../../../shared/core/retryable-errors.ts';
import { documents, putIfAbsent } from '../../../shared/table/client.ts';
import {
  conditionCheckWrite,
  deleteExistingWrite,
  transactReturningItems,
} from '../../../shared/table/transactions.ts';

const key = { pk: 'A', sk: 'B' };

const failing = (error: Error) => vi.spyOn(documents, 'send').mockRejectedValue(error as never);

beforeEach(() => void vi.stubEnv('TABLE_NAME', 'table'));

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
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

test('putIfAbsent fails if it gets a failed condition without the existing item', async () => {
  const error = new ConditionalCheckFailedException({ message: 'no', $metadata: {} });
  failing(error);
  await expect(putIfAbsent(key)).rejects.toBe(error);
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
