/** The whole table of a test, to see what is in it and what is not. */
import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { tableName } from '../../../shared/core/settings.ts';
import { page } from '../../../shared/table/client.ts';
import type { Key } from '../../../shared/table/keys.ts';

/** Sorts the attributes of an item, because the table returns them in any order. */
export const sorted = (_name: string, value: unknown): unknown =>
  value instanceof Object && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort()) : value;

/** One item per line, in the form of DynamoDB. It is read by a separate client, so mocks do not affect it. */
export const wholeTable = async (): Promise<string[]> => {
  const client = new DynamoDBClient();
  const lines: string[] = [];
  for await (const { Items = [] } of paginateScan({ client }, { TableName: tableName(), ConsistentRead: true })) {
    lines.push(...Items.map((item) => JSON.stringify(item, sorted)));
  }
  return lines;
};

/** The items of a partition, of at most 1 MB. */
export const itemsOf = async <Item extends Key = Key>({ pk }: Pick<Key, 'pk'>): Promise<Item[]> =>
  (
    await page<Item>({
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': pk },
      ConsistentRead: true,
    })
  ).items;
