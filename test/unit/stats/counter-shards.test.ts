/** The choice of a counter's shard: the first one, until it conflicts with another process. */
import { afterEach, expect, test, vi } from 'vitest';
import { CounterShards } from '../../../shared/stats/counter-shards.ts';

afterEach(() => void vi.restoreAllMocks());

test('without conflicts, a process adds to the first shard of every counter', () => {
  const shards = new CounterShards();
  expect(['a', 'b', 'a'].map((counter) => shards.of(counter))).toEqual([0, 0, 0]);
});

test('after each conflict, a process chooses among twice as many shards, sixteen at most, and stays', () => {
  const shards = new CounterShards();
  vi.spyOn(Math, 'random').mockReturnValue(0.999);
  const chosen = Array.from({ length: 6 }, () => {
    shards.move('a');
    return [shards.of('a'), shards.of('a')];
  });
  expect(chosen).toEqual([1, 3, 7, 15, 15, 15].map((shard) => [shard, shard]));
  expect(shards.of('b')).toBe(0);
});

test('a process forgets the shards of old counters, and begins at the first one again', () => {
  const shards = new CounterShards();
  vi.spyOn(Math, 'random').mockReturnValue(0.999);
  const counters = Array.from({ length: 1_001 }, (_, index) => `counter-${index}`);
  for (const counter of counters) shards.move(counter);
  expect(counters.filter((counter) => shards.of(counter) > 0)).toEqual(['counter-1000']);
});
