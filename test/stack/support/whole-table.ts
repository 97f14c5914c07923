/** The whole table of a test, to see what is in it and what is not. */
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
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
  for (let start: ScanCommand['input']['ExclusiveStartKey']; ; ) {
    const command = new ScanCommand({ TableName: tableName(), ConsistentRead: true, ExclusiveStartKey: start });
    const { Items = [], LastEvaluatedKey } = await client.send(command);
    lines.push(...Items.map((item) => JSON.stringify(item, sorted)));
    if (LastEvaluatedKey === undefined) return lines;
    start = LastEvaluatedKey;
  }
};

/** The items of a partition. */
export const itemsOf = async ({ pk }: Pick<Key, 'pk'>): Promise<Key[]> =>
  (
    await page<Key>({
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': pk },
      ConsistentRead: true,
    })
  ).items;
