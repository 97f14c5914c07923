import { v7 } from 'uuid';
import { afterEach, expect, test, vi } from 'vitest';
import { idFromKey, newId, newIdAfter, secondsFromNow, sortableTime, timestamp } from '../../shared/clock.ts';

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

test('an id that is to come after another one sorts after it, whatever the clock says', () => {
  const future = v7({ msecs: Date.now() + 600_000 });
  const [first, second] = [newIdAfter(future), newIdAfter(newIdAfter(future))];
  expect([second, first, future].sort()).toEqual([future, first, second]);
  expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  const past = v7({ msecs: Date.now() - 600_000 });
  expect(newIdAfter(past) > v7({ msecs: Date.now() - 1_000 })).toBe(true);
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
