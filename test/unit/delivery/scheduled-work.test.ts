/** Due work: its shards, and how they are read. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { dueWork } from '../../../shared/delivery/scheduled-work.ts';
import { documents } from '../../../shared/table/client.ts';
import { dueAt, duePartitions } from '../../../shared/table/keys.ts';

const TIME = '2030-01-01T00:00:00.000Z';

interface Query {
  ExpressionAttributeValues: Record<string, string>;
  ExclusiveStartKey?: { place: number };
}

let reading = 0;
let most = 0;

/** Each shard has two pages with an item each, and an empty last one. */
beforeEach(() => {
  vi.stubEnv('TABLE_NAME', 'table');
  [reading, most] = [0, 0];
  vi.spyOn(documents, 'send').mockImplementation(async ({ input }: { input: object }) => {
    const { ExpressionAttributeValues, ExclusiveStartKey } = input as Query;
    const place = ExclusiveStartKey?.place ?? 0;
    reading += 1;
    most = Math.max(most, reading);
    await new Promise((resolve) => setImmediate(resolve));
    reading -= 1;
    return place === 2
      ? { Items: [] }
      : {
          Items: [{ pk: ExpressionAttributeValues[':due'], sk: `${place}`, gsi1sk: TIME }],
          LastEvaluatedKey: { place: place + 1 },
        };
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

test('all pages of all shards are read, eight shards at a time, the pages of each in order', async () => {
  const found: string[] = [];
  for await (const [item] of dueWork(TIME)) found.push(`${item?.pk} ${item?.sk}`);
  expect(found.toSorted()).toEqual(duePartitions.flatMap((shard) => [`${shard} 0`, `${shard} 1`]).toSorted());
  for (const shard of duePartitions) expect(found.indexOf(`${shard} 0`)).toBeLessThan(found.indexOf(`${shard} 1`));
  expect(most).toBe(8);
});

test('conversations spread over 64 shards, which include the eight of earlier versions', () => {
  const shards = Map.groupBy(
    Array.from({ length: 64_000 }, (_, user) => dueAt(`OUTBOX#app#acme#2782${user}`, TIME).gsi1pk),
    (shard) => shard,
  );
  expect([...shards.keys()].sort()).toEqual([...duePartitions].sort());
  for (const { length } of shards.values()) expect(length).toBeLessThan(1_500);
  expect(duePartitions).toEqual(expect.arrayContaining(['DUE#0', 'DUE#7']));
  expect(duePartitions).toHaveLength(64);
});
