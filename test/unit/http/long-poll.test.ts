/** Long polling with fake timers: how often it reads, how soon it returns a result, and when it ends. */
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Place, pollUntil, type ReadMode } from '../../../shared/http/long-poll.ts';

const START = Date.UTC(2030, 0, 1);

/** The longest wait, and the time limit of the last read after it, in milliseconds. */
const LONGEST = 28_000;
const LAST_LOOK = 400;

/** A place that is always free, and one that never is. */
const FREE: Place = { take: async () => true, release: async () => undefined };
const NONE: Place = { take: async () => false, release: async () => undefined };

const pause = (delay = 0) => new Promise((resolve) => setTimeout(resolve, delay));

beforeEach(() => {
  vi.useFakeTimers({ now: START });
  vi.spyOn(timers, 'setTimeout').mockImplementation(pause as typeof timers.setTimeout);
  syncBuiltinESMExports();
});

afterEach(() => {
  // Before the real timers return: a test observes the others.
  vi.restoreAllMocks();
  vi.useRealTimers();
  syncBuiltinESMExports();
});

interface Situation {
  /** Milliseconds until the result is there. Default: never. */
  done?: number;
  /** Length of the wait, in milliseconds. */
  length?: number;
  /** Duration of each read in turn, in milliseconds. A read sees the state at its beginning. */
  takes?: number[];
  /** Milliseconds by which eventually consistent reads are behind. */
  behind?: number;
  /** The place for the wait. Default: there is one. */
  place?: Place;
}

/**
 * Runs a wait. Returns whether the result was seen, the duration of the wait, and the time and mode of each read. Times
 * are milliseconds from the beginning. An eventually consistent read sees the state of `behind` milliseconds before.
 */
const wait = async ({
  done = Number.POSITIVE_INFINITY,
  length = LONGEST,
  takes = [0],
  behind = 0,
  place = FREE,
}: Situation) => {
  const reads: number[] = [];
  const modes: ReadMode[] = [];
  const passed = () => Date.now() - START;
  const read = async (mode: ReadMode): Promise<boolean> => {
    const seen = passed() - (mode === 'eventual' ? behind : 0) >= done;
    const takesNow = takes[reads.length % takes.length] ?? 0;
    reads.push(passed());
    modes.push(mode);
    if (takesNow > 0) await pause(takesNow);
    return seen;
  };
  vi.setSystemTime(START);
  const ends = { end: START + length, latest: START + length + LAST_LOOK };
  const waiting = pollUntil(read, (seen) => seen, ends, place).then((seen) => ({ seen, over: passed() }));
  // Runs all timers, so that abandoned reads end too.
  await vi.runAllTimersAsync();
  return { ...(await waiting), reads, modes };
};

const gapsOf = (reads: number[]): number[] => reads.map((read, place) => read - (reads[place - 1] ?? 0));

describe('a wait of 28 s', () => {
  test('makes at most 40 reads, the first at once and the last at the end', async () => {
    const { seen, over, reads } = await wait({});
    expect({ seen, over }).toEqual({ seen: false, over: LONGEST });
    expect(reads.length).toBeLessThanOrEqual(40);
    expect(reads.at(-1)).toBe(LONGEST);
  });

  test('reads again within 250 ms, then less and less often, and at least once a second', async () => {
    const gaps = gapsOf((await wait({})).reads).slice(1);
    expect(gaps[0]).toBeLessThanOrEqual(250);
    // The last gap is the rest of the wait.
    const grown = gaps.slice(0, -1);
    expect(grown).toEqual(grown.toSorted((a, b) => a - b));
    expect(grown.at(-1)).toBeGreaterThan(900);
    expect(Math.max(...gaps)).toBeLessThan(1_000);
  });

  test('makes fewer than 20 reads if each takes 1.5 s', async () => {
    const { reads } = await wait({ takes: [1_500] });
    expect(reads.length).toBeLessThan(20);
  });
});

describe('a result at any time', () => {
  const situation = fc.record({
    done: fc.integer({ min: 0, max: 31_000 }),
    length: fc.integer({ min: 0, max: 28_000 }),
    takes: fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 5 }),
  });

  test('the wait ends at most 250 ms after a result of the first 3 s, if reads take at most 10 ms', async () => {
    const quick = fc.record({
      done: fc.integer({ min: 0, max: 3_000 }),
      takes: fc.array(fc.integer({ min: 0, max: 10 }), { minLength: 1, maxLength: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(quick, async ({ done, takes }) => {
        const { seen, over } = await wait({ done, takes });
        expect({ seen, late: over - done > 250 }).toEqual({ seen: true, late: false });
      }),
    );
  });

  test('the wait ends at most one second after the result, and reads it once', async () => {
    await fc.assert(
      fc.asyncProperty(situation, async ({ done, length, takes }) => {
        const { seen, over, reads } = await wait({ done, length, takes });
        // The last read does not see a result that comes during that read.
        if (done + Math.max(...takes) <= length) expect(seen).toBe(true);
        if (seen) expect(over - done).toBeLessThanOrEqual(1_000);
        if (seen) expect(reads.filter((read) => read >= done).length).toBeLessThanOrEqual(1);
      }),
    );
  });

  test('the wait ends with the last read, which begins at most one read after the end', async () => {
    await fc.assert(
      fc.asyncProperty(situation, async ({ done, length, takes }) => {
        const { over, reads } = await wait({ done, length, takes });
        expect(reads.slice(0, -1).filter((read) => read > length)).toEqual([]);
        expect(Math.max(...reads)).toBeLessThanOrEqual(length + Math.max(...takes));
        expect(over).toBeLessThanOrEqual(length + 2 * Math.max(...takes));
      }),
    );
  });
});

test.each([
  ['a result that is there at the beginning', { done: 0 }],
  ['a wait of 0 ms', { length: 0 }],
  ['a wait whose end has passed', { length: -300 }],
])('%s makes one read, which is consistent', async (_, situation) => {
  const { over, reads, modes } = await wait(situation);
  expect({ over, reads, modes }).toEqual({ over: 0, reads: [0], modes: ['latest'] });
});

test.each([
  ['eventually consistent reads that are 60 s behind', { length: 5_000, done: 4_990, behind: 60_000 }],
  ['a slow read just before the end', { length: 1_000, done: 990, takes: [0, 0, 0, 240, 0] }],
])('the last read is consistent and sees the result, after %s', async (_, situation) => {
  const { seen, modes } = await wait(situation);
  expect(seen).toBe(true);
  expect(modes[0]).toBe('latest');
  expect(modes.at(-1)).toBe('latest');
  expect(modes.slice(1, -1)).toEqual(modes.slice(1, -1).fill('eventual'));
  expect(modes.length).toBeGreaterThan(3);
});

test('if the last read hangs, the wait ends with the state of the read before', async () => {
  const { seen, over } = await wait({ done: 999, length: 1_000, takes: [0, 0, 0, 0, 60_000] });
  expect({ seen, over }).toEqual({ seen: false, over: 1_000 + LAST_LOOK });
  const hung = await wait({ length: 1_000, takes: [0, 0, 60_000] });
  expect(hung).toMatchObject({ over: 1_000 + LAST_LOOK, modes: ['latest', 'eventual', 'eventual'] });
});

test('a slow read that begins before the end may finish', async () => {
  const { seen, over } = await wait({ done: 100, takes: [0, 5_000] });
  expect({ seen, over }).toEqual({ seen: true, over: 5_240 });
});

/** Waits five seconds. `failures` returns the error of each read, or undefined for a successful read. */
const waitWithFailures = async (failures: (place: number) => Error | undefined, place = FREE) => {
  vi.setSystemTime(START);
  const seen: number[] = [];
  const read = async (): Promise<string> => {
    seen.push(Date.now() - START);
    const failure = failures(seen.length);
    if (failure) throw failure;
    return 'pending';
  };
  const ends = { end: START + 5_000, latest: START + 5_000 + LAST_LOOK };
  const waiting = pollUntil(read, () => false, ends, place).then(String, (error: Error) => error.name);
  await vi.runAllTimersAsync();
  return { outcome: await waiting, over: Date.now() - START, reads: seen.length };
};

const busy = (): Error => Object.assign(new Error('busy'), { name: 'ThrottlingException' });

describe('the place of a wait', () => {
  /** A place that records its calls, with milliseconds from the beginning. */
  const recorded = (take: Place['take'] = FREE.take) => {
    const calls: string[] = [];
    const note = (name: string) => calls.push(`${name} ${Date.now() - START}`);
    const place: Place = {
      take: async () => {
        note('take');
        return take();
      },
      release: async () => void note('release'),
    };
    return { place, calls };
  };

  test('is taken after the first read, and released after the last one', async () => {
    const { place, calls } = recorded();
    await wait({ length: 5_000, done: 1_000, takes: [30], place });
    expect(calls).toEqual(['take 30', expect.stringMatching(/^release 1\d{3}$/)]);
  });

  test.each([
    ['a result that is there at the beginning', { done: 0 }],
    ['a wait of 0 ms', { length: 0 }],
    ['a first read that takes longer than the wait', { length: 1_000, takes: [1_100] }],
  ])('is not taken for %s', async (_, situation) => {
    const { place, calls } = recorded();
    await wait({ ...situation, place });
    expect(calls).toEqual([]);
  });

  test('ends the wait at once if there is none', async () => {
    expect(await wait({ place: NONE })).toMatchObject({ seen: false, over: 0, reads: [0] });
  });

  test('ends the wait at once if the table is too busy to take one, with the state of the first read', async () => {
    const { place, calls } = recorded(async () => {
      throw busy();
    });
    expect(await wait({ place })).toMatchObject({ seen: false, over: 0, reads: [0] });
    expect(calls).toEqual(['take 0']);
  });

  test('ends the wait with an error if there is none and the first read failed', async () => {
    expect(await waitWithFailures(busy, NONE)).toEqual({ outcome: 'ThrottlingException', over: 0, reads: 1 });
  });

  test('is released if a later read fails for another reason', async () => {
    const { place, calls } = recorded();
    const gone = (read: number) => (read === 2 ? new Error('gone') : undefined);
    expect(await waitWithFailures(gone, place)).toMatchObject({ outcome: 'Error', reads: 2 });
    expect(calls).toEqual(['take 0', 'release 240']);
  });

  test.each([
    ['taken', { take: () => new Promise<boolean>(() => undefined), release: FREE.release }],
    ['released', { take: FREE.take, release: () => new Promise<void>(() => undefined) }],
  ])('that is not %s in time does not delay the response', async (_, place) => {
    const { over } = await wait({ length: 1_000, place });
    expect(over).toBe(1_000 + LAST_LOOK);
  });
});

describe('a read that fails because the table is busy', () => {
  test.each([
    ['in the middle', (place: number) => place > 1 && place < 6],
    ['at the beginning', (place: number) => place < 4],
    ['at the end', (place: number) => place > 3],
  ])('%s does not end the wait or change its result', async (_, fails) => {
    const { reads } = await waitWithFailures(() => undefined);
    expect(await waitWithFailures((place) => (fails(place) ? busy() : undefined))).toEqual({
      outcome: 'pending',
      over: 5_000,
      reads,
    });
  });

  test('ends the wait with that error if no consistent read succeeded', async () => {
    expect(await waitWithFailures(busy)).toMatchObject({ outcome: 'ThrottlingException', over: 5_000 });
    const { reads } = await waitWithFailures(() => undefined);
    const onlyEventual = await waitWithFailures((place) => (place === 1 || place === reads ? busy() : undefined));
    expect(onlyEventual).toMatchObject({ outcome: 'ThrottlingException', over: 5_000 });
  });
});

test('a wait whose reads never end returns "unavailable" in time', async () => {
  vi.setSystemTime(START);
  const ends = { end: START + 1_000, latest: START + 1_400 };
  const waiting = pollUntil(
    () => new Promise<boolean>(() => undefined),
    (seen) => seen,
    ends,
    FREE,
  );
  const failed = expect(waiting).rejects.toMatchObject({ code: 'unavailable', retryAfter: 1 });
  await vi.runAllTimersAsync();
  await failed;
  expect(Date.now() - START).toBe(1_400);
});

test('a read that fails for another reason ends the wait with its error, and leaves no timer', async () => {
  const ends = { end: START + LONGEST, latest: START + LONGEST + LAST_LOOK };
  const waiting = pollUntil(
    async () => {
      throw new Error('gone');
    },
    (seen) => seen,
    ends,
    FREE,
  );
  const failed = expect(waiting).rejects.toThrow('gone');
  await vi.advanceTimersByTimeAsync(1_000);
  await failed;
  expect(vi.getTimerCount()).toBe(0);
});

test('a wait whose end has passed returns the state of one read, and starts no timer with a negative delay', async () => {
  const started = vi.spyOn(globalThis, 'setTimeout');
  const ends = { end: START - 401, latest: START - 1 };
  expect(
    await pollUntil(
      async () => 'pending',
      () => false,
      ends,
      FREE,
    ),
  ).toBe('pending');
  expect(started.mock.calls.map(([, delay]) => delay)).toEqual([0]);
});
