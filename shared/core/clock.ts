/** Time and random pauses: all code reads the clock here, so that tests can control it. */
import { currentTime } from '#runtime';

export { pause, scaled } from '#runtime';

/** Microseconds. */
const SECOND = 1_000_000;

let lastMicroseconds = 0;

/** Milliseconds since 1970. */
export const now = (): number => currentTime();

/** The time `seconds` from now, in whole seconds since 1970: the unit of `expires_at`. */
export const secondsFromNow = (seconds: number): number => Math.floor(now() / 1000) + seconds;

/**
 * The present time in the form of the API: UTC with microseconds, without a zone:
 * `2022-03-28T09:58:09.118000`. Times of one process increase with each call, unless the clock is set back by a second
 * or more.
 */
export const timestamp = (): string => {
  const present = now() * 1000;
  const ahead = lastMicroseconds - present;
  lastMicroseconds = ahead >= 0 && ahead < SECOND ? lastMicroseconds + 1 : present;
  const microseconds = String(lastMicroseconds % 1000).padStart(3, '0');
  return new Date(Math.floor(lastMicroseconds / 1000)).toISOString().replace('Z', microseconds);
};

/** Whether a time in the form of `timestamp` is over, if there is one. */
export const isPast = (time: string | undefined): boolean => time !== undefined && time <= timestampOf(now());

/** A random number from `min` to `max`. */
export const between = (min: number, max: number): number => min + Math.random() * (max - min);

/** A time, in milliseconds since 1970, as a sort key: of fixed width, so that text order is time order. */
export const sortableTime = (milliseconds: number): string => new Date(milliseconds).toISOString();

/**
 * A time, in seconds since 1970, as the beginning of sort keys with that time in the form of `timestamp`: with
 * microseconds if it has a fraction.
 */
export const timePrefix = (seconds: number): string => {
  const whole = Math.floor(seconds);
  const text = sortableTime(whole * 1_000).slice(0, 19);
  const microseconds = Math.min(Math.round((seconds - whole) * 1e6), 999_999);
  return microseconds === 0 ? text : `${text}.${String(microseconds).padStart(6, '0')}`;
};

/** A time, in milliseconds since 1970, in the form of `timestamp`. */
export const timestampOf = (milliseconds: number): string => sortableTime(milliseconds).replace('Z', '000');
