/** Quarters of an hour, whose sums are the counts of days in any time zone. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { timestampOf } from '../../../shared/core/clock.ts';
import { dayIn } from '../../../shared/core/time-zones.ts';
import { jobCounterKey } from '../../../shared/stats/entities.ts';
import { daysOfQuarters, quarterOf, quarters, sumByDay, utcDaysOf } from '../../../shared/stats/quarters.ts';

const DAY = 86_400_000;
const QUARTER = 900_000;

/** How many quarters of a UTC day each day in a zone has. */
const lengths = (day: string, zone: string): Record<string, number> =>
  Object.fromEntries(
    [...Map.groupBy(daysOfQuarters(day, zone), (one) => one)].map(([one, { length }]) => [one, length]),
  );

/** How many quarters a day in a zone has, of all UTC days that it has a part of. */
const lengthOf = (day: string, zone: string): number => {
  const { first, last } = utcDaysOf(day, day, zone);
  return [...new Set([first, last])].reduce((sum, utc) => sum + (lengths(utc, zone)[day] ?? 0), 0);
};

test.each([
  ['2026-11-20T00:00:00.000000', 'q0'],
  ['2026-11-20T00:14:59.999999', 'q0'],
  ['2026-11-20T00:15:00.000000', 'q1'],
  ['2026-11-20T18:14:59.999999', 'q72'],
  ['2026-11-20T23:59:59.999999', 'q95'],
])('%s is in the quarter %s', (time, expected) => {
  expect(quarterOf(time)).toBe(expected);
});

describe('the quarters of a UTC day', () => {
  test.each([
    ['UTC', { '2026-11-20': 96 }],
    ['Africa/Johannesburg', { '2026-11-20': 88, '2026-11-21': 8 }],
    ['Asia/Kathmandu', { '2026-11-20': 73, '2026-11-21': 23 }],
    ['America/St_Johns', { '2026-11-19': 14, '2026-11-20': 82 }],
    ['Pacific/Chatham', { '2026-11-20': 41, '2026-11-21': 55 }],
    ['Pacific/Kiritimati', { '2026-11-20': 40, '2026-11-21': 56 }],
    ['Pacific/Pago_Pago', { '2026-11-19': 44, '2026-11-20': 52 }],
  ])('are of these days in %s', (zone, expected) => {
    expect(lengths('2026-11-20', zone)).toEqual(expected);
  });
});

describe('a day in a zone', () => {
  test.each([
    ['Europe/Berlin', '2026-03-29', 23],
    ['Europe/Berlin', '2026-10-25', 25],
    ['America/New_York', '2026-03-08', 23],
    ['America/New_York', '2026-11-01', 25],
    ['Australia/Lord_Howe', '2026-10-04', 23.5],
    ['Australia/Lord_Howe', '2026-04-05', 24.5],
    ['Africa/Cairo', '2026-04-24', 23],
    ['Asia/Kathmandu', '2026-03-29', 24],
    // A day that Samoa left out.
    ['Pacific/Apia', '2011-12-30', 0],
  ])('in %s, %s has %s hours', (zone, day, hours) => {
    expect(lengthOf(day, zone)).toBe(hours * 4);
  });

  test.each([
    ['Africa/Johannesburg', '2026-11-19', '2026-11-20'],
    ['Asia/Kathmandu', '2026-11-19', '2026-11-20'],
    ['America/New_York', '2026-11-20', '2026-11-21'],
    ['Africa/Accra', '2026-11-20', '2026-11-20'],
  ])('in %s has parts of the UTC days from %s to %s', (zone, first, last) => {
    expect(utcDaysOf('2026-11-20', '2026-11-20', zone)).toEqual({ first, last });
  });

  test('at an end of the calendar has no UTC day that is out of order', () => {
    for (const zone of ['America/New_York', 'Asia/Kathmandu']) {
      const { first, last } = utcDaysOf('1000-01-01', '9999-12-31', zone);
      expect([first <= '1000-01-01', last]).toEqual([true, '9999-12-31']);
    }
  });
});

test('every zone differs from UTC by whole quarters of an hour', { tags: 'long' }, () => {
  for (const zone of Intl.supportedValuesOf('timeZone')) {
    for (let month = 0; month < 24; month += 1) {
      const midnight = Date.UTC(2026, month, 15);
      const first = quarters.findIndex((_, index) => dayIn(zone, midnight + index * QUARTER) !== dayIn(zone, midnight));
      const change = midnight + Math.max(first, 0) * QUARTER;
      if (first > 0) expect(dayIn(zone, change - 1), zone).toBe(dayIn(zone, midnight));
    }
  }
});

test('the counts of days in any zone are those of the times', () => {
  const zone = fc.constantFrom(
    ...['Africa/Johannesburg', 'Europe/London', 'America/Santiago', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'UTC'],
  );
  const times = fc.array(fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2028, 0, 1) }), { maxLength: 50 });
  fc.assert(
    fc.property(times, zone, (all, name) => {
      const sums = new Map<string, number>();
      for (const [day, some] of Map.groupBy(all.map(timestampOf), (time) => time.slice(0, 10))) {
        const counts = Object.fromEntries(
          [...Map.groupBy(some, quarterOf)].map(([each, { length }]) => [each, length]),
        );
        for (const [one, count] of sumByDay(counts, daysOfQuarters(day, name))) {
          sums.set(one, (sums.get(one) ?? 0) + count);
        }
      }
      const expected = Map.groupBy(all, (time) => dayIn(name, time));
      expect(sums).toEqual(new Map([...expected].map(([day, { length }]) => [day, length])));
      for (const [day, some] of expected) {
        const { first, last } = utcDaysOf(day, day, name);
        for (const utc of some.map((time) => timestampOf(time).slice(0, 10))) {
          expect(utc >= first && utc <= last).toBe(true);
        }
        expect(Date.parse(last) - Date.parse(first)).toBeLessThanOrEqual(DAY);
      }
    }),
  );
});

test('a counter with all quarters has less than 1 KB', () => {
  const id = '019a9f5e-2c11-7d3a-9a51-6f0a7c3e8b10';
  const counted = { day: '2026-11-20', job_id: id, payload_type: 'image', state: 'reception_failed_http' };
  const { pk, sk } = jobCounterKey(id, counted, 15);
  // A number takes a byte for two digits, and one or two more.
  const numbers = (digits: number) => Math.ceil(digits / 2) + 2;
  const item = 'pk'.length + pk.length + 'sk'.length + sk.length;
  const others = 'count'.length + numbers(10) + 'expires_at'.length + numbers(10);
  const counts = quarters.reduce((sum, quarter) => sum + quarter.length + numbers(6), 0);
  expect(item + others + counts).toBeLessThan(1_024);
});
