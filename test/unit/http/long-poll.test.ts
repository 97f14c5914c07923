/** How often a wait looks, how soon it sees, and when it ends, on a clock that stands still between looks. */
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { pollUntil, type ReadMode } from '../../../shared/http/long-poll.ts';

const START = Date.UTC(2030, 0, 1);

/** The longest wait, and what is left for its last look, in milliseconds. */
const LONGEST = 28_000;
const LAST_LOOK = 400;

const pause = (delay = 0) => new Promise((resolve) => setTimeout(resolve, delay));

beforeEach(() => {
  vi.useFakeTimers({ now: START });
  vi.spyOn(timers, 'setTimeout').mockImplementation(pause as typeof timers.setTimeout);
  syncBuiltinESMExports();
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

interface Situation {
  /** Milliseconds after which it is done; never, where it is not given. */
  done?: number;
  /** Milliseconds of the wait. */
  length?: number;
  /** Milliseconds that each look takes, in turn; what it sees is there when it begins. */
  takes?: number[];
  /** Milliseconds that looks are behind, but for those that see the latest. */
  behind?: number;
}

/**
 * Waits. Answers what was seen, when the wait was over, and when it was looked and how, in milliseconds from its
 * beginning. What is seen eventually is as it was `behind` milliseconds before.
 */
const wait = async ({ done = Number.POSITIVE_INFINITY, length = LONGEST, takes = [0], behind = 0 }: Situation) => {
  const looks: number[] = [];
  const hows: ReadMode[] = [];
  const passed = () => Date.now() - START;
  const look = async (how: ReadMode): Promise<boolean> => {
    const seen = passed() - (how === 'eventual' ? behind : 0) >= done;
    const takesNow = takes[looks.length % takes.length] ?? 0;
    looks.push(passed());
    hows.push(how);
    if (takesNow > 0) await pause(takesNow);
    return seen;
  };
  vi.setSystemTime(START);
  const ends = { end: START + length, latest: START + length + LAST_LOOK };
  const waiting = pollUntil(look, (seen) => seen, ends).then((seen) => ({ seen, over: passed() }));
  // On to the next timer, as long as there is one: looks that are not waited for end too.
  await vi.runAllTimersAsync();
  return { ...(await waiting), looks, hows };
};

const gapsOf = (looks: number[]): number[] => looks.map((look, place) => look - (looks[place - 1] ?? 0));

describe('a wait of 28 s', () => {
  test('looks at most 40 times, the first time included, and the last time at its end', async () => {
    const { seen, over, looks } = await wait({});
    expect({ seen, over }).toEqual({ seen: false, over: LONGEST });
    expect(looks.length).toBeLessThanOrEqual(40);
    expect(looks.at(-1)).toBe(LONGEST);
  });

  test('looks soon, then less and less often, but within a second always', async () => {
    const gaps = gapsOf((await wait({})).looks).slice(1);
    expect(gaps[0]).toBeLessThanOrEqual(250);
    // The last one is what is left.
    const grown = gaps.slice(0, -1);
    expect(grown).toEqual(grown.toSorted((a, b) => a - b));
    expect(grown.at(-1)).toBeGreaterThan(800);
    expect(Math.max(...gaps)).toBeLessThan(1_000);
  });

  test('looks no more often when looks take long', async () => {
    const { looks } = await wait({ takes: [1_500] });
    expect(looks.length).toBeLessThan(20);
  });
});

describe('whenever it is done', () => {
  const situation = fc.record({
    done: fc.integer({ min: 0, max: 31_000 }),
    length: fc.integer({ min: 0, max: 28_000 }),
    takes: fc.array(fc.integer({ min: 0, max: 75 }), { minLength: 1, maxLength: 5 }),
  });

  test('it is seen at most a second after, and not looked at again', async () => {
    await fc.assert(
      fc.asyncProperty(situation, async ({ done, length, takes }) => {
        const { seen, over, looks } = await wait({ done, length, takes });
        // What is done while the last look is under way, it does not see.
        if (done + Math.max(...takes) <= length) expect(seen).toBe(true);
        if (seen) expect(over - done).toBeLessThanOrEqual(1_000);
        if (seen) expect(looks.filter((look) => look >= done).length).toBeLessThanOrEqual(1);
      }),
    );
  });

  test('the wait does not go on after its end, but for a look', async () => {
    await fc.assert(
      fc.asyncProperty(situation, async ({ done, length, takes }) => {
        const { over, looks } = await wait({ done, length, takes });
        expect(looks.slice(0, -1).filter((look) => look > length)).toEqual([]);
        expect(Math.max(...looks)).toBeLessThanOrEqual(length + Math.max(...takes));
        expect(over).toBeLessThanOrEqual(length + 2 * Math.max(...takes));
      }),
    );
  });
});

test.each([
  ['what is done already', { done: 0 }],
  ['a wait of no time', { length: 0 }],
  ['a wait that should be over', { length: -300 }],
])('%s is looked at once, as it is at that moment', async (_, situation) => {
  const { over, looks, hows } = await wait(situation);
  expect({ over, looks, hows }).toEqual({ over: 0, looks: [0], hows: ['latest'] });
});

test.each([
  ['looks that are behind by more than the whole wait', { length: 5_000, done: 4_990, behind: 60_000 }],
  ['a look before the last one that takes longer than is left', { length: 1_000, done: 990, takes: [0, 0, 0, 240, 0] }],
])('the last look sees the latest, after %s', async (_, situation) => {
  const { seen, hows } = await wait(situation);
  expect(seen).toBe(true);
  expect(hows[0]).toBe('latest');
  expect(hows.at(-1)).toBe('latest');
  expect(hows.slice(1, -1)).toEqual(hows.slice(1, -1).fill('eventual'));
  expect(hows.length).toBeGreaterThan(3);
});

test('a last look that hangs fails permanently, and what was seen before it is the answer', async () => {
  const { seen, over } = await wait({ done: 999, length: 1_000, takes: [0, 0, 0, 0, 60_000] });
  expect({ seen, over }).toEqual({ seen: false, over: 1_000 + LAST_LOOK });
  const hung = await wait({ length: 1_000, takes: [0, 0, 60_000] });
  expect(hung).toMatchObject({ over: 1_000 + LAST_LOOK, hows: ['latest', 'eventual', 'eventual'] });
});

test('a look that takes its time before the end is waited for', async () => {
  const { seen, over } = await wait({ done: 100, takes: [0, 5_000] });
  expect({ seen, over }).toEqual({ seen: true, over: 5_200 });
});

/** Waits for five seconds. `failures` says by which error each look fails, or nothing, where it does not. */
const waitThrough = async (failures: (place: number) => Error | undefined) => {
  vi.setSystemTime(START);
  const seen: number[] = [];
  const look = async (): Promise<string> => {
    seen.push(Date.now() - START);
    const failure = failures(seen.length);
    if (failure) throw failure;
    return 'pending';
  };
  const ends = { end: START + 5_000, latest: START + 5_000 + LAST_LOOK };
  const waiting = pollUntil(look, () => false, ends).then(String, (error: Error) => error.name);
  await vi.runAllTimersAsync();
  return { outcome: await waiting, over: Date.now() - START, looks: seen.length };
};

const busy = (): Error => Object.assign(new Error('busy'), { name: 'ThrottlingException' });

describe('a look that fails because the table is busy', () => {
  test.each([
    ['in the middle', (place: number) => place > 1 && place < 6],
    ['at the beginning', (place: number) => place < 4],
    ['at the end', (place: number) => place > 3],
  ])('%s does not end the wait, nor change its response', async (_, fails) => {
    const { looks } = await waitThrough(() => undefined);
    expect(await waitThrough((place) => (fails(place) ? busy() : undefined))).toEqual({
      outcome: 'pending',
      over: 5_000,
      looks,
    });
  });

  test('is the end of a wait in which no look saw the latest', async () => {
    expect(await waitThrough(busy)).toMatchObject({ outcome: 'ThrottlingException', over: 5_000 });
    const { looks } = await waitThrough(() => undefined);
    const onlyEventual = await waitThrough((place) => (place === 1 || place === looks ? busy() : undefined));
    expect(onlyEventual).toMatchObject({ outcome: 'ThrottlingException', over: 5_000 });
  });
});

test('a wait in which no look ends says so in time', async () => {
  vi.setSystemTime(START);
  const ends = { end: START + 1_000, latest: START + 1_400 };
  const waiting = pollUntil(
    () => new Promise<boolean>(() => undefined),
    (seen) => seen,
    ends,
  );
  const failed = expect(waiting).rejects.toMatchObject({ code: 'unavailable', retryAfter: 1 });
  await vi.runAllTimersAsync();
  await failed;
  expect(Date.now() - START).toBe(1_400);
});

test('a look that fails in another way ends the wait with its error, and leaves no timer', async () => {
  const ends = { end: START + LONGEST, latest: START + LONGEST + LAST_LOOK };
  const waiting = pollUntil(
    async () => {
      throw new Error('gone');
    },
    (seen) => seen,
    ends,
  );
  const failed = expect(waiting).rejects.toThrow('gone');
  await vi.advanceTimersByTimeAsync(1_000);
  await failed;
  expect(vi.getTimerCount()).toBe(0);
});
