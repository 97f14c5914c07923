/** Due work: its shards, and how they are read. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Due, ScheduledWork } from '../../../shared/due-work/scheduled-work.ts';
import { documents } from '../../../shared/table/client.ts';
import { dueAt, duePartitions } from '../../../shared/table/keys.ts';

const TIME = '2030-01-01T00:00:00.000Z';

const BEFORE = '2029-12-31T23:59:59.999Z';
const AFTER = '2030-01-01T00:00:00.001Z';

interface Query {
  KeyConditionExpression: string;
  ExpressionAttributeValues: Record<string, string>;
  ExclusiveStartKey?: { place: number };
  Limit: number;
}

/** The times of the work of a shard, by shard. */
let times: (shard: string) => string[];
/** The most items of a page, however many the query asks for. */
let pageSize = Number.POSITIVE_INFINITY;
let queries: Query[] = [];
let [reading, most] = [0, 0];

/** As the index: items of a shard that meet the condition, from the start key on. The start key must meet it, too. */
const answerTo = (query: Query) => {
  const { KeyConditionExpression, ExpressionAttributeValues: values, ExclusiveStartKey, Limit } = query;
  const [, sign] = /gsi1sk (<=|>) :time/.exec(KeyConditionExpression) ?? [];
  const shard = values[':due'] ?? '';
  const all = times(shard).map((gsi1sk, place) => ({ pk: shard, sk: `${place}`, gsi1sk, place }));
  const isMet = ({ gsi1sk }: { gsi1sk: string }): boolean =>
    sign === undefined || (sign === '>' ? gsi1sk > (values[':time'] ?? '') : gsi1sk <= (values[':time'] ?? ''));
  const { place = -1 } = ExclusiveStartKey ?? {};
  const start = all[place];
  if (start !== undefined && !isMet(start)) throw new Error('The provided starting key is outside query boundaries');
  const left = all.slice(place + 1).filter(isMet);
  const page = left.slice(0, Math.min(Limit, pageSize));
  const last = page.at(-1);
  return { Items: page, ...(last !== undefined && page.length < left.length && { LastEvaluatedKey: last }) };
};

beforeEach(() => {
  vi.stubEnv('TABLE_NAME', 'table');
  [pageSize, queries, reading, most] = [Number.POSITIVE_INFINITY, [], 0, 0];
  vi.spyOn(documents, 'send').mockImplementation(async ({ input }: { input: object }) => {
    queries.push(input as Query);
    reading += 1;
    most = Math.max(most, reading);
    await new Promise((resolve) => setImmediate(resolve));
    reading -= 1;
    return answerTo(input as Query);
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const itemsOf = async (pages: AsyncGenerator<Due[]>): Promise<string[]> => {
  const found: string[] = [];
  for await (const items of pages) found.push(...items.map(({ pk, sk }) => `${pk} ${sk}`));
  return found;
};

/** The items of all shards at these places. */
const inAllShards = (places: number[]): string[] =>
  duePartitions.flatMap((shard) => places.map((place) => `${shard} ${place}`)).toSorted();

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, place) => from + place);

test('all pages of all shards are read, sixteen shards at a time, the pages of each in order', async () => {
  times = () => Array(3).fill(TIME);
  pageSize = 2;
  const found = await itemsOf(new ScheduledWork(TIME).due());
  expect(found.toSorted()).toEqual(inAllShards([0, 1, 2]));
  for (const shard of duePartitions) expect(found.indexOf(`${shard} 0`)).toBeLessThan(found.indexOf(`${shard} 2`));
  expect(most).toBe(16);
});

test.each([
  ['nothing', 0, 0, 1],
  ['due work', 3, 0, 1],
  ['later work', 0, 3, 1],
  ['both', 2, 2, 1],
])('a shard with %s costs %i + %i items and one query in all', async (_, due, later, each) => {
  times = () => [...Array(due).fill(TIME), ...Array(later).fill(AFTER)];
  const work = new ScheduledWork(TIME);
  expect((await itemsOf(work.due())).toSorted()).toEqual(inAllShards(range(0, due)));
  expect((await itemsOf(work.later())).toSorted()).toEqual(inAllShards(range(due, due + later)));
  expect(queries).toHaveLength(each * duePartitions.length);
});

test.each([
  ['the first page', 20, 300],
  ['the first page, at its last item', 149, 151],
  ['exactly one page', 150, 150],
  ['two pages', 160, 10],
  ['many pages', 1_500, 1_200],
])('each item is due or later, once, if due work fills %s', async (_, due, later) => {
  times = (shard) => (shard === 'DUE#1' ? [...Array(due).fill(BEFORE), ...Array(later).fill(AFTER)] : []);
  const work = new ScheduledWork(TIME);
  expect(await itemsOf(work.due())).toEqual(range(0, due).map((place) => `DUE#1 ${place}`));
  expect(await itemsOf(work.later())).toEqual(range(due, due + later).map((place) => `DUE#1 ${place}`));
});

test('a read of later work that stops early reads no further page', async () => {
  times = () => Array(2_000).fill(AFTER);
  const work = new ScheduledWork(TIME);
  await itemsOf(work.due());
  for await (const items of work.later()) {
    expect(items).toHaveLength(64 * 150);
    break;
  }
  expect(queries).toHaveLength(64);
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
