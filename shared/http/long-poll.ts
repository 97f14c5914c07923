/** Long polls: a value is read again and again, in growing steps, until a condition is true. */
import { setTimeout as pause } from 'node:timers/promises';
import { now } from '../core/clock.ts';
import type { WaitDeadlines } from '../core/deadline.ts';
import { Problem } from '../core/problems.ts';
import { isRetryable } from '../table/retryable-errors.ts';

/** Milliseconds of the first pause, the growth of each next one, and the longest: 38 reads in 28 s. */
const STEPS = { first: 200, growth: 1.25, longest: 850 };

/** `latest` reads the present state; `eventual` may be a little behind, and costs half as much. */
export type ReadMode = 'latest' | 'eventual';

/**
 * Reads until the value is done, or until `end`, and once more then. The caller gets a value at most a second after it is
 * done, if a read takes up to 75 ms. The first and the last read return the present state, so that the response is never
 * "not yet" because of a stale read. A read that fails because the table is busy is ignored.
 *
 * @returns the last value
 * @throws unavailable: no read returned in time. If all reads of the present state failed, the error of the last one
 */
export const pollUntil = async <Value>(
  read: (mode: ReadMode) => Promise<Value>,
  isDone: (value: Value) => boolean,
  { end, latest }: WaitDeadlines,
): Promise<Value> => {
  const { promise: tooLate, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, latest - now());
  const seen: { last?: { value: Value }; isDone: boolean; mode?: ReadMode } = { isDone: false };
  let failure: unknown = new Problem('unavailable', 'The request took too long. Retry in a moment.', { retryAfter: 1 });
  const readOnce = (mode: ReadMode): Promise<void> => Promise.race([readNow(mode), tooLate]);
  const readNow = async (mode: ReadMode): Promise<void> => {
    seen.mode = mode;
    try {
      const value = await read(mode);
      seen.isDone = isDone(value);
      if (seen.isDone || mode === 'latest') seen.last = { value };
    } catch (error) {
      if (!isRetryable(error)) throw error;
      failure = error;
    }
  };
  try {
    await readOnce('latest');
    for (let step = STEPS.first; !seen.isDone && now() < end; step = Math.min(step * STEPS.growth, STEPS.longest)) {
      const left = end - now();
      await pause(Math.min(step, left));
      await readOnce(step < left ? 'eventual' : 'latest');
    }
    // The read before the last one took longer than was left.
    if (!seen.isDone && seen.mode === 'eventual' && now() < latest) await readOnce('latest');
    if (seen.last === undefined) throw failure;
    return seen.last.value;
  } finally {
    clearTimeout(timer);
  }
};
