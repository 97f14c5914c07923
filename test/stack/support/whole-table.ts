/** The whole table of a test, to see what is in it and what is not. */
import { decodeBytes, type Item, plainOf } from '../../../infra/bundle/sdk/attributes.ts';
import { tableName } from '../../../shared/core/settings.ts';
import { page } from '../../../shared/table/client.ts';
import type { AnyItem } from '../../../shared/table/entity.ts';
import { type DueKind, dueOf, duePartitions, type Key } from '../../../shared/table/keys.ts';
import { callDatabase } from './call-database.ts';

/** Sorts the attributes of an item, because the table returns them in any order. */
export const sorted = (_name: string, value: unknown): unknown =>
  value instanceof Object && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort()) : value;

interface Scanned {
  Items: Item[];
  LastEvaluatedKey?: Item;
}

/** All items, in the form of DynamoDB. */
export const scanned = async (TableName: string, endpoint?: string): Promise<Item[]> => {
  const items: Item[] = [];
  let ExclusiveStartKey: Item | undefined;
  do {
    const input = { TableName, ConsistentRead: true, ExclusiveStartKey };
    const found = (await callDatabase('Scan', input, endpoint)) as Scanned;
    items.push(...found.Items);
    ExclusiveStartKey = found.LastEvaluatedKey;
  } while (ExclusiveStartKey !== undefined);
  return items;
};

/** One item per line, in the form of DynamoDB. */
export const wholeTable = async (): Promise<string[]> =>
  (await scanned(tableName())).map((item) => JSON.stringify(item, sorted));

/** All items of a table. */
export const allItems = async (table = tableName()): Promise<AnyItem[]> =>
  (await scanned(table)).map((item) => plainOf(decodeBytes(item)) as AnyItem);

/** All items of a table, without what operators did: each command adds to it. */
export const itemsIn = async (table = tableName()): Promise<AnyItem[]> =>
  (await allItems(table)).filter(({ pk }) => !pk.startsWith('OPERATIONS#'));

/** The items of a partition, of at most 1 MB. */
export const itemsOf = async <One extends Key = Key>({ pk }: Pick<Key, 'pk'>): Promise<One[]> =>
  (
    await page<One>({
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': pk },
      ConsistentRead: true,
    })
  ).items;

/** The work that is due at a time, in the form of `sortableTime`. `sweep` finds it with a query for each partition of the index. */
export const dueItems = async (kind: DueKind, time: string): Promise<AnyItem[]> => {
  const partitions: unknown[] = duePartitions(kind);
  const all = (await allItems()).filter(({ gsi1pk }) => partitions.includes(gsi1pk));
  return all.filter(({ gsi1sk }) => dueOf({ gsi1sk: String(gsi1sk) }).time <= time);
};
