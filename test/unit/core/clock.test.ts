import { v7 } from 'uuid';
import { afterEach, expect, test, vi } from 'vitest';
import { between, secondsFromNow, sortableTime, timestamp, timestampOf } from '../../../shared/core/clock.ts';
import { idFromKey, newId, newIdAfter, newIdAt, newPseudonym } from '../../../shared/core/ids.ts';

afterEach(() => void vi.useRealTimers());

test('a time is written as the specification writes it: UTC, microseconds, no zone', () => {
  vi.useFakeTimers({ now: Date.UTC(2022, 2, 28, 9, 58, 9, 118) });
  expect(timestamp()).toBe('2022-03-28T09:58:09.118000');
});

test('times of one millisecond differ, and sort in the order in which they were asked for', () => {
  vi.useFakeTimers({ now: Date.UTC(2030, 0, 1) });
  const times = Array.from({ length: 1_500 }, timestamp);
  expect(new Set(times).size).toBe(times.length);
  expect(times.toSorted()).toEqual(times);
  expect(times[1]).toBe('2030-01-01T00:00:00.000001');
});

test('times follow a clock that is set back by a second or more', () => {
  vi.useFakeTimers({ now: Date.UTC(2031, 0, 1) });
  expect(timestamp()).toBe('2031-01-01T00:00:00.000000');
  vi.setSystemTime(Date.UTC(2031, 0, 1) - 999);
  expect(timestamp()).toBe('2031-01-01T00:00:00.000001');
  vi.setSystemTime(Date.UTC(2031, 0, 1) - 3_600_000);
  expect(timestamp()).toBe('2030-12-31T23:00:00.000000');
  vi.setSystemTime(Date.UTC(2031, 0, 1) - 3_601_000);
  expect(timestamp()).toBe('2030-12-31T22:59:59.000000');
});

test('any time is written as the present is', () => {
  expect(timestampOf(Date.UTC(2022, 2, 28, 9, 58, 9, 118))).toBe('2022-03-28T09:58:09.118000');
});

test('a random number is between its bounds', () => {
  for (let times = 0; times < 100; times += 1) {
    const drawn = between(5, 6);
    expect(drawn).toBeGreaterThanOrEqual(5);
    expect(drawn).toBeLessThanOrEqual(6);
  }
});

test("a pseudonym is another one each time, and nobody's number", () => {
  expect(newPseudonym()).toMatch(/^erased-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(newPseudonym()).not.toBe(newPseudonym());
});

test('expiry is in whole seconds', () => {
  vi.useFakeTimers({ now: 1_500_000_000_999 });
  expect(secondsFromNow(60)).toBe(1_500_000_060);
});

test('sortable times sort by time', () => {
  expect(sortableTime(0) < sortableTime(1)).toBe(true);
  expect(sortableTime(999) < sortableTime(1_000)).toBe(true);
});

test('ids are lower-case UUIDs of version 7 that sort by age', () => {
  const ids = Array.from({ length: 100 }, newId);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(ids.toSorted()).toEqual(ids);
});

/** When an id was made, in milliseconds, as it says itself. */
const timeOf = (id: string): number => Number.parseInt(id.slice(0, 13).replace('-', ''), 16);

test('an id that is to come after another one sorts after it, whatever the clock says', () => {
  const present = timeOf(newId());
  const future = v7({ msecs: present + 600_000 });
  const first = newIdAfter(future);
  expect([first, future].sort()).toEqual([future, first]);
  expect(timeOf(first)).toBe(present + 600_001);
  expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  expect(timeOf(newIdAfter(first))).toBe(present + 600_002);
  const past = v7({ msecs: present - 600_000 });
  expect(timeOf(newIdAfter(past))).toBeGreaterThanOrEqual(present);
});

test('the id of an idempotency key depends on account, endpoint and key, and on nothing else', () => {
  const id = idFromKey('acme', 'createProfiler', 'key 1');
  expect(idFromKey('acme', 'createProfiler', 'key 1')).toBe(id);
  expect(
    new Set([
      id,
      idFromKey('acme', 'createProfiler', 'key 2'),
      idFromKey('other', 'createProfiler', 'key 1'),
      idFromKey('acme', 'sendMessage', 'key 1'),
    ]).size,
  ).toBe(4);
});

test('an id of a time sorts by its microseconds, and is another one each time', () => {
  const times = [
    '2022-03-28T09:58:09.117999',
    '2022-03-28T09:58:09.118000',
    '2022-03-28T09:58:09.118001',
    '2022-03-28T09:58:09.119000',
  ];
  for (let round = 0; round < 100; round += 1) {
    const ids = times.map(newIdAt);
    expect(ids.toSorted()).toEqual(ids);
    expect(newIdAt('2022-03-28T09:58:09.118000')).not.toBe(ids[1]);
    expect(ids[1]).toMatch(/^017fcff6-23de-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
});
