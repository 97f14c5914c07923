/** How often a wait looks, how soon it sees, and when it ends, on a clock that stands still between looks. */
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { lookUntil } from '../../shared/long-poll.ts';

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
}

/** Waits. Answers what was seen, when the wait was over, and when it was looked, in milliseconds from its beginning. */
const wait = async ({ done = Number.POSITIVE_INFINITY, length = LONGEST, takes = [0] }: Situation) => {
  const looks: number[] = [];
  const passed = () => Date.now() - START;
  const isDone = () => passed() >= done;
  const look = async (): Promise<boolean> => {
    const seen = isDone();
    const takesNow = takes[looks.length % takes.length] ?? 0;
    looks.push(passed());
    if (takesNow > 0) await pause(takesNow);
    return seen;
  };
  vi.setSystemTime(START);
  const ends = { end: START + length, latest: START + length + LAST_LOOK };
  const waiting = lookUntil(isDone(), look, (seen) => seen, ends).then((seen) => ({ seen, over: passed() }));
  // On to the next timer, as long as there is one: looks that are not waited for end too.
  await vi.runAllTimersAsync();
  return { ...(await waiting), looks };
};

const gapsOf = (looks: number[]): number[] => looks.map((look, place) => look - (looks[place - 1] ?? 0));

describe('a wait of 28 s', () => {
  test('looks at most 40 times, the first time included, and the last time at its end', async () => {
    const { seen, over, looks } = await wait({});
    expect({ seen, over }).toEqual({ seen: false, over: LONGEST });
    expect(looks.length + 1).toBeLessThanOrEqual(40);
    expect(looks.at(-1)).toBe(LONGEST);
  });

  test('looks soon, then less and less often, but within a second always', async () => {
    const gaps = gapsOf((await wait({})).looks);
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
        expect(Math.max(...looks, 0)).toBeLessThanOrEqual(length);
        expect(over).toBeLessThanOrEqual(length + Math.max(...takes));
      }),
    );
  });
});

test.each([
  ['what is done already', { done: 0 }],
  ['a wait of no time', { length: 0 }],
  ['a wait that should be over', { length: -500 }],
])('%s is not looked at again', async (_, situation) => {
  const { over, looks } = await wait(situation);
  expect({ over, looks }).toEqual({ over: 0, looks: [] });
});

test('a last look that hangs is given up, and what was seen before it is the answer', async () => {
  const { seen, over } = await wait({ done: 999, length: 1_000, takes: [0, 0, 0, 60_000] });
  expect({ seen, over }).toEqual({ seen: false, over: 1_000 + LAST_LOOK });
});

test('a look that takes its time before the end is waited for', async () => {
  const { seen, over } = await wait({ done: 100, takes: [5_000] });
  expect({ seen, over }).toEqual({ seen: true, over: 5_200 });
});

test('a look that fails ends the wait with its error, and leaves no timer', async () => {
  const ends = { end: START + LONGEST, latest: START + LONGEST + LAST_LOOK };
  const waiting = lookUntil(
    false,
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
