/** The pace of a campaign, beside a simulated queue of `deliver`. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { kilobytesOf, leastRate, nextRate, Pace } from '../../../shared/campaigns/pace.ts';

// Pauses advance the clock.
vi.mock('node:timers/promises', () => ({
  setTimeout: async (ms: number) => void vi.setSystemTime(Date.now() + ms),
}));

const LIMITS = { max: 500, longest: 12 };

const STEP_MS = 50;

/**
 * The number of wake-ups that wait, every 50 ms, while a campaign runs beside 100 workers.
 *
 * @param callMs - how long each call of a worker takes
 * @param ageMs - the age of the length that the campaign reads
 */
const simulate = (seconds: number, callMs: number, ageMs: number) => {
  const capacity = (100 * STEP_MS) / callMs;
  const lengths = [0];
  let [queued, rate, accepted] = [0, leastRate(LIMITS), 0];
  for (let at = 0; at < seconds * 1_000; at += STEP_MS) {
    if (at % 250 === 0) rate = nextRate(rate, lengths[Math.max(0, lengths.length - 1 - ageMs / STEP_MS)] ?? 0, LIMITS);
    const more = (rate * STEP_MS) / 1_000;
    accepted += more;
    queued = Math.max(0, queued + more - capacity);
    lengths.push(queued);
  }
  return { lengths: lengths.toSorted((a, b) => a - b), perSecond: accepted / seconds };
};

const share = (lengths: number[], part: number): number => lengths[Math.floor(lengths.length * part)] ?? 0;

describe('beside 100 workers', () => {
  test('whose calls take 0.1 s, a campaign reaches the pace of the setting within 25 s, and nothing waits', () => {
    const { lengths, perSecond } = simulate(60, 100, 0);
    expect(perSecond).toBeGreaterThan(380);
    expect(share(lengths, 0.99)).toBe(0);
  });

  test('whose calls take 2 s, a campaign uses most of them, and a message waits half a second at most', () => {
    const { lengths, perSecond } = simulate(300, 2_000, 0);
    expect(perSecond).toBeGreaterThan(40);
    // 50 calls end in a second.
    expect((lengths.at(-1) ?? 0) / 50).toBeLessThan(0.5);
  });

  test('whose calls take 2 s, with a length that is 2 s old, a message waits 3 s at most', () => {
    const { lengths } = simulate(300, 2_000, 2_000);
    expect((lengths.at(-1) ?? 0) / 50).toBeLessThan(3);
  });
});

test('the rate never falls below the least one, or grows beyond the most', () => {
  let rate = 100;
  for (let look = 0; look < 20; look += 1) rate = nextRate(rate, 1_000, LIMITS);
  expect(rate).toBe(leastRate(LIMITS));
  for (let look = 0; look < 200; look += 1) rate = nextRate(rate, 12, LIMITS);
  expect(rate).toBe(500);
  expect(leastRate({ max: 1, longest: 12 })).toBe(1);
});

describe('an expansion', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
  afterEach(() => void vi.useRealTimers());

  /** The times of messages that are admitted one after the other, since the first, in milliseconds. */
  const timesOf = async (count: number, admit: () => Promise<void>): Promise<number[]> => {
    const start = Date.now();
    const found: number[] = [];
    for (let admitted = 0; admitted < count; admitted += 1) {
      await admit();
      found.push(Date.now() - start);
    }
    return found;
  };

  test('admits messages evenly, at the pace of the setting while nothing waits', async () => {
    const pace = new Pace({ max: 500, longest: 250 }, async () => 0);
    const times = await timesOf(501, () => pace.admit());
    expect(times.slice(0, 4)).toEqual([0, 2, 4, 6]);
    expect(times.at(-1)).toBe(1_000);
  });

  test('takes the time of nine messages for one of 9 KB, and of at most four seconds', async () => {
    const pace = new Pace({ max: 500, longest: 250 }, async () => 0);
    const emoji = { type: 'text', text: { body: '😀'.repeat(2_250) } };
    expect(kilobytesOf(emoji)).toBe(9);
    const times = await timesOf(101, () => pace.admit(kilobytesOf(emoji)));
    expect(times.slice(0, 3)).toEqual([0, 18, 36]);
    expect(times.at(-1)).toBe(1_800);
    const slow = new Pace({ max: 1, longest: 1 }, async () => 0);
    expect(await timesOf(3, () => slow.admit(9))).toEqual([0, 4_000, 8_000]);
  });

  test('catches up after a pause, for a tenth of a second at most', async () => {
    const pace = new Pace({ max: 500, longest: 250 }, async () => 0);
    await timesOf(10, () => pace.admit());
    for (const [pauseMs, atOnce] of [
      [40, 20],
      [10_000, 51],
    ] as const) {
      vi.setSystemTime(Date.now() + pauseMs);
      const times = await timesOf(60, () => pace.admit());
      expect(times.filter((time) => time === 0)).toHaveLength(atOnce);
    }
  });

  test('logs messages that have ended at 800 per second, whatever its pace, and does not look at the queue', async () => {
    const queued = vi.fn(async () => 1_000);
    const pace = new Pace({ max: 1, longest: 1 }, queued);
    expect((await timesOf(801, () => pace.admitEnded())).at(-1)).toBe(1_000);
    expect(queued).not.toHaveBeenCalled();
  });

  test('continues at its rate if the queue cannot be read', async () => {
    const pace = new Pace({ max: 500, longest: 12 }, () => Promise.reject(new Error('The queue is down.')));
    expect((await timesOf(25, () => pace.admit())).at(-1)).toBe(1_000);
    expect(pace.rate).toBe(24);
  });
});
