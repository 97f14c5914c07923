/** A run of the due work: what it has done, and whether it has time for more. */
import { describeError, log } from '../telemetry/log.ts';

/** If fewer milliseconds are left, no work begins; the next invocation continues. */
const RESERVE = 10_000;

export class Run {
  /** In the form of `sortableTime`. */
  readonly time: string;
  readonly done = { woken: 0, expansions: 0, uploads: 0, answers: 0, profilers: 0, failed: 0 };
  readonly #remaining: () => number;

  constructor(time: string, remaining: () => number) {
    this.time = time;
    this.#remaining = remaining;
  }

  readonly isOver = (): boolean => this.#remaining() < RESERVE;

  /** Does a piece of work. If it fails, it is retried in the next minute, and other work continues. */
  async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      log('error', 'due work failed', describeError(error));
      this.done.failed += 1;
    }
  }
}
