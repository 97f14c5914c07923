/** The whole table of a test, to see what is in it and what is not. */
import { type AttributeValue, DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { tableName } from '../../../shared/core/settings.ts';
import { page } from '../../../shared/table/client.ts';
import type { AnyItem } from '../../../shared/table/entity.ts';
import type { Key } from '../../../shared/table/keys.ts';

/** Sorts the attributes of an item, because the table returns them in any order. */
export const sorted = (_name: string, value: unknown): unknown =>
  value instanceof Object && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort()) : value;

const clients = new Map<string | undefined, DynamoDBClient>();

/** A client that the service does not use, so mocks and faults do not affect it. */
export const separateClient = (): DynamoDBClient => {
  // A client keeps the address of its first call.
  const address = process.env.AWS_ENDPOINT_URL_DYNAMODB;
  const client = clients.get(address) ?? new DynamoDBClient();
  clients.set(address, client);
  return client;
};

/** All items, in the form of DynamoDB. */
const scanned = async (TableName: string): Promise<Record<string, AttributeValue>[]> => {
  const items: Record<string, AttributeValue>[] = [];
  const pages = paginateScan({ client: separateClient() }, { TableName, ConsistentRead: true });
  for await (const { Items = [] } of pages) items.push(...Items);
  return items;
};

/** One item per line, in the form of DynamoDB. */
export const wholeTable = async (): Promise<string[]> =>
  (await scanned(tableName())).map((item) => JSON.stringify(item, sorted));

/** All items of a table. */
export const allItems = async (table = tableName()): Promise<AnyItem[]> =>
  (await scanned(table)).map((item) => unmarshall(item) as AnyItem);

/** All items of a table, without what operators did: each command adds to it. */
export const itemsIn = async (table = tableName()): Promise<AnyItem[]> =>
  (await allItems(table)).filter(({ pk }) => !pk.startsWith('OPERATIONS#'));

/** The items of a partition, of at most 1 MB. */
export const itemsOf = async <Item extends Key = Key>({ pk }: Pick<Key, 'pk'>): Promise<Item[]> =>
  (
    await page<Item>({
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': pk },
      ConsistentRead: true,
    })
  ).items;
