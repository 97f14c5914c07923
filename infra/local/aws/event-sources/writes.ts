/**
 * Tells readers of the stream when functions write to the table: so they find changes at once, and need not ask a
 * database all the time that answers the more slowly the more it has seen.
 */
import { setTimeout as pause } from 'node:timers/promises';

export class Writes {
  #count = 0;
  #next = Promise.withResolvers<void>();

  /** How many there have been. */
  get count(): number {
    return this.#count;
  }

  note(): void {
    this.#count += 1;
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }

  /** Waits until there have been more than `count`, or for so many milliseconds. @throws the signal's reason */
  async moreThan(count: number, most: number, signal: AbortSignal): Promise<void> {
    if (this.#count > count) return;
    const over = new AbortController();
    await Promise.race([
      this.#next.promise,
      pause(most, undefined, { signal: AbortSignal.any([signal, over.signal]) }),
    ]).finally(() => over.abort());
  }
}
