/** The runtime module of production, and the module that replaces it on the local stack. */
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import * as local from '../../../infra/local/runtime/local-runtime.ts';
import * as production from '../../../shared/core/runtime.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

test('in production, no variable changes durations or allows calls to loopback addresses', () => {
  vi.stubEnv('MINUTE', '1000');
  vi.stubEnv('ALLOW_LOOPBACK', 'true');
  expect(production.scaled(60_000)).toBe(60_000);
  expect(production.allowsLoopback()).toBe(false);
});

test('on the local stack, MINUTE sets the length of a minute in milliseconds', () => {
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
])('on the local stack, with ALLOW_LOOPBACK=%j, calls to loopback addresses are allowed: %j', (value, allowed) => {
  vi.stubEnv('ALLOW_LOOPBACK', value);
  expect(local.allowsLoopback()).toBe(allowed);
});

test('both modules return the time of the system clock', () => {
  vi.useFakeTimers({ now: 1_900_000_000_000 });
  expect([production.currentTime(), local.currentTime()]).toEqual([1_900_000_000_000, 1_900_000_000_000]);
});

test('a pause until a time that has passed is no pause, without a warning of Node', async () => {
  const started = vi.spyOn(timers, 'setTimeout');
  syncBuiltinESMExports();
  await Promise.all([production.pause(-1), local.pause(-1)]);
  expect(started.mock.calls).toEqual([[0], [0]]);
});
