/** Access to the table: the DynamoDB client, and the operations that the domain uses. */

import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  type BatchWriteCommandInput,
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
import { retryRejected } from './conflicts.ts';
import type { Key } from './keys.ts';

/** Timeouts in milliseconds. Short, because connections may be dead. */
const timeouts = { connectionTimeout: 1_000, requestTimeout: tableTimeoutMs, throwOnRequestTimeout: true };

const openDocuments = (): DynamoDBDocumentClient =>
  DynamoDBDocumentClient.from(new DynamoDBClient({ requestHandler: timeouts, maxAttempts: 3 }), {
    marshallOptions: { removeUndefinedValues: true },
  });

// Pure, so that the bundler drops the client from functions that import only types or names from this file.
export const documents = /* @__PURE__ */ openDocuments();

/** An update without the table's name. */
export type Change = Omit<UpdateCommandInput, 'TableName' | 'UpdateExpression'> & { UpdateExpression: string };

/** The condition of a write, with its values. */
export type Condition = Pick<DeleteCommandInput, 'ConditionExpression' | 'ExpressionAttributeValues'>;

/** A query without the table's name. */
type Query = Omit<QueryCommandInput, 'TableName'>;

/** The condition that an item is absent or has expired: TTL removes expired items up to two days late. */
export const absent = () => ({
  ConditionExpression: 'attribute_not_exists(pk) OR expires_at <= :present',
  ExpressionAttributeValues: { ':present': Math.floor(now() / 1000) },
});

/** Whether an item has expired: TTL removes it up to two days late, so readers treat it as absent. */
export const hasExpired = ({ expires_at }: { expires_at?: number }): boolean =>
  expires_at !== undefined && expires_at <= now() / 1000;

const readItem = async <Item>(key: Key, ConsistentRead: boolean): Promise<Item | undefined> => {
  const { Item } = await documents.send(new GetCommand({ TableName: tableName(), Key: key, ConsistentRead }));
  return Item === undefined || hasExpired(Item) ? undefined : (Item as Item);
};

/**
 * The item at a key, unless it has expired. If an eventually consistent read finds nothing, a consistent read follows,
 * so that new items are found. The item may be stale: for rejections and permanent decisions, use `getConsistent`. 0.5
 * read units if the item is found at once, else 1.5.
 */
export const get = async <Item>(key: Key): Promise<Item | undefined> =>
  (await readItem<Item>(key, false)) ?? (await readItem<Item>(key, true));

/**
 * The item at a key, unless it has expired, by an eventually consistent read: it may miss a new item. For items that
 * are rare. 0.5 read units.
 */
export const getEventual = <Item>(key: Key): Promise<Item | undefined> => readItem<Item>(key, false);

/** The item at a key, unless it has expired, by a consistent read. 1 read unit. */
export const getConsistent = <Item>(key: Key): Promise<Item | undefined> => readItem<Item>(key, true);

/** Most keys of a `BatchGetItem` call. */
const KEYS = 100;
/** Attempts for keys that a response leaves unprocessed, and the base of the random pauses in milliseconds. */
const UNPROCESSED = { attempts: 6, pause: 20 };

const identityOf = ({ pk, sk }: Record<string, unknown>): string => JSON.stringify([pk, sk]);

const getMany = async (
  keys: readonly Key[],
  ConsistentRead: boolean,
): Promise<(Record<string, unknown> | undefined)[]> => {
  const found = new Map<string, Record<string, unknown>>();
  // DynamoDB rejects a call that contains a key twice.
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

/** Items in the order of their keys; `undefined` for an item that does not exist or has expired. */
type Many<Items extends unknown[]> = { [Place in keyof Items]: Items[Place] | undefined };

/** The items at these keys, by consistent reads. One call for 100 keys; 1 read unit for each key and 4 KB. */
export const getManyConsistent = async <Items extends unknown[]>(
  keys: { [Place in keyof Items]: Key },
): Promise<Many<Items>> => (await getMany(keys, true)) as Many<Items>;

/**
 * The items at these keys, by eventually consistent reads: they may miss new items. 0.5 read units for each key and 4
 * KB.
 */
export const getManyEventual = async <Items extends unknown[]>(
  keys: { [Place in keyof Items]: Key },
): Promise<Many<Items>> => (await getMany(keys, false)) as Many<Items>;

/**
 * Puts an item if there is none. Returns the existing item; undefined if the new item was put. An existing item that
 * equals the new one counts as put: the response to the client's previous attempt was lost.
 */
export const putIfAbsent = async <Item extends Key>(item: Item): Promise<Item | undefined> => {
  const command = new PutCommand({
    TableName: tableName(),
    Item: item,
    ...absent(),
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  try {
    await retryRejected(() => documents.send(command));
    return undefined;
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException && error.Item)) throw error;
    const own = marshall(item, { removeUndefinedValues: true });
    return isDeepStrictEqual(error.Item, own) ? undefined : (unmarshall(error.Item) as Item);
  }
};

/** Puts or replaces an item. 1 write unit for each KB. */
export const put = async <Item extends Key>(item: Item): Promise<void> => {
  const command = new PutCommand({ TableName: tableName(), Item: item });
  await retryRejected(() => documents.send(command));
};

/** Puts or replaces an item that the service can do without: within the time of one call, so retries are few. */
export const putWithin = async <Item extends Key>(item: Item): Promise<void> => {
  const command = new PutCommand({ TableName: tableName(), Item: item });
  await documents.send(command, { abortSignal: AbortSignal.timeout(tableTimeoutMs) });
};

/** Changes an item. Returns whether its condition was met. */
export const update = async (change: Change): Promise<boolean> => {
  const command = new UpdateCommand({ TableName: tableName(), ...change });
  return held(retryRejected(() => documents.send(command)));
};

/**
 * Changes a small item. Returns whether its condition was met, and the item as it is then, if there is one. 1 write unit,
 * even if the condition was not met.
 */
export const tryUpdate = async <Item = Record<string, unknown>>(
  change: Change,
  options: { abortSignal?: AbortSignal } = {},
): Promise<{ isDone: boolean; item: Item | undefined }> => {
  const command = new UpdateCommand({
    TableName: tableName(),
    ReturnValues: 'ALL_NEW',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    ...change,
  });
  try {
    const { Attributes } = await retryRejected(() => documents.send(command, options));
    return { isDone: true, item: Attributes as Item };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return { isDone: false, item: error.Item && (unmarshall(error.Item) as Item) };
  }
};

/** Changes a small item. Returns the new item; undefined if its condition was not met. 1 write unit. */
export const updateAndGet = async <Item>(change: Change): Promise<Item | undefined> => {
  const { isDone, item } = await tryUpdate<Item>(change);
  return isDone ? item : undefined;
};

/** Removes an item. Returns whether its condition was met. */
export const remove = async (key: Key, condition: Condition = {}): Promise<boolean> => {
  const command = new DeleteCommand({ TableName: tableName(), Key: key, ...condition });
  return held(retryRejected(() => documents.send(command)));
};

/** Removes an item. Returns whether it existed. 1 write unit. */
export const removeExisting = ({ pk, sk }: Key): Promise<boolean> =>
  remove({ pk, sk }, { ConditionExpression: 'attribute_exists(pk)' });

/** Whether a write was made; false if its condition was not met. */
const held = async (write: Promise<unknown>): Promise<boolean> => {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
};

/** One page of a query's items, at most 1 MB. `next` is the start of the next page, if there is one. */
export const page = async <Item>(query: Query): Promise<{ items: Item[]; next?: Query['ExclusiveStartKey'] }> => {
  const { Items, LastEvaluatedKey } = await documents.send(new QueryCommand({ TableName: tableName(), ...query }));
  return { items: (Items ?? []) as Item[], next: LastEvaluatedKey };
};

/** All items of a query, page by page. */
export async function* pages<Item>(query: Query): AsyncGenerator<Item[]> {
  let current = await page<Item>(query);
  yield current.items;
  while (current.next) {
    current = await page<Item>({ ...query, ExclusiveStartKey: current.next });
    yield current.items;
  }
}

/** Removes any number of items by their keys. 1 write unit for each, and 1 KB of it. */
export const removeAll = (keys: Key[]): Promise<void> =>
  writeAll(keys.map(({ pk, sk }) => ({ DeleteRequest: { Key: { pk, sk } } })));

/** Puts any number of items, in any order. 1 write unit for each, and 1 KB of it. */
export const putAll = <Item extends Key>(items: Item[]): Promise<void> =>
  writeAll(items.map((item) => ({ PutRequest: { Item: item } })));

type WriteRequest = NonNullable<BatchWriteCommandInput['RequestItems']>[string][number];

/** Makes writes, 25 per call. Unprocessed ones are retried, with growing pauses. */
const writeAll = async (requests: WriteRequest[]): Promise<void> => {
  let left = requests;
  for (let delay = 50; left.length > 0; ) {
    const command = new BatchWriteCommand({ RequestItems: { [tableName()]: left.slice(0, 25) } });
    const response = await retryRejected(() => documents.send(command));
    const unprocessed = response.UnprocessedItems?.[tableName()] ?? [];
    left = [...unprocessed, ...left.slice(25)];
    if (unprocessed.length > 0) await pause(delay);
    delay = unprocessed.length > 0 ? Math.min(delay * 2, 2_000) : 50;
  }
};
