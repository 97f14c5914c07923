/** Time and randomness: everything that reads a clock or rolls dice does it here, so that tests can hold both still. */
import { currentTime } from '#runtime';

export { scaled } from '#runtime';

/** In microseconds. */
const SECOND = 1_000_000;

let lastMicroseconds = 0;

/** Milliseconds since 1970. */
export const now = (): number => currentTime();

/** Whole seconds since 1970, `seconds` from now: the unit of `expires_at`. */
export const secondsFromNow = (seconds: number): number => Math.floor(now() / 1000) + seconds;

/**
 * The present as the API writes it, UTC with microseconds and no zone (spec §2): `2022-03-28T09:58:09.118000`.
 * A later call of the same process never gives the same text or one that sorts before, unless the clock is set back.
 */
export const timestamp = (): string => {
  const present = now() * 1000;
  const ahead = lastMicroseconds - present;
  lastMicroseconds = ahead >= 0 && ahead < SECOND ? lastMicroseconds + 1 : present;
  const microseconds = String(lastMicroseconds % 1000).padStart(3, '0');
  return new Date(Math.floor(lastMicroseconds / 1000)).toISOString().replace('Z', microseconds);
};

/** A random number from `least` to `most`. */
export const between = (least: number, most: number): number => least + Math.random() * (most - least);

/** A time, given in milliseconds since 1970, as a sort key: fixed width, so that text order is time order. */
export const sortableTime = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** A time, given in milliseconds since 1970, as `timestamp` writes it. */
export const timestampOf = (milliseconds: number): string => sortableTime(milliseconds).replace('Z', '000');
