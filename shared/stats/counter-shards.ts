/**
 * Shards of job counters. Several workers count at the same time, and a counter that one of them writes in a transaction is
 * closed to the others. So a counter has up to sixteen shards, whose sum is the count. Each process adds to the first shard
 * until it meets another process there; then it moves to a shard that it chooses at random, and stays. It chooses among two
 * shards, after the next conflict among four, and so on: a counter has about as many shards as there were workers.
 */
import { between } from '../core/clock.ts';

/** Maximum number of shards of a counter: reading a count costs at most so many times as much. */
const SHARDS = 16;

/** Counters whose shards a process remembers. Beyond, it begins at the first shard again. */
const REMEMBERED = 1_000;

export class CounterShards {
  readonly #chosen = new Map<string, { shard: number; among: number }>();

  /** The shard that this process adds to, by the name of a counter. */
  of(counter: string): number {
    return this.#chosen.get(counter)?.shard ?? 0;
  }

  /** Chooses again, after a conflict with another process. */
  move(counter: string): void {
    const among = Math.min(2 * (this.#chosen.get(counter)?.among ?? 1), SHARDS);
    if (this.#chosen.size >= REMEMBERED) this.#chosen.clear();
    this.#chosen.set(counter, { shard: Math.floor(between(0, among)), among });
  }
}
