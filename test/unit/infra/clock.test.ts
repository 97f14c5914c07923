/** The clock of the local stack: its times, who waits for it, and how it moves ahead. */
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Clock } from '../../../infra/local/aws/time/clock.ts';
import { advanceTo, type Moving } from '../../../infra/local/clock/advance.ts';
import { durationOf, timeOf } from '../../../infra/local/clock/times.ts';
import type { SentMessage } from '../../../infra/local/simulators/rapidpro/sending.ts';
import { StatusWriter } from '../../../infra/local/simulators/rapidpro/status-writer.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

afterEach(() => {
  vi.useRealTimers();
});

test.each([
  ['3d', 3 * DAY],
  ['90m', 90 * MINUTE],
  ['1d12h', 1.5 * DAY],
  ['1w', 7 * DAY],
  ['45s', 45_000],
  ['', undefined],
  ['3', undefined],
  ['3 d', undefined],
  ['-3d', undefined],
  ['3y', undefined],
])('the duration %j has %j milliseconds', (text, milliseconds) => {
  expect(durationOf(text)).toBe(milliseconds);
});

test.each([
  ['2027-01-31T09:00Z', Date.UTC(2027, 0, 31, 9)],
  ['2027-01-31T09:00:30.5+02:00', Date.UTC(2027, 0, 31, 7, 0, 30, 500)],
  ['2027-01-31T09:00', undefined],
  ['2027-01-31', undefined],
  ['2027-13-31T09:00Z', undefined],
])('the time %j has %j milliseconds', (text, milliseconds) => {
  expect(timeOf(text)).toBe(milliseconds);
});

describe('the clock', () => {
  test('has real time, until it is set, and again after it is reset', () => {
    vi.useFakeTimers({ now: 1_900_000_000_000 });
    const clock = new Clock();
    expect(clock.now()).toBe(1_900_000_000_000);
    clock.set(1_900_000_000_000 + DAY);
    vi.advanceTimersByTime(5_000);
    expect([clock.now(), clock.offset]).toEqual([1_900_000_005_000 + DAY, DAY]);
    clock.reset();
    expect([clock.now(), clock.offset]).toEqual([1_900_000_005_000, 0]);
  });

  test('runs 600 times as fast: a second is ten minutes', () => {
    vi.useFakeTimers({ now: 1_900_000_000_000 });
    const clock = new Clock();
    clock.run(600);
    vi.advanceTimersByTime(1_000);
    clock.run(1);
    vi.advanceTimersByTime(1_000);
    expect(clock.now()).toBe(1_900_000_000_000 + 601_000);
  });

  test('wakes everyone who sleeps until a time that it is set to, and nobody else', async () => {
    const clock = new Clock();
    const woken: string[] = [];
    const sleep = async (name: string, milliseconds: number) => {
      await clock.sleep(milliseconds);
      woken.push(name);
    };
    const [hour, day] = [sleep('an hour', 60 * MINUTE), sleep('a day', DAY)];
    const start = clock.now();
    const sleepers = clock.ownSleepers.map((until) => Math.round((until - start) / MINUTE));
    expect(sleepers).toEqual([60, 24 * 60]);
    clock.set(start + 61 * MINUTE);
    await hour;
    expect(woken).toEqual(['an hour']);
    expect(clock.ownSleepers).toHaveLength(1);
    clock.set(start + DAY + 1_000);
    await day;
    expect(clock.ownSleepers).toEqual([]);
  });

  test('sleeps in real time, too', async () => {
    const clock = new Clock();
    const start = clock.now();
    await clock.sleep(30);
    expect(clock.now() - start).toBeGreaterThanOrEqual(30);
  });

  test('wakes the sleepers of other threads, which have the same time', async () => {
    const clock = new Clock();
    const module = new URL('../../../infra/local/aws/time/thread-clock.ts', import.meta.url).href;
    const code = `
      const { parentPort, workerData } = require('node:worker_threads');
      import(${JSON.stringify(module)}).then(async ({ ThreadClock }) => {
        const clock = new ThreadClock(workerData);
        const ended = clock.sleep(${DAY});
        // As in the threads of functions, which wait for calls.
        parentPort.on('message', () => undefined);
        parentPort.postMessage('asleep');
        await ended;
        parentPort.postMessage(clock.now());
      });`;
    const worker = new Worker(code, { eval: true, workerData: clock.memory });
    onTestFinished(async () => void (await worker.terminate()));
    const messages: unknown[] = [];
    worker.on('message', (message) => messages.push(message));
    await expect.poll(() => messages).toEqual(['asleep']);
    // The emulator subtracts them from the calls of functions, and not those of its own thread.
    expect([clock.sleepers.length, clock.ownSleepers]).toEqual([1, []]);
    clock.set(clock.now() + 2 * DAY);
    await expect.poll(() => messages.length).toBe(2);
    expect(Math.abs(Number(messages[1]) - clock.now())).toBeLessThan(60_000);
  });
});

test('the statuses that RapidPro writes in batches follow the clock', async () => {
  const clock = new Clock();
  onTestFinished(clock.use());
  const statuses = new StatusWriter({ minute: 1_000 * MINUTE, closing: new AbortController().signal });
  const message = { status: 'queued' } as SentMessage;
  const written = statuses.write(message, 'wired');
  const [until = 0] = clock.ownSleepers;
  expect(Math.round((until - clock.now()) / 1_000)).toBe(500);
  expect(message.status).toBe('queued');
  clock.set(until);
  await written;
  expect(message.status).toBe('wired');
});

test('a simulator that closes ends the wait for its batch of statuses, and later ones are written at once', async () => {
  const clock = new Clock();
  onTestFinished(clock.use());
  const closing = new AbortController();
  const statuses = new StatusWriter({ minute: 1_000 * MINUTE, closing: closing.signal });
  const message = { status: 'queued' } as SentMessage;
  const written = statuses.write(message, 'wired');
  closing.abort();
  await written;
  expect(message.status).toBe('wired');
  // A retry that was on its way.
  await statuses.write(message, 'errored');
  expect(message.status).toBe('errored');
});

describe('on its way ahead', () => {
  /** A stack without functions: work is due at times, and is done at the next whole minute. */
  const stackWith = (due: number[], returns: number[] = []) => {
    const clock = new Clock();
    const done: number[] = [];
    const stops: number[] = [];
    clock.watch(() => {
      stops.push(clock.now());
      const present = clock.now();
      while (due[0] !== undefined && due[0] <= Math.floor(present / MINUTE) * MINUTE) done.push(due.shift() ?? 0);
      while (returns[0] !== undefined && returns[0] <= present) done.push(returns.shift() ?? 0);
    });
    const moving: Moving = {
      clock,
      setClock: (time) => clock.set(time),
      inProgress: () => undefined,
      nextDue: () => returns[0],
      readNow: () => undefined,
      closeBatches: () => undefined,
      watchDueWork: () => ({ next: async () => due[0], needs: () => true, end: () => undefined }),
      minute: MINUTE,
    };
    return { clock, moving, done, stops };
  };

  test('if a function continues before the next minute, it does not read when work is due', async () => {
    const start = Math.floor(Date.now() / MINUTE) * MINUTE;
    const due = [start + DAY];
    const { moving, done } = stackWith(due, [start + MINUTE + 1_500, start + MINUTE + 3_000, start + 10 * MINUTE]);
    const reads: number[] = [];
    const next = async () => {
      reads.push(Math.floor((moving.clock.now() - start) / 1_000));
      return due[0];
    };
    const watchDueWork = () => ({ next, needs: () => true, end: () => undefined });
    moving.clock.set(start + MINUTE);
    expect(await advanceTo(start + 2 * DAY, { ...moving, watchDueWork })).toBe(4);
    expect(done).toEqual([start + MINUTE + 1_500, start + MINUTE + 3_000, start + 10 * MINUTE, start + DAY]);
    // Before the function that continues after minutes, before the work, and after it.
    expect(reads.map((second) => Math.floor(second / 60))).toEqual([1, 10, 24 * 60]);
  });

  test('at a stop, schedules call the functions whose work is due; all of them, if the work was not read', async () => {
    const start = Math.floor(Date.now() / MINUTE) * MINUTE;
    const { clock, moving } = stackWith([start + DAY], [start + 30_000]);
    const calls: [number, string[]][] = [];
    const setClock: Moving['setClock'] = (time, isNeeded) => {
      calls.push([time, ['Sweep', 'Erase'].filter((id) => isNeeded(id))]);
      clock.set(time);
    };
    const { next } = moving.watchDueWork();
    const needs = (time: number, functionId: string) => functionId === 'Erase' && time === start + DAY;
    clock.set(start);
    await advanceTo(start + 2 * DAY, {
      ...moving,
      setClock,
      watchDueWork: () => ({ next, needs, end: () => undefined }),
    });
    expect(calls).toEqual([
      [start + 30_000, ['Sweep', 'Erase']],
      [start + DAY, ['Erase']],
    ]);
  });

  test.each([
    ['at its end', async () => undefined],
    ['after an error', () => Promise.reject(new Error('The database returned 500.'))],
  ])('it no longer watches the due work %s', async (_when, next) => {
    const { moving } = stackWith([]);
    let watching = 0;
    const watchDueWork = () => {
      watching += 1;
      const end = () => {
        watching -= 1;
      };
      return { next, needs: () => true, end };
    };
    await advanceTo(moving.clock.now() + MINUTE, { ...moving, watchDueWork }).catch(() => undefined);
    expect(watching).toBe(0);
  });
});
