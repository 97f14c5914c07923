/** Long polls: a value is read again and again, first often and then less often, until a condition is true. */
import { now, pause } from '../core/clock.ts';
import type { WaitDeadlines } from '../core/deadline.ts';
import { Problem } from '../core/problems.ts';
import { isRetryable } from '../core/retryable-errors.ts';

/** Milliseconds from the beginning of a read to the next: most answers come at once, or take long. 40 reads in 28 s. */
const GAPS = { early: 240, late: 960, lateFrom: 3_000 };

/** `latest` reads the present state; `eventual` may be a little behind, and costs half as much. */
export type ReadMode = 'latest' | 'eventual';

/** A slot for a wait. A value that is done at the first read needs none. */
export interface Place {
  /** Takes the slot. Returns whether it was free. */
  take: () => Promise<boolean>;
  /** Releases the slot. Never throws, because the response does not depend on it. */
  release: () => Promise<void>;
}

/**
 * Reads until the value is done, or until `end`, and once more then. The caller gets a value at most 250 ms after it is
 * done in the first 3 s, if a read takes up to 10 ms; later at most a second, if a read takes up to 40 ms. The first and the last read return the present state, so that the response is never
 * "not yet" because of a stale read. A read that fails because the table is busy is ignored. If no slot
 * is free, or the table is too busy to take one, the first read is the only one.
 *
 * @returns the last value
 * @throws unavailable: no read returned in time. If all reads of the present state failed, the error of the last one
 */
export const pollUntil = async <Value>(
  read: (mode: ReadMode) => Promise<Value>,
  isDone: (value: Value) => boolean,
  { end, latest }: WaitDeadlines,
  place: Place,
): Promise<Value> => {
  const begin = now();
  const { promise: tooLate, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.max(latest - now(), 0));
  const seen: { last?: { value: Value }; isDone: boolean; mode?: ReadMode } = { isDone: false };
  let failure: unknown = new Problem('unavailable', 'The request took too long. Retry in a moment.', { retryAfter: 1 });
  const ignoreBusy = (error: unknown): void => {
    if (!isRetryable(error)) throw error;
    failure = error;
  };
  const readNow = async (mode: ReadMode): Promise<void> => {
    seen.mode = mode;
    try {
      const value = await read(mode);
      seen.isDone = isDone(value);
      if (seen.isDone || mode === 'latest') seen.last = { value };
    } catch (error) {
      ignoreBusy(error);
    }
  };
  const readOnce = (mode: ReadMode): Promise<void> => Promise.race([readNow(mode), tooLate]);
  const takePlace = async (): Promise<boolean> => {
    try {
      return (await Promise.race([place.take(), tooLate])) === true;
    } catch (error) {
      ignoreBusy(error);
      return false;
    }
  };
  const readUntilEnd = async (): Promise<void> => {
    for (let next = begin; !seen.isDone && now() < end; ) {
      // A read that took longer than a gap does not shorten the next one to nothing.
      do next += next - begin < GAPS.lateFrom ? GAPS.early : GAPS.late;
      while (next <= now());
      await pause(Math.min(next, end) - now());
      await readOnce(next < end ? 'eventual' : 'latest');
    }
    // The read before the last one took longer than was left.
    if (!seen.isDone && seen.mode === 'eventual' && now() < latest) await readOnce('latest');
  };
  try {
    await readOnce('latest');
    if (!seen.isDone && now() < end && (await takePlace())) {
      try {
        await readUntilEnd();
      } finally {
        await Promise.race([place.release(), tooLate]);
      }
    }
    if (seen.last === undefined) throw failure;
    return seen.last.value;
  } finally {
    clearTimeout(timer);
  }
};
