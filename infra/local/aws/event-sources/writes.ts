/**
 * Notifies readers of the stream of the functions' writes. Readers find changes at once, without polling a database
 * that becomes slower with each record.
 */
import { setTimeout as pause } from 'node:timers/promises';

export class Writes {
  #count = 0;
  #next = Promise.withResolvers<void>();

  /** The number of writes so far. */
  get count(): number {
    return this.#count;
  }

  notify(): void {
    this.#count += 1;
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }

  /** Waits until there are more than `count` writes, for at most `max` milliseconds. @throws the signal's reason */
  async moreThan(count: number, max: number, signal: AbortSignal): Promise<void> {
    if (this.#count > count) return;
    const over = new AbortController();
    await Promise.race([
      this.#next.promise,
      pause(max, undefined, { signal: AbortSignal.any([signal, over.signal]) }),
    ]).finally(() => over.abort());
  }
}
