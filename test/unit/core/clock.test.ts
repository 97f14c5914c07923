import { v7 } from 'uuid';
import { afterEach, expect, test, vi } from 'vitest';
import { between, secondsFromNow, sortableTime, timestamp, timestampOf } from '../../../shared/core/clock.ts';
import { idFromKey, newId, newIdAfter, newIdAt, newPseudonym } from '../../../shared/core/ids.ts';

afterEach(() => void vi.useRealTimers());

test('a timestamp is in UTC, with microseconds and without a zone', () => {
  vi.useFakeTimers({ now: Date.UTC(2022, 2, 28, 9, 58, 9, 118) });
  expect(timestamp()).toBe('2022-03-28T09:58:09.118000');
});

test('1,500 timestamps taken within one millisecond differ and sort in the order of creation', () => {
  vi.useFakeTimers({ now: Date.UTC(2030, 0, 1) });
  const times = Array.from({ length: 1_500 }, timestamp);
  expect(new Set(times).size).toBe(times.length);
  expect(times.toSorted()).toEqual(times);
  expect(times[1]).toBe('2030-01-01T00:00:00.000001');
});

test('timestamps keep increasing if the clock moves back by 999 ms, and follow it if it moves back by seconds', () => {
  vi.useFakeTimers({ now: Date.UTC(2031, 0, 1) });
  expect(timestamp()).toBe('2031-01-01T00:00:00.000000');
  vi.setSystemTime(Date.UTC(2031, 0, 1) - 999);
  expect(timestamp()).toBe('2031-01-01T00:00:00.000001');
  vi.setSystemTime(Date.UTC(2031, 0, 1) - 3_600_000);
  expect(timestamp()).toBe('2030-12-31T23:00:00.000000');
  vi.setSystemTime(Date.UTC(2031, 0, 1) - 3_601_000);
  expect(timestamp()).toBe('2030-12-31T22:59:59.000000');
});

test('timestampOf formats a given time like a new timestamp', () => {
  expect(timestampOf(Date.UTC(2022, 2, 28, 9, 58, 9, 118))).toBe('2022-03-28T09:58:09.118000');
});

test('between(5, 6) returns numbers from 5 to 6', () => {
  for (let times = 0; times < 100; times += 1) {
    const drawn = between(5, 6);
    expect(drawn).toBeGreaterThanOrEqual(5);
    expect(drawn).toBeLessThanOrEqual(6);
  }
});

test('each new pseudonym is "erased-" and a new random UUID', () => {
  expect(newPseudonym()).toMatch(/^erased-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(newPseudonym()).not.toBe(newPseudonym());
});

test('secondsFromNow returns whole seconds', () => {
  vi.useFakeTimers({ now: 1_500_000_000_999 });
  expect(secondsFromNow(60)).toBe(1_500_000_060);
});

test('sortable times sort as texts in order of time', () => {
  expect(sortableTime(0) < sortableTime(1)).toBe(true);
  expect(sortableTime(999) < sortableTime(1_000)).toBe(true);
});

test('ids are lower-case UUIDs of version 7 that sort by age', () => {
  const ids = Array.from({ length: 100 }, newId);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(ids.toSorted()).toEqual(ids);
});

test('ids have the time of the clock, also after the clock was set back', () => {
  for (const time of [Date.UTC(2030, 0, 1), Date.UTC(2029, 11, 31)]) {
    vi.useFakeTimers({ now: time });
    expect(timeOf(newId())).toBe(time);
  }
});

/** The time within an id of version 7, in milliseconds. */
const timeOf = (id: string): number => Number.parseInt(id.slice(0, 13).replace('-', ''), 16);

test('newIdAfter returns an id that sorts after a given id, even if that id is 10 minutes ahead of the clock', () => {
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

test('the id from an idempotency key depends only on account, endpoint and key', () => {
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

test('ids for given times sort by their microseconds, and two ids for the same time differ', () => {
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
