/**
 * The throttle of a route: one token bucket for all callers. A request over it gets 429 before its token is checked ("Throttle
 * requests to your HTTP APIs for better throughput in API Gateway", Amazon API Gateway Developer Guide). There, limits are
 * targets, and some more requests may pass; here they are exact.
 */
import type { ThrottleDefinition } from '../template/definitions.ts';
import type { ThreadClock } from '../time/thread-clock.ts';

export class Throttle {
  readonly #limit: ThrottleDefinition;
  readonly #clock: Pick<ThreadClock, 'now'>;
  #left: number;
  #filled: number;

  constructor(limit: ThrottleDefinition, clock: Pick<ThreadClock, 'now'>) {
    this.#limit = limit;
    this.#clock = clock;
    this.#left = limit.burst;
    this.#filled = clock.now();
  }

  /** Whether a request passes. */
  admits(): boolean {
    const { rate, burst } = this.#limit;
    const present = this.#clock.now();
    // The clock may be set back.
    const seconds = Math.max(present - this.#filled, 0) / 1_000;
    this.#left = Math.min(this.#left + seconds * rate, burst);
    this.#filled = present;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
