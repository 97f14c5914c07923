/** Transactions: either all writes of a transaction are made, or none. */

import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { partsOf, sizeInJson } from '../core/parts.ts';
import { tableName } from '../core/settings.ts';
import { absent, type Change, type Condition, documents } from './client.ts';
import { type FailedCondition, failedConditions, retryRejected } from './conflicts.ts';
import type { Key } from './keys.ts';

/** One write of a transaction. */
export type Write = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** A transaction has at most 100 writes and 4 MB of items ("TransactWriteItems", Amazon DynamoDB API reference). */
const MOST = { writes: 100, bytes: 3_500_000 };

/**
 * Divides work into parts that fit a transaction each, in the same order. Work that grows with what others send needs this,
 * because a text may have a quarter of a megabyte.
 *
 * @param each.writes - the number of writes for an item
 * @param each.others - the number of writes of a transaction besides those for the items
 * @param each.touched - the items of the table that are written, removed or changed for an item
 */
export const transactionsFor = <Item>(
  items: Item[],
  { writes, others = 0, touched }: { writes: number; others?: number; touched: (item: Item) => object[] },
): Item[][] =>
  partsOf(items, {
    items: Math.floor((MOST.writes - others) / writes),
    bytes: MOST.bytes,
    sizeOf: (item) => touched(item).reduce((sum: number, each) => sum + sizeInJson(each), 0),
  });

/** Puts or replaces an item, in a transaction that fails if the optional condition is not met. */
export const putWrite = <Item extends Key>(item: Item, condition: Condition = {}): Write => ({
  Put: { TableName: tableName(), Item: item, ...condition },
});

/** Puts an item, in a transaction that fails if the item exists. */
export const putIfAbsentWrite = <Item extends Key>(item: Item): Write => ({
  Put: { TableName: tableName(), Item: item, ...absent() },
});

/** Removes an item, in a transaction that fails if the item does not exist. */
export const deleteExistingWrite = ({ pk, sk }: Key): Write => ({
  Delete: { TableName: tableName(), Key: { pk, sk }, ConditionExpression: 'attribute_exists(pk)' },
});

/** Removes an item, in a transaction that fails if the optional condition is not met. */
export const deleteWrite = (key: Key, condition: Condition = {}): Write => ({
  Delete: { TableName: tableName(), Key: key, ...condition },
});

/** Checks an item, in a transaction that fails if the condition is not met. 2 write units. */
export const conditionCheckWrite = (key: Key, condition: Condition & { ConditionExpression: string }): Write => ({
  ConditionCheck: { TableName: tableName(), Key: key, ...condition },
});

/** Changes an item, in a transaction. */
export const updateWrite = (change: Change): Write => ({ Update: { TableName: tableName(), ...change } });

/** The writes of a transaction, or what makes them for each attempt. */
type Writes = Write[] | (() => Write[]);

/**
 * Makes all writes or none, with retries if another transaction is changing one of the items, or the table throttles one.
 *
 * @param onConflict - receives the indexes of the writes that conflicted, before each retry
 * @returns the indexes of the writes whose conditions failed; empty if all writes were made
 */
export const transact = async (writes: Writes, onConflict?: (places: number[]) => void): Promise<number[]> =>
  (await transactReturningItems(writes, onConflict)).map(({ place }) => place);

/** As `transact`, but also returns the present items of failed conditions, for writes that ask for them. */
export const transactReturningItems = async (
  writes: Writes,
  onConflict?: (places: number[]) => void,
): Promise<FailedCondition[]> => {
  const makeWrites = typeof writes === 'function' ? writes : () => writes;
  try {
    await retryRejected(() => documents.send(new TransactWriteCommand({ TransactItems: makeWrites() })), onConflict);
    return [];
  } catch (error) {
    const failed = error instanceof TransactionCanceledException ? failedConditions(error) : [];
    if (failed.length === 0) throw error;
    return failed;
  }
};
