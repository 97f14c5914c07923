/** Production's runtime module, and the local stack's in its place. */
import { afterEach, expect, test, vi } from 'vitest';
import * as local from '../../../infra/local/runtime/local-runtime.ts';
import * as production from '../../../shared/core/runtime.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

test('no variable changes the durations of a deployed function, or lets it call this machine', () => {
  vi.stubEnv('MINUTE', '1000');
  vi.stubEnv('ALLOW_LOOPBACK', 'true');
  expect(production.scaled(60_000)).toBe(60_000);
  expect(production.allowsLoopback()).toBe(false);
});

test('on the local stack, a minute lasts as long as MINUTE says', () => {
  vi.stubEnv('MINUTE', '1000');
  expect(local.scaled(90_000)).toBe(1_500);
  vi.stubEnv('MINUTE', undefined);
  expect(local.scaled(90_000)).toBe(90_000);
});

test.each([
  [undefined, false],
  ['', false],
  ['TRUE', false],
  ['true', true],
])('on the local stack, ALLOW_LOOPBACK=%j permits calls of this machine: %j', (value, allowed) => {
  vi.stubEnv('ALLOW_LOOPBACK', value);
  expect(local.allowsLoopback()).toBe(allowed);
});

test('both read the clock', () => {
  vi.useFakeTimers({ now: 1_900_000_000_000 });
  expect([production.currentTime(), local.currentTime()]).toEqual([1_900_000_000_000, 1_900_000_000_000]);
});
