/** A run of a step of the due work: what it has done, and whether it has time for more. */
import { now, sortableTime } from '../core/clock.ts';
import { describeError, log } from '../telemetry/log.ts';

/** If fewer milliseconds are left, no work begins; the next invocation continues. */
const RESERVE = 10_000;

export class Run {
  /** When it began, in the form of `sortableTime`. */
  readonly time = sortableTime(now());
  readonly done = { woken: 0, expansions: 0, uploads: 0, answers: 0, profilers: 0, failed: 0 };
  readonly #remaining: () => number;

  /** @param remaining - returns the milliseconds that are left */
  constructor(remaining: () => number) {
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

  /**
   * Does work of several accounts in turns: one piece of each account after the other, so that no account delays another
   * one by more than a piece. `work` returns whether the item is finished; otherwise, it has another turn. An item that
   * fails has no other turn in this run.
   */
  async inTurns<Item>(items: Item[], accountOf: (item: Item) => string, work: (item: Item) => Promise<boolean>) {
    for (let round = [...Map.groupBy(items, accountOf).values()]; round.length > 0; ) {
      for (const [item, ...others] of round.splice(0)) {
        if (this.isOver()) return;
        if (item === undefined) continue;
        let isFinished = true;
        await this.attempt(async () => {
          isFinished = await work(item);
        });
        const left = isFinished ? others : [item, ...others];
        if (left.length > 0) round.push(left);
      }
    }
  }
}
