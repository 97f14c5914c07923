/** Counting: each item is added once to a counter, which has shards. */
import type { Key } from '../table/keys.ts';
import { transact, updateWrite, type Write } from '../table/transactions.ts';
import type { CounterShards } from './counter-shards.ts';

/** What is counted, and where. */
export interface CountingRules<Item extends Key> {
  /** The shard of the counter that an item belongs to. */
  counterOf(item: Item, shard: number): Key;
  /** When the counter of an item expires, in seconds since 1970. Default: never. */
  endOf?(item: Item): number;
  /** The part of the counter that an item is also added to: the name of an attribute. Default: none. */
  partOf?(item: Item): string;
  /** Marks an item as counted in this shard; fails if it is counted or removed. */
  markWrite(item: Item, shard: number): Write;
}

/** Most writes of a transaction: items, and the counters that they are added to. */
const WRITES = 100;

/**
 * Adds items to their counters. An item that is given again is not counted again: one transaction marks items as counted,
 * if they are not yet, and adds their sums. 2 write units for an item, and 2 for a counter. The items of a counter are in
 * as few transactions as possible.
 *
 * @param shards - the shards that this process adds to
 * @returns the number of items that were not counted before
 */
export const countOnce = async <Item extends Key>(
  items: Item[],
  rules: CountingRules<Item>,
  shards: CounterShards,
): Promise<number> => {
  const each = [...new Map(items.map((item) => [`${item.pk} ${item.sk}`, item])).values()];
  let counted = 0;
  for (const chunk of chunksOf(each, rules)) counted += await countChunk(chunk, rules, shards);
  return counted;
};

const nameOfCounter = <Item extends Key>(item: Item, { counterOf }: CountingRules<Item>): string =>
  JSON.stringify(counterOf(item, 0));

/** Divides items into transactions, counter by counter. */
const chunksOf = <Item extends Key>(items: Item[], rules: CountingRules<Item>): Item[][] => {
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

const countChunk = async <Item extends Key>(
  items: Item[],
  rules: CountingRules<Item>,
  shards: CounterShards,
): Promise<number> => {
  for (let left = items; left.length > 0; ) {
    const counted = left;
    const groups = [...Map.groupBy(counted, (item) => nameOfCounter(item, rules))];
    const failed = new Set(
      await transact(
        () => [
          ...counted.map((item) => rules.markWrite(item, shards.of(nameOfCounter(item, rules)))),
          ...groups.flatMap(([name, group]) => addToCounterWrites(group, rules, shards.of(name))),
        ],
        (places) => {
          for (const index of places) {
            const [name] = groups[index - counted.length] ?? [];
            if (name !== undefined) shards.move(name);
          }
        },
      ),
    );
    if (failed.size === 0) return left.length;
    left = left.filter((_, index) => !failed.has(index));
  }
  return 0;
};

/** Adds the items of a counter to one of its shards: one write. */
const addToCounterWrites = <Item extends Key>(
  group: Item[],
  { counterOf, endOf, partOf }: CountingRules<Item>,
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
