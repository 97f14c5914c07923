/** Counting: each item is added once to a counter, which has shards. */
import type { Change } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { transact, transactReturningItems, updateWrite, type Write } from '../table/transactions.ts';
import { type Claimable, claimItems, type Mark, newClaim, sealWrite } from './claims.ts';
import type { CounterShards } from './counter-shards.ts';

/** Where items are counted. */
interface Counters<Item extends Key> {
  /** The shard of the counter that an item belongs to. */
  counterOf(item: Item, shard: number): Key;
  /** When the counter of an item expires, in seconds since 1970. Default: never. */
  endOf?(item: Item): number;
  /** The part of the counter that an item is also added to: the name of an attribute. Default: none. */
  partOf?(item: Item): string;
}

interface CountingRules<Item extends Key> extends Counters<Item> {
  /** Marks an item as counted in this shard; fails if it is counted or removed. */
  markWrite(item: Item, shard: number): Write;
}

interface ClaimingRules<Item extends Claimable> extends Counters<Item> {
  /** The change of an item's mark; fails if it has another one, or was removed. */
  changeMark(item: Item, from: Mark, to: Mark): Change;
}

/** Most writes of a transaction: items, and the counters that they are added to. */
const WRITES = 100;

/** Up to so many items, their marks in the transaction of the sums take no more units than a claim. */
const ALONE = 2;

/** Claims of a worker of which another one, with the same items, made each void. */
const ATTEMPTS = 5;

/**
 * Adds items to their counters. An item that is given again is not counted again: one transaction marks items as counted,
 * if they are not yet, and adds their sums. 2 write units for an item, and 2 for a counter. The items of a counter are in
 * as few transactions as possible.
 *
 * @param shards - the shards that this process adds to
 * @returns the number of items that were not counted before
 */
export const countOnce = <Item extends Key>(
  items: Item[],
  rules: CountingRules<Item>,
  shards: CounterShards,
): Promise<number> => countEach(items, rules, async (chunk) => (await countMarked(chunk, rules, shards)).counted);

/**
 * As `countOnce`, for items that come many at a time. From three items on, a claim marks them, and one transaction seals it and
 * adds their sums: 1 write unit for an item, 2 for the claim, and 2 for a counter.
 *
 * @throws Error — another worker counts these items; all of them may be counted again
 */
export const countClaimedOnce = <Item extends Claimable>(
  items: Item[],
  rules: ClaimingRules<Item>,
  shards: CounterShards,
): Promise<number> =>
  countEach(items, rules, async (chunk) => {
    if (chunk.length > ALONE) return countClaimed(chunk, rules, shards);
    const { counted, refused } = await countMarked(chunk, { ...rules, markWrite: markWriteOf(rules) }, shards);
    const claimed = refused.filter(({ present }) => typeof present?.counted === 'string').map(({ item }) => item);
    return counted + (claimed.length > 0 ? await countClaimed(claimed, rules, shards) : 0);
  });

const markWriteOf =
  <Item extends Claimable>({ changeMark }: ClaimingRules<Item>) =>
  (item: Item): Write =>
    updateWrite({ ...changeMark(item, false, true), ReturnValuesOnConditionCheckFailure: 'ALL_OLD' });

const countEach = async <Item extends Key>(
  items: Item[],
  rules: Counters<Item>,
  count: (chunk: Item[]) => Promise<number>,
): Promise<number> => {
  const each = [...new Map(items.map((item) => [`${item.pk} ${item.sk}`, item])).values()];
  let counted = 0;
  for (const chunk of chunksOf(each, rules)) counted += await count(chunk);
  return counted;
};

const nameOfCounter = <Item extends Key>(item: Item, { counterOf }: Counters<Item>): string =>
  JSON.stringify(counterOf(item, 0));

/** Divides items into transactions, counter by counter. */
const chunksOf = <Item extends Key>(items: Item[], rules: Counters<Item>): Item[][] => {
  const chunks: Item[][] = [];
  let counters = new Set<string>();
  for (const [name, group] of Map.groupBy(items, (item) => nameOfCounter(item, rules))) {
    for (const item of group) {
      counters.add(name);
      const chunk = chunks.at(-1);
      if (chunk !== undefined && chunk.length + 1 + counters.size <= WRITES) {
        chunk.push(item);
        continue;
      }
      chunks.push([item]);
      counters = new Set([name]);
    }
  }
  return chunks;
};

/** An item that was not counted, and what it is now. */
interface Refused<Item> {
  item: Item;
  present: Record<string, unknown> | undefined;
}

/** Counts items whose marks are in the transaction of their sums. */
const countMarked = async <Item extends Key>(
  items: Item[],
  rules: CountingRules<Item>,
  shards: CounterShards,
): Promise<{ counted: number; refused: Refused<Item>[] }> => {
  const refused: Refused<Item>[] = [];
  for (let left = items; left.length > 0; ) {
    const marked = left;
    const sums = sumsOf(marked, rules, shards);
    const failed = await transactReturningItems(
      () => [...marked.map((item) => rules.markWrite(item, shards.of(nameOfCounter(item, rules)))), ...sums.writes()],
      (places) => sums.move(places.map((place) => place - marked.length)),
    );
    if (failed.length === 0) return { counted: marked.length, refused };
    const presents = new Map(failed.map(({ place, item }) => [place, item]));
    left = marked.filter((item, place) => {
      if (presents.has(place)) refused.push({ item, present: presents.get(place) });
      return !presents.has(place);
    });
  }
  return { counted: 0, refused };
};

/** Counts items that a claim marks. */
const countClaimed = async <Item extends Claimable>(
  items: Item[],
  rules: ClaimingRules<Item>,
  shards: CounterShards,
): Promise<number> => {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const claim = newClaim();
    const claimed = await claimItems(items, claim, rules.changeMark);
    if (claimed.length === 0) return 0;
    const sums = sumsOf(claimed, rules, shards);
    const failed = await transact(
      () => [sealWrite(claim, claimed), ...sums.writes()],
      (places) => sums.move(places.map((place) => place - 1)),
    );
    if (failed.length === 0) return claimed.length;
  }
  throw new Error('Other workers have taken over what this one counts.');
};

/** The sums of some items: a write for each counter, and how to choose other shards of those that conflict, by place. */
const sumsOf = <Item extends Key>(items: Item[], rules: Counters<Item>, shards: CounterShards) => {
  const groups = [...Map.groupBy(items, (item) => nameOfCounter(item, rules))];
  return {
    writes: () => groups.flatMap(([name, group]) => addToCounterWrites(group, rules, shards.of(name))),
    move: (places: number[]): void => {
      for (const place of places) {
        const [name] = groups[place] ?? [];
        if (name !== undefined) shards.move(name);
      }
    },
  };
};

/** Adds the items of a counter to one of its shards: one write. */
const addToCounterWrites = <Item extends Key>(
  group: Item[],
  { counterOf, endOf, partOf }: Counters<Item>,
  shard: number,
): Write[] =>
  group.slice(0, 1).map((item) =>
    addToCounterWrite(counterOf(item, shard), group.length, {
      ...(endOf !== undefined && { end: endOf(item) }),
      ...(partOf !== undefined && { parts: Map.groupBy(group, partOf) }),
    }),
  );

/** Adds a number, which may be negative, to a shard of a counter, and items to its parts. 2 write units in a transaction. */
export const addToCounterWrite = (
  key: Key,
  count: number,
  { end, parts = new Map() }: { end?: number; parts?: Map<string, unknown[]> } = {},
): Write => {
  const sums = ['#count :count', ...[...parts.keys()].map((part) => `${part} :${part}`)];
  return updateWrite({
    Key: key,
    UpdateExpression: `ADD ${sums.join(', ')}${end === undefined ? '' : ' SET expires_at = :end'}`,
    ExpressionAttributeNames: { '#count': 'count' },
    ExpressionAttributeValues: {
      ':count': count,
      ...Object.fromEntries([...parts].map(([part, { length }]) => [`:${part}`, length])),
      ...(end !== undefined && { ':end': end }),
    },
  });
};
