/**
 * Quarters of an hour in job counters. The counter of a UTC day has, besides its total, the count of each quarter in which
 * something was counted: the attributes `q0` (from 00:00) to `q95` (from 23:45). The clocks of all time zones differ from UTC
 * by whole quarters, so the count of a day in any zone is a sum of quarters. With all of them, a counter has at most
 * 0.93 KB: a write of it stays 1 unit, or 2 in a transaction.
 */
import { sortableTime } from '../core/clock.ts';
import { dayIn } from '../core/time-zones.ts';

type Quarter = `q${number}`;

/** The counts of a counter by quarter. */
export type Quarters = { readonly [quarter in Quarter]?: number };

const DAY_MS = 86_400_000;
const QUARTER_MS = 900_000;

/**
 * The quarters of a day, in the order of time.
 *
 * @internal Tests use it, too.
 */
export const quarters = Array.from({ length: DAY_MS / QUARTER_MS }, (_, index): Quarter => `q${index}`);

/** The quarter of a time in the form of the API. */
export const quarterOf = (time: string): Quarter =>
  `q${Number(time.slice(11, 13)) * 4 + Math.floor(Number(time.slice(14, 16)) / 15)}`;

/** The days in a zone of the quarters of a UTC day, in the same order. All days are `YYYY-MM-DD`. */
export const daysOfQuarters = (day: string, zone: string): string[] =>
  quarters.map((_, index) => dayIn(zone, Date.parse(day) + index * QUARTER_MS));

/** The counts of a counter by day in a zone, without days that have none. */
export const sumByDay = (counts: Quarters, days: string[]): Map<string, number> => {
  const sums = new Map<string, number>();
  for (const [index, day] of days.entries()) {
    const count = counts[`q${index}`] ?? 0;
    if (count > 0) sums.set(day, (sums.get(day) ?? 0) + count);
  }
  return sums;
};

/** The first and the last UTC day that days in a zone have a part of: the period, or one day more at an end. */
export const utcDaysOf = (start: string, end: string, zone: string): { first: string; last: string } => {
  const [midnight, after] = [Date.parse(start), Date.parse(end) + DAY_MS];
  const next = dayOf(after);
  // The last day of the year 9999 has no next one of the same form.
  const isLast = dayIn(zone, after) > end || next < end;
  return {
    first: dayIn(zone, midnight - QUARTER_MS) < start ? start : dayOf(midnight - DAY_MS),
    last: isLast ? end : next,
  };
};

const dayOf = (milliseconds: number): string => sortableTime(milliseconds).slice(0, 10);
