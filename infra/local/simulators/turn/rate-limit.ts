/** Turn's limit on calls (protocols, "What we send Turn"): so many in a window, which begins with its first call. */
import { now } from '../../../../shared/core/clock.ts';

export class RateLimit {
  /** How long a window is, in milliseconds. */
  readonly #length: number;
  #ends = 0;
  #calls = 0;

  constructor(length: number) {
    this.#length = length;
  }

  /** Counts a call. Answers whether the limit allows it. */
  count(limit: number): boolean {
    this.#begin();
    this.#calls += 1;
    return this.#calls <= limit;
  }

  /** What every answer says about the limit. */
  headers(limit: number): Record<string, string> {
    this.#begin();
    return {
      'x-ratelimit-bucket': 'general',
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(Math.max(limit - this.#calls, 0)),
      'x-ratelimit-reset': String(Math.ceil(this.#ends / 1000)),
    };
  }

  /** Begins a window where the last one is over. */
  #begin(): void {
    if (now() < this.#ends) return;
    this.#ends = now() + this.#length;
    this.#calls = 0;
  }
}
