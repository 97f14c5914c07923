import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { invokeAsynchronously } from '../../../infra/local/aws/lambda/asynchronous.ts';
import { readInvokeConfigs } from '../../../infra/local/aws/template/invoke-config.ts';

vi.mock('node:timers/promises', () => ({
  setTimeout: async (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds),
}));

beforeEach(() => vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => vi.useRealTimers());

const MINUTE = 60_000;
const SIX_HOURS = 6 * 3_600_000;

interface Attempt {
  retries: number;
  oldest: number;
  /** How many invocations fail. */
  failures: number;
  /** Ends the repetitions after so many invocations. */
  stopAfter?: number;
}

/** Invokes a function asynchronously. Returns the milliseconds after which it was invoked. */
const invocationsOf = async ({ failures, stopAfter, ...limits }: Attempt): Promise<number[]> => {
  const start = Date.now();
  const stopping = new AbortController();
  const times: number[] = [];
  const invoke = async (): Promise<void> => {
    times.push(Date.now() - start);
    if (times.length === stopAfter) stopping.abort();
    if (times.length <= failures) throw new Error('failed');
  };
  await invokeAsynchronously({ ...limits, minute: MINUTE, signal: stopping.signal, invoke });
  return times;
};

test('an event that fails is repeated after one minute, and after two more', async () => {
  const times = await invocationsOf({ retries: 2, oldest: SIX_HOURS, failures: 9 });
  expect(times).toEqual([0, MINUTE, 3 * MINUTE]);
});

test('an event is dropped when the next retry would be too late', async () => {
  expect(await invocationsOf({ retries: 2, oldest: 150_000, failures: 9 })).toHaveLength(2);
});

test('no event is repeated after the stop', async () => {
  expect(await invocationsOf({ retries: 2, oldest: SIX_HOURS, failures: 9, stopAfter: 1 })).toHaveLength(1);
});

test('a function without limits of its own has those of Lambda', () => {
  const limitsOf = readInvokeConfigs([
    { FunctionName: 'Once', Qualifier: '$LATEST', MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 },
    { FunctionName: 'Brief', Qualifier: '$LATEST', MaximumEventAgeInSeconds: 90 },
  ]);
  expect(limitsOf('Once')).toEqual({ retries: 0, oldest: 60_000 });
  expect(limitsOf('Brief')).toEqual({ retries: 2, oldest: 90_000 });
  expect(limitsOf('Other')).toEqual({ retries: 2, oldest: SIX_HOURS });
});

test.each([
  { FunctionName: 'A', Qualifier: 'live' },
  { FunctionName: 'A', Qualifier: '$LATEST', MaximumRetryAttempts: 3 },
  { FunctionName: 'A', Qualifier: '$LATEST', MaximumEventAgeInSeconds: 59 },
  { FunctionName: 'A', Qualifier: '$LATEST', DestinationConfig: {} },
])('the emulator rejects a configuration that it does not support: %j', (config) => {
  expect(() => readInvokeConfigs([config])).toThrow('configuration of asynchronous invocations');
});
