/** The way to the table: its client, and the few operations that the domain is written in. */

import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  type DeleteCommandInput,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandInput,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { tableTimeoutMs } from '#runtime';
import { between, now } from '../core/clock.ts';
import { tableName } from '../core/settings.ts';
import { retryConflicts } from './conflicts.ts';
import { hasExpired } from './expiry.ts';
import type { Key } from './keys.ts';

/** In milliseconds. Short, because of dead connections. */
const patience = { connectionTimeout: 1_000, requestTimeout: tableTimeoutMs, throwOnRequestTimeout: true };

// Pure, as bundles see it: a function that takes no more than a type or a name from here is made without the client.
export const documents = /* @__PURE__ */ DynamoDBDocumentClient.from(
  /* @__PURE__ */ new DynamoDBClient({ requestHandler: patience, maxAttempts: 3 }),
  { marshallOptions: { removeUndefinedValues: true } },
);

/** An update without the table's name. */
export type Change = Omit<UpdateCommandInput, 'TableName' | 'UpdateExpression'> & { UpdateExpression: string };

/** Under which condition an item is removed. */
export type Condition = Pick<DeleteCommandInput, 'ConditionExpression' | 'ExpressionAttributeValues'>;

/** A query without the table's name. */
type Query = Omit<QueryCommandInput, 'TableName'>;
/** Condition under which an item counts as absent: the table may keep an expired one for two days more. */
export const absent = () => ({
  ConditionExpression: 'attribute_not_exists(pk) OR expires_at <= :present',
  ExpressionAttributeValues: { ':present': Math.floor(now() / 1000) },
});

const readItem = async <Item>(key: Key, ConsistentRead: boolean): Promise<Item | undefined> => {
  const { Item } = await documents.send(new GetCommand({ TableName: tableName(), Key: key, ConsistentRead }));
  return Item === undefined || hasExpired(Item) ? undefined : (Item as Item);
};

/**
 * The item at a key, unless it has expired. An eventually consistent read that misses is repeated consistently, so
 * that what was written a moment ago is found. What is found may be old: `getConsistent` is for refusals, and for what is
 * decided for good. 0.5 read units when found, 1.5 when not.
 */
export const get = async <Item>(key: Key): Promise<Item | undefined> =>
  (await readItem<Item>(key, false)) ?? (await readItem<Item>(key, true));

/**
 * The item at a key, unless it has expired, where there usually is none: what was written a moment ago may be missed.
 * 0.5 read units.
 */
export const getEventual = <Item>(key: Key): Promise<Item | undefined> => readItem<Item>(key, false);

/** The item at a key as it is at this moment, unless it has expired. 1 read unit. */
export const getConsistent = <Item>(key: Key): Promise<Item | undefined> => readItem<Item>(key, true);

/** Keys that the table takes in a call. */
const KEYS = 100;
/** How often keys that the table leaves out of its response are asked for again, and the first pause, in milliseconds. */
const UNPROCESSED = { attempts: 6, pause: 20 };

const identityOf = ({ pk, sk }: Record<string, unknown>): string => JSON.stringify([pk, sk]);

const getMany = async (
  keys: readonly Key[],
  ConsistentRead: boolean,
): Promise<(Record<string, unknown> | undefined)[]> => {
  const found = new Map<string, Record<string, unknown>>();
  // The table takes a key once.
  const each = [...new Map(keys.map((key) => [identityOf({ ...key }), { pk: key.pk, sk: key.sk }])).values()];
  for (let start = 0; start < each.length; start += KEYS) {
    let left: Record<string, unknown>[] = each.slice(start, start + KEYS);
    for (let attempt = 1; left.length > 0; attempt += 1) {
      if (attempt > 1) await pause(between(0, UNPROCESSED.pause * 2 ** attempt));
      const { Responses, UnprocessedKeys } = await documents.send(
        new BatchGetCommand({ RequestItems: { [tableName()]: { Keys: left, ConsistentRead } } }),
      );
      for (const item of Responses?.[tableName()] ?? []) {
        if (!hasExpired(item)) found.set(identityOf(item), item);
      }
      left = UnprocessedKeys?.[tableName()]?.Keys ?? [];
      if (left.length > 0 && attempt === UNPROCESSED.attempts)
        throw new Error('The table did not read all keys of a batch.');
    }
  }
  return keys.map((key) => found.get(identityOf({ ...key })));
};

/** Items in the order of their keys; `undefined` where there is none, or an expired one. */
type Many<Items extends unknown[]> = { [Place in keyof Items]: Items[Place] | undefined };

/** The items at these keys as they are at this moment. One call for 100 keys; 1 read unit for each key and 4 KB. */
export const getManyConsistent = async <Items extends unknown[]>(
  keys: { [Place in keyof Items]: Key },
): Promise<Many<Items>> => (await getMany(keys, true)) as Many<Items>;

/** The same, but what was written a moment ago may be missed. 0.5 read units for each key and 4 KB. */
export const getManyEventual = async <Items extends unknown[]>(
  keys: { [Place in keyof Items]: Key },
): Promise<Many<Items>> => (await getMany(keys, false)) as Many<Items>;
/**
 * Puts an item if there is none. Returns the existing item, or nothing if the new one was put. It also returns nothing if
 * the client put the item in an attempt whose response was lost, and finds it in the next attempt.
 */
export const putIfAbsent = async <Item extends Key>(item: Item): Promise<Item | undefined> => {
  const command = new PutCommand({
    TableName: tableName(),
    Item: item,
    ...absent(),
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  try {
    await retryConflicts(() => documents.send(command));
    return undefined;
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException && error.Item)) throw error;
    const own = marshall(item, { removeUndefinedValues: true });
    return isDeepStrictEqual(error.Item, own) ? undefined : (unmarshall(error.Item) as Item);
  }
};

/** Changes an item. Answers whether its condition held. */
export const update = async (change: Change): Promise<boolean> => {
  const command = new UpdateCommand({ TableName: tableName(), ...change });
  return held(retryConflicts(() => documents.send(command)));
};

/** Changes a small item. Returns what it is afterwards; nothing, where its condition did not hold. 1 write unit. */
export const updatedIf = async <Item>(change: Change): Promise<Item | undefined> => {
  const command = new UpdateCommand({ TableName: tableName(), ReturnValues: 'ALL_NEW', ...change });
  try {
    const { Attributes } = await retryConflicts(() => documents.send(command));
    return Attributes as Item;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
};

/** Changes an item. Returns the attributes that it changed, as they are then; nothing, where its condition failed. */
export const updateAttributes = <Changed>(change: Change): Promise<Changed | undefined> =>
  updatedIf<Changed>({ ...change, ReturnValues: 'UPDATED_NEW' });

/** Removes an item. Answers whether its condition held. */
export const remove = async (key: Key, condition: Condition = {}): Promise<boolean> => {
  const command = new DeleteCommand({ TableName: tableName(), Key: key, ...condition });
  return held(retryConflicts(() => documents.send(command)));
};

/** Whether a write was done: not, where its condition failed. */
const held = async (write: Promise<unknown>): Promise<boolean> => {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
};

/** One page of what a query finds, at most 1 MB; `next` is where the following one starts, if there is more. */
export const page = async <Item>(query: Query): Promise<{ items: Item[]; next?: Query['ExclusiveStartKey'] }> => {
  const { Items, LastEvaluatedKey } = await documents.send(new QueryCommand({ TableName: tableName(), ...query }));
  return { items: (Items ?? []) as Item[], next: LastEvaluatedKey };
};

/** Everything that a query finds, page by page. */
export async function* pages<Item>(query: Query): AsyncGenerator<Item[]> {
  let current = await page<Item>(query);
  yield current.items;
  while (current.next) {
    current = await page<Item>({ ...query, ExclusiveStartKey: current.next });
    yield current.items;
  }
}

/** Removes any number of items by their keys, 25 a call. Unprocessed keys are retried with growing pauses. */
export const removeAll = async (keys: Key[]): Promise<void> => {
  let left = keys.map(({ pk, sk }) => ({ DeleteRequest: { Key: { pk, sk } } }));
  for (let delay = 50; left.length > 0; ) {
    const command = new BatchWriteCommand({ RequestItems: { [tableName()]: left.slice(0, 25) } });
    const response = await retryConflicts(() => documents.send(command));
    const unprocessed = (response.UnprocessedItems?.[tableName()] ?? []) as typeof left;
    left = [...unprocessed, ...left.slice(25)];
    // Stryker disable next-line ConditionalExpression,EqualityOperator: No test measures pauses.
    if (unprocessed.length > 0) await pause(delay);
    // Stryker disable next-line ConditionalExpression,EqualityOperator,MethodExpression,ArithmeticOperator: No test measures pauses.
    delay = unprocessed.length > 0 ? Math.min(delay * 2, 2_000) : 50;
  }
};
