/** Points in time as other systems write them (RFC 3339), in any zone and precision. */
import * as v from 'valibot';
import { shownAs } from './bounded.ts';

const PARTS =
  /^(\d{4}-\d\d-\d\d)[Tt ]((?:[01]\d|2[0-3]):[0-5]\d):([0-5]\d|60)(?:\.(\d+))?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** The last second of the year 9999, in milliseconds since 1970. */
const END_OF_TIME = 253_402_300_799_000;

/** The time that a text names, as the API writes times; nothing, where it names none. */
const timestampIn = (value: string): string | undefined => {
  const [, day = '', minute = '', second = '', fraction = '', zone = ''] = PARTS.exec(value) ?? [];
  if (!isDay(day)) return undefined;
  // JavaScript has no leap seconds: one counts as the end of the second before.
  const isLeap = second === '60';
  const whole = Date.parse(`${day}T${minute}:${isLeap ? '59' : second}${zone.toUpperCase()}`);
  const microseconds = isLeap ? '999999' : fraction.padEnd(6, '0').slice(0, 6);
  return `${new Date(Math.min(Math.max(whole, 0), END_OF_TIME)).toISOString().slice(0, 19)}.${microseconds}`;
};

/** Whether the calendar has this day: `Date` takes 30 February for 1 March. */
const isDay = (day: string): boolean => day !== '' && new Date(`${day}T00:00Z`).toJSON()?.startsWith(day);

/** A point in time; it becomes a time as the API writes it: UTC, with microseconds and without a zone. */
export const pointInTime = v.pipe(
  v.string(),
  shownAs(
    { format: 'date-time' },
    v.check<string, string>(
      (value) => timestampIn(value) !== undefined,
      'must be a time as RFC 3339 writes it: a date, T, a time of day, and Z or an offset',
    ),
  ),
  v.transform((value) => timestampIn(value) ?? ''),
);
