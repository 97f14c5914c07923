/** EventBridge's schedules of the local stack, while its clock runs at the rate of real time and faster. */
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { Schedules } from '../../../infra/local/aws/event-sources/schedules.ts';
import { Clock } from '../../../infra/local/aws/time/clock.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const MINUTE = 60_000;

/** A schedule whose calls end when the test says so. */
const start = (rate: number, minute: number, names = ['sweep'], clock = new Clock()) => {
  const calls: (() => void)[] = [];
  const called: string[] = [];
  const asynchronous = { retries: 0, oldest: MINUTE };
  const schedules = new Schedules(
    [{ id: 'each-minute', minutes: 1, targets: names.map((id) => ({ id, asynchronous })) }],
    {
      clock,
      minute,
      invoke: (name) => {
        called.push(name);
        return new Promise<void>((resolve) => void calls.push(resolve));
      },
    },
  );
  clock.run(rate);
  onTestFinished(() => {
    schedules.stop();
    clock.run(1);
    for (const end of calls) end();
  });
  return { clock, calls, called, schedules };
};

test('at the rate of real time, a schedule also calls its function while an earlier call is in progress', async () => {
  const { clock, schedules } = start(1, MINUTE);
  for (let minute = 0; minute < 3; minute += 1) clock.set(clock.now() + MINUTE);
  await expect.poll(() => schedules.calls).toBe(3);
});

test.for([
  { faster: 'the clock runs faster', rate: 600, minute: MINUTE },
  { faster: 'minutes are shorter', rate: 1, minute: 20 },
])(
  'while $faster, a schedule calls a target again only after its call before has ended',
  { tags: 'long' },
  async ({ rate, minute }) => {
    const { clock, calls, called, schedules } = start(rate, minute, ['sweep', 'erase']);
    const passes = async (): Promise<void> => {
      const later = clock.now() + 3 * minute;
      await expect.poll(() => clock.now()).toBeGreaterThan(later);
    };
    await expect.poll(() => calls.length).toBe(2);
    await passes();
    expect([called, schedules.calls]).toEqual([['sweep', 'erase'], 2]);
    calls[0]?.();
    await expect.poll(() => calls.length).toBe(3);
    await passes();
    expect([called, schedules.calls]).toEqual([['sweep', 'erase', 'sweep'], 2]);
  },
);

test('when the clock is set, a schedule calls the functions that are needed, and afterwards all again', async () => {
  const { clock, called, schedules } = start(1, MINUTE, ['sweep', 'erase']);
  schedules.setClock(clock.now() + MINUTE, (id) => id === 'erase');
  await expect.poll(() => called).toEqual(['erase']);
  clock.set(clock.now() + MINUTE);
  await expect.poll(() => called).toEqual(['erase', 'sweep', 'erase']);
});

test('on a machine that stops between two looks at the clock, no timer has a negative delay', async () => {
  const stopping = new Clock();
  let stopped = 0;
  vi.spyOn(stopping, 'now').mockImplementation(() => {
    stopped += 7;
    return Date.now() + stopped;
  });
  const timers = vi.spyOn(globalThis, 'setTimeout');
  const { calls } = start(1, 10, ['sweep'], stopping);
  const endAll = (): number => {
    for (const end of calls) end();
    return calls.length;
  };
  await expect.poll(endAll).toBeGreaterThan(5);
  const delays = timers.mock.calls.map(([, delay]) => delay ?? 0);
  expect(delays.filter((delay) => delay < 0)).toEqual([]);
});
