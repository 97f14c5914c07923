/**
 * Points in time in the form of RFC 3339, in any zone and precision. Without a zone, as in the responses of the API, they are in
 * UTC.
 */
import * as v from 'valibot';
import { shownAs } from './bounded.ts';

const PARTS =
  /^(\d{4}-\d\d-\d\d)[Tt ]((?:[01]\d|2[0-3]):[0-5]\d):([0-5]\d|60)(?:\.(\d+))?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)?$/;

/** The last second of the year 9999, in milliseconds since 1970. */
const END_OF_TIME = 253_402_300_799_000;

/** The time of a text, in the form of the API; undefined if the text is not a valid time. */
const timestampIn = (value: string): string | undefined => {
  const [, day = '', minute = '', second = '', fraction = '', zone = 'Z'] = PARTS.exec(value) ?? [];
  if (!isDay(day)) return undefined;
  // JavaScript has no leap seconds: a leap second becomes the end of the previous second.
  const isLeap = second === '60';
  const whole = Date.parse(`${day}T${minute}:${isLeap ? '59' : second}${zone.toUpperCase()}`);
  const microseconds = isLeap ? '999999' : fraction.padEnd(6, '0').slice(0, 6);
  return `${new Date(Math.min(Math.max(whole, 0), END_OF_TIME)).toISOString().slice(0, 19)}.${microseconds}`;
};

/** Whether the day exists: for `Date`, 30 February is 1 March. */
const isDay = (day: string): boolean => day !== '' && new Date(`${day}T00:00Z`).toJSON()?.startsWith(day);

const NO_TIME =
  'must be a time as RFC 3339 writes it (a date, T, a time of day, and Z or an offset; without one, UTC), or in Unix seconds';

/** The form of both texts, for the API description. */
const TIME_OR_SECONDS =
  '^(\\d{4}-\\d\\d-\\d\\d[Tt ]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)?|\\d{1,12}(\\.\\d{1,9})?)$';

/** Milliseconds since 1970 of a time in RFC 3339, or in Unix seconds as a number or a text; NaN if it is neither. */
const millisecondsOf = (value: string | number): number => {
  if (typeof value === 'number' || /^\d{1,12}(\.\d{1,9})?$/.test(value)) return Number(value) * 1_000;
  return Date.parse(`${timestampIn(value)}Z`);
};

/** Seconds since 1970, with microseconds; NaN if the text is no time. */
const secondsOf = (value: string): number => {
  if (/^\d{1,15}(\.\d{1,9})?$/.test(value)) return Number(value);
  const time = timestampIn(value) ?? '';
  return Date.parse(`${time.slice(0, 19)}Z`) / 1_000 + Number(`0${time.slice(19)}`);
};

/** A point in time as RFC 3339, or in Unix seconds as a number or a text. The output is in milliseconds since 1970. */
export const pointInTimeOrSeconds = v.pipe(
  shownAs(
    // Generated clients in Java do not compile with `format: date-time` beside another type.
    {
      anyOf: [
        { type: 'string', pattern: TIME_OR_SECONDS },
        { type: 'number', format: 'double', minimum: 0, maximum: END_OF_TIME / 1_000 },
      ],
    },
    v.union([v.string(), v.number()], NO_TIME),
  ),
  v.transform(millisecondsOf),
  v.check<number, string>((ms) => !Number.isNaN(ms), NO_TIME),
  v.check<number, string>(
    (ms) => Number.isNaN(ms) || (ms >= 0 && ms <= END_OF_TIME),
    'must be in the years 1970 to 9999: Unix time is in seconds, not in milliseconds',
  ),
);

/** A point in time. The output has the form of the API: UTC, with microseconds and without a zone. */
export const pointInTime = v.pipe(
  v.string(),
  shownAs(
    { format: 'date-time' },
    v.check<string, string>(
      (value) => timestampIn(value) !== undefined,
      'must be a time as RFC 3339 writes it: a date, T, a time of day, and Z or an offset; without one, UTC',
    ),
  ),
  v.transform((value) => timestampIn(value) ?? ''),
);

/**
 * A point in time in a parameter: as RFC 3339, or in Unix seconds with at most nine decimal places. The output is in seconds since
 * 1970; microseconds are exact.
 */
export const timeParameter = v.pipe(
  v.string(),
  shownAs(
    { pattern: TIME_OR_SECONDS },
    v.check<string, string>((value) => !Number.isNaN(secondsOf(value)), NO_TIME),
  ),
  v.transform(secondsOf),
  v.check<number, string>(
    (seconds) => Number.isNaN(seconds) || (seconds >= 0 && seconds * 1_000 <= END_OF_TIME),
    'must be in the years 1970 to 9999: Unix time is in seconds, not in milliseconds',
  ),
);
