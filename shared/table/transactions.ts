/** Transactions: writes that happen all or not at all. */

import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { tableName } from '../core/settings.ts';
import { absent, type Change, type Condition, documents } from './client.ts';
import { type FailedCondition, failedConditions, retryConflicts } from './conflicts.ts';
import type { Key } from './keys.ts';

/** One write of a transaction. */
export type Write = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** Puts an item, whether one is there or not, within a transaction; one that fails if a condition is not met, if given. */
export const putWrite = <Item extends Key>(item: Item, condition: Condition = {}): Write => ({
  Put: { TableName: tableName(), Item: item, ...condition },
});

/** Puts an item, within a transaction that fails if one is there. */
export const putIfAbsentWrite = <Item extends Key>(item: Item): Write => ({
  Put: { TableName: tableName(), Item: item, ...absent() },
});

/** Removes an item, within a transaction that fails if there is none. */
export const deleteExistingWrite = ({ pk, sk }: Key): Write => ({
  Delete: { TableName: tableName(), Key: { pk, sk }, ConditionExpression: 'attribute_exists(pk)' },
});

/** Removes an item, within a transaction that fails if the condition is not met. */
export const deleteWrite = (key: Key, condition: Condition = {}): Write => ({
  Delete: { TableName: tableName(), Key: key, ...condition },
});

/** Holds that a condition is met by an item, within a transaction that fails if it is not. 2 write units. */
export const conditionCheckWrite = (key: Key, condition: Condition & { ConditionExpression: string }): Write => ({
  ConditionCheck: { TableName: tableName(), Key: key, ...condition },
});

/** Changes an item, within a transaction. */
export const updateWrite = (change: Change): Write => ({ Update: { TableName: tableName(), ...change } });
/**
 * Writes all or nothing; again, where another write held one of the items. Answers the places of the writes whose
 * condition failed: none where all was written.
 */
export const transact = async (writes: Write[]): Promise<number[]> =>
  (await transactReturningItems(writes)).map(({ place }) => place);

/** The same; returns the items whose conditions failed. */
export const transactReturningItems = async (writes: Write[]): Promise<FailedCondition[]> => {
  const command = new TransactWriteCommand({ TransactItems: writes });
  try {
    await retryConflicts(() => documents.send(command));
    return [];
  } catch (error) {
    const failed = error instanceof TransactionCanceledException ? failedConditions(error) : [];
    if (failed.length === 0) throw error;
    return failed;
  }
};
