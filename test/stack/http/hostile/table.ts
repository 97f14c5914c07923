/** Reads and compares the whole table. */
import { createHash } from 'node:crypto';
import { type AttributeValue, DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';

type Item = Record<string, AttributeValue>;

const client = new DynamoDBClient();

async function* items(): AsyncGenerator<Item> {
  let start: Item | undefined;
  do {
    const page = await client.send(
      new ScanCommand({
        TableName: process.env.TABLE_NAME,
        ConsistentRead: true,
        ...(start && { ExclusiveStartKey: start }),
      }),
    );
    yield* page.Items ?? [];
    start = page.LastEvaluatedKey;
  } while (start);
}

/** Token buckets of rate limits, and daily allowances: they count rejected requests too. */
const COUNTED = ['RATE#', 'ALLOWANCE#'];

/** A digest of each item, by key. */
export type Contents = ReadonlyMap<string, string>;

export const readTable = async (): Promise<Contents> => {
  const contents = new Map<string, string>();
  for await (const item of items()) {
    if (COUNTED.some((prefix) => item.pk?.S?.startsWith(prefix))) continue;
    contents.set(
      `${item.pk?.S} ${item.sk?.S}`,
      createHash('sha256').update(JSON.stringify(item, sorted)).digest('hex'),
    );
  }
  return contents;
};

/** Sorts attributes, because the table returns the elements of a map in any order. */
const sorted = (_name: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/** The keys of added, changed and removed items. */
export const changesBetween = (before: Contents, after: Contents): string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter((key) => before.get(key) !== after.get(key));
