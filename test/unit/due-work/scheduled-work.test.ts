/** Due work: its partitions, and how they are read: by account, in turns. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Due, ScheduledWork } from '../../../shared/due-work/scheduled-work.ts';
import { documents } from '../../../shared/table/client.ts';
import { allDuePartitions, dueAt, dueOf, dueOrder, duePartitions } from '../../../shared/table/keys.ts';

const TIME = '2030-01-01T00:00:00.000Z';
const BEFORE = '2029-12-31T23:59:59.999Z';
const AFTER = '2030-01-01T00:00:00.001Z';

interface Query {
  KeyConditionExpression: string;
  ExpressionAttributeValues: Record<string, string>;
  ExclusiveStartKey?: { place: number };
  Limit: number;
}

/** The times of each account's work, by partition. */
let work: (partition: string) => Record<string, string[]>;
/** The most items of a page, however many the query asks for. */
let pageSize = Number.POSITIVE_INFINITY;
let queries: Query[] = [];
let [reading, max] = [0, 0];

/** As the index: items of a partition that meet the condition, from the start key on. The start key must meet it, too. */
const answerTo = (query: Query) => {
  const { KeyConditionExpression, ExpressionAttributeValues: values, ExclusiveStartKey, Limit } = query;
  const partition = values[':due'] ?? '';
  const all = Object.entries(work(partition))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([account, times]) => times.map((time) => dueOrder(account, time)))
    .map((gsi1sk, place) => ({ pk: partition, sk: `${place}`, gsi1sk, place }));
  const { ':after': after = '', ':from': from = '', ':to': to = '~' } = values;
  if (KeyConditionExpression.includes(':from') !== ':from' in values) throw new Error('A value is not used.');
  const isMet = ({ gsi1sk }: { gsi1sk: string }): boolean => gsi1sk > after && gsi1sk >= from && gsi1sk <= to;
  const { place = -1 } = ExclusiveStartKey ?? {};
  const start = all[place];
  if (start !== undefined && !isMet(start)) throw new Error('The provided starting key is outside query boundaries');
  const left = all.slice(place + 1).filter(isMet);
  const page = left.slice(0, Math.min(Limit, pageSize));
  const last = page.at(-1);
  return {
    Items: page,
    ...(last !== undefined && page.length === Math.min(Limit, pageSize) && { LastEvaluatedKey: last }),
  };
};

beforeEach(() => {
  vi.stubEnv('TABLE_NAME', 'table');
  vi.useFakeTimers({ now: Date.parse('2030-01-01T00:00:00Z'), toFake: ['Date'] });
  [pageSize, queries, reading, max] = [Number.POSITIVE_INFINITY, [], 0, 0];
  vi.spyOn(documents, 'send').mockImplementation(async ({ input }: { input: object }) => {
    queries.push(input as Query);
    reading += 1;
    max = Math.max(max, reading);
    await new Promise((resolve) => setImmediate(resolve));
    reading -= 1;
    return answerTo(input as Query);
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const ONE = 'DUE#conversations#1';
const inOne = (accounts: Record<string, string[]>) => (partition: string) => (partition === ONE ? accounts : {});
const many = (count: number, time = BEFORE): string[] => Array(count).fill(time);

const pagesOf = async (pages: AsyncGenerator<Due[]>): Promise<Due[][]> => {
  const found: Due[][] = [];
  for await (const items of pages) found.push(items);
  return found;
};

const conversations = (time = TIME, stored = {}) => new ScheduledWork('conversations', time, Object.values(stored));

/** Items of each account in each page, in order. */
const countsOf = (pages: Due[][]): Record<string, number>[] =>
  pages.map((page) =>
    Object.fromEntries(
      [...Map.groupBy(page, (item) => dueOf(item).account)].map(([name, items]) => [name, items.length]),
    ),
  );

const idsOf = (pages: Due[][]): string[] => pages.flat().map(({ pk, sk }) => `${pk} ${sk}`);

test('all pages of all partitions are read, sixteen at a time, the pages of each in order', async () => {
  work = () => ({ acme: many(3, TIME) });
  pageSize = 2;
  const found = idsOf(await pagesOf(conversations().due()));
  const all = duePartitions('conversations').flatMap((one) => [0, 1, 2].map((place) => `${one} ${place}`));
  expect(found.toSorted()).toEqual(all.toSorted());
  for (const one of duePartitions('conversations')) {
    expect(found.indexOf(`${one} 0`)).toBeLessThan(found.indexOf(`${one} 2`));
  }
  expect(max).toBe(16);
});

test.each([
  ['nothing', 0, 0],
  ['due work', 3, 0],
  ['later work', 0, 3],
  ['both, of two accounts', 2, 2],
])('a partition with %s costs one query', async (_, due, later) => {
  const times = [...many(due), ...many(later, AFTER)];
  work = () => ({ acme: times, birch: times });
  const found = await pagesOf(conversations().due());
  expect(found.flat()).toHaveLength(2 * due * 64);
  expect(queries).toHaveLength(64);
});

test.each([
  ['the first page', 20, 300],
  ['the first page, at its last item', 149, 151],
  ['exactly one page', 150, 150],
  ['two pages', 160, 10],
  ['many pages', 1_500, 1_200],
])('each item that is due is found once, if due work fills %s', async (_, due, later) => {
  work = inOne({ acme: [...many(due), ...many(later, AFTER)], birch: [BEFORE] });
  const found = await pagesOf(conversations().due());
  const places = [...Array.from({ length: due }, (_each, place) => place), due + later];
  expect(idsOf(found).toSorted()).toEqual(places.map((place) => `${ONE} ${place}`).toSorted());
});

describe('an account with much work does not delay another one', () => {
  const others = { acme: many(40), zebra: many(40) };

  test.each([1_000, 100_000])(
    'with %i conversations that are due, it has one page before the others have theirs',
    async (due) => {
      work = inOne({ ...others, mole: many(due) });
      const pages = countsOf(await pagesOf(conversations().firstTurn()));
      expect(pages).toEqual([{ acme: 40, mole: 110 }, { zebra: 40 }]);
      expect(queries).toHaveLength(64 + 1);
    },
  );

  test.each([1_000, 100_000])('%i conversations that are due later cost one more query', async (later) => {
    work = inOne({ ...others, mole: many(later, AFTER) });
    const pages = countsOf(await pagesOf(conversations().due()));
    expect(pages).toEqual([{ acme: 40 }, { zebra: 40 }]);
    expect(queries).toHaveLength(64 + 1);
  });

  test('further pages are read in turns', async () => {
    work = inOne({ acme: many(400), mole: many(1_000) });
    const pages = countsOf(await pagesOf(conversations().due()));
    const [a, m] = [{ acme: 150 }, { mole: 150 }];
    expect(pages).toEqual([a, m, a, m, { acme: 100 }, m, m, m, m, { mole: 100 }]);
  });
});

describe('a run whose time is over', () => {
  /** Reads pages until so many have been handled. Returns the positions of the next run. */
  const stopAfter = async (pages: number, run: ScheduledWork) => {
    let handled = 0;
    for await (const _page of run.due()) {
      if (handled === pages) break;
      handled += 1;
    }
    return run.positions;
  };
  const times = (count: number): string[] =>
    Array.from({ length: count }, (_, place) => new Date(Date.parse(BEFORE) - 1_000 * (count - place)).toISOString());

  test('is continued by the next one after the first pages: nothing is left out', async () => {
    work = inOne({ acme: times(1_000), birch: times(300) });
    const stored = await stopAfter(5, conversations());
    expect(stored.map(({ account }) => account).toSorted()).toEqual(['acme']);
    const next = conversations(TIME, stored);
    const found = new Set(idsOf(await pagesOf(next.due())));
    // Those between the first page and the position were found by the run before.
    const left = [...Array(150).keys(), ...Array.from({ length: 1_000 }, (_, place) => place).slice(449)];
    for (const place of left) expect(found).toContain(`${ONE} ${place}`);
    // With those of the other account, and the item at the position.
    expect(found.size).toBe(150 + 551 + 300);
    expect(next.positions).toEqual([]);
  });

  test('forgets the position of an account that has less than a page left', async () => {
    work = inOne({ acme: many(1_500) });
    const stored = await stopAfter(5, conversations());
    expect(stored).toHaveLength(1);
    work = inOne({ acme: many(3) });
    const next = conversations(TIME, stored);
    await pagesOf(next.due());
    expect(next.positions).toEqual([]);
  });

  test('keeps the positions of an earlier run that it did not reach', async () => {
    work = inOne({ acme: times(1_000) });
    const stored = await stopAfter(4, conversations());
    expect(await stopAfter(0, conversations(TIME, stored))).toEqual(stored);
  });

  test('contains no key, which might contain the number of a user', async () => {
    work = inOne({ acme: times(1_000) });
    expect(await stopAfter(1, conversations())).toEqual([{ partition: ONE, account: 'acme', time: times(1_000)[149] }]);
  });
});

test('in each minute, another partition is the first one', async () => {
  work = () => ({});
  const firsts = new Set<string | undefined>();
  for (let minute = 0; minute < 4; minute += 1) {
    vi.setSystemTime(Date.parse('2030-01-01T00:00:00Z') + minute * 60_000);
    queries = [];
    await pagesOf(conversations().firstTurn());
    firsts.add(queries[0]?.ExpressionAttributeValues[':due']);
  }
  expect(firsts.size).toBe(4);
});

test('conversations spread over 64 partitions', () => {
  const partitions = Map.groupBy(
    Array.from({ length: 64_000 }, (_, user) =>
      dueAt('conversations', { account: 'acme', id: `OUTBOX#app#acme#2782${user}`, time: TIME }),
    ),
    ({ gsi1pk }) => gsi1pk,
  );
  expect([...partitions.keys()].sort()).toEqual(duePartitions('conversations').sort());
  for (const { length } of partitions.values()) expect(length).toBeLessThan(1_500);
});

test('each kind of work has partitions of its own', () => {
  expect(new Set(allDuePartitions).size).toBe(64 + 4 * 8);
});
