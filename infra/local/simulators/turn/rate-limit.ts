/** Turn's rate limit: a number of calls in a window that begins with its first call. */
import { now } from '../../../../shared/core/clock.ts';

export class RateLimit {
  /** Length of a window, in milliseconds. */
  readonly #length: number;
  #ends = 0;
  #calls = 0;

  constructor(length: number) {
    this.#length = length;
  }

  /** Counts a call. Returns whether the limit allows it. */
  count(limit: number): boolean {
    this.#begin();
    this.#calls += 1;
    return this.#calls <= limit;
  }

  /** The headers about the limit that every response has. */
  headers(limit: number): Record<string, string> {
    this.#begin();
    return {
      'x-ratelimit-bucket': 'general',
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(Math.max(limit - this.#calls, 0)),
      'x-ratelimit-reset': String(Math.ceil(this.#ends / 1000)),
    };
  }

  /** Begins a new window if the last one is over. */
  #begin(): void {
    if (now() < this.#ends) return;
    this.#ends = now() + this.#length;
    this.#calls = 0;
  }
}
