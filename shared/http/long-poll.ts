/** Waiting for something to become true, by looking at it again and again, in growing steps. */
import { setTimeout as pause } from 'node:timers/promises';
import { now } from '../core/clock.ts';
import { Problem } from '../core/problems.ts';
import { isRetryable } from '../table/retryable-errors.ts';

/** Milliseconds of the first pause, how much longer each next one is, and the longest: 38 looks in 28 s. */
const STEPS = { first: 200, growth: 1.25, longest: 850 };

/** How long it is looked, in milliseconds since 1970. */
interface Ends {
  /** No look begins later, but for the last one, if the one before it ended later. */
  end: number;
  /** When a look is given up that has not ended by then. */
  latest: number;
}

/** `latest` sees what is there at this moment; `eventual` may be a little behind, and costs half as much. */
export type ReadMode = 'latest' | 'eventual';

/**
 * Looks until what it sees is done, or until `end`, and once more then. Whoever waits sees it at most a second after it is
 * done, where a look takes up to 75 ms. The first look and the last one see what is there at that moment, so that the
 * response is never "not yet" because of a stale read. A look that fails because the table is busy is left out.
 *
 * @returns what was seen last
 * @throws unavailable — no look ended in time; the error of the last one, if all of them failed that see the latest
 */
export const pollUntil = async <Seen>(
  look: (how: ReadMode) => Promise<Seen>,
  isDone: (seen: Seen) => boolean,
  { end, latest }: Ends,
): Promise<Seen> => {
  const { promise: tooLate, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, latest - now());
  const seen: { last?: { value: Seen }; isDone: boolean; how?: ReadMode } = { isDone: false };
  let failure: unknown = new Problem('unavailable', 'The request took too long. Retry in a moment.', { retryAfter: 1 });
  const lookOnce = (how: ReadMode): Promise<void> => Promise.race([lookNow(how), tooLate]);
  const lookNow = async (how: ReadMode): Promise<void> => {
    seen.how = how;
    try {
      const value = await look(how);
      seen.isDone = isDone(value);
      if (seen.isDone || how === 'latest') seen.last = { value };
    } catch (error) {
      if (!isRetryable(error)) throw error;
      failure = error;
    }
  };
  try {
    await lookOnce('latest');
    for (let step = STEPS.first; !seen.isDone && now() < end; step = Math.min(step * STEPS.growth, STEPS.longest)) {
      const left = end - now();
      await pause(Math.min(step, left));
      await lookOnce(step < left ? 'eventual' : 'latest');
    }
    // The one before the last took longer than was left.
    if (!seen.isDone && seen.how === 'eventual' && now() < latest) await lookOnce('latest');
    if (seen.last === undefined) throw failure;
    return seen.last.value;
  } finally {
    clearTimeout(timer);
  }
};
