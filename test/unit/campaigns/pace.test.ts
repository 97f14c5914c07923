/** The pace of a campaign, beside a simulated queue of `deliver`. */
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { seeded } from '../../../infra/local/seeded.ts';
import { kilobytesOf, leastRate, nextRate, Pace, Throttling } from '../../../shared/campaigns/pace.ts';
import { documents } from '../../../shared/table/client.ts';
import { transact } from '../../../shared/table/transactions.ts';

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
    const seen = lengths[Math.max(0, lengths.length - 1 - ageMs / STEP_MS)] ?? 0;
    if (at % 250 === 0) rate = nextRate(rate, { queued: seen, isThrottled: false }, LIMITS);
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
  for (let look = 0; look < 20; look += 1) rate = nextRate(rate, { queued: 1_000, isThrottled: false }, LIMITS);
  expect(rate).toBe(leastRate(LIMITS));
  for (let look = 0; look < 200; look += 1) rate = nextRate(rate, { queued: 12, isThrottled: false }, LIMITS);
  expect(rate).toBe(500);
  expect(leastRate({ max: 1, longest: 12 })).toBe(1);
});

describe('beside a table that throttles', () => {
  /**
   * Messages per second of campaigns that a table takes, in each quarter of a second, and the part of the writes that it
   * throttles. A campaign sees those of its own writes.
   */
  const beside = (campaigns: number, capacity: number, seconds: number) => {
    const random = seeded(1);
    const rates = Array.from({ length: campaigns }, () => leastRate(LIMITS));
    const seen = Array.from({ length: campaigns }, () => new Throttling());
    const found: { accepted: number; throttled: number }[] = [];
    for (let look = 0; look < 4 * seconds; look += 1) {
      const wanted = rates.reduce((sum, rate) => sum + rate, 0);
      const part = Math.max(1 - capacity / wanted, 0);
      found.push({ accepted: Math.min(wanted, capacity), throttled: part });
      for (const [place, rate] of rates.entries()) {
        const admitted = Math.floor(rate / 4 + random());
        const throttled = Array.from({ length: admitted }, random).filter((drawn) => drawn < part).length;
        const isThrottled = seen[place]?.isHigh(admitted, throttled) ?? false;
        rates[place] = nextRate(rate, { queued: 0, isThrottled }, LIMITS);
      }
    }
    return found.slice(-2 * seconds);
  };

  // 4,000 write units per second, of which a message takes 34.
  test.each([1, 20])(
    '%i campaigns use more than half of it, and it throttles a tenth of the writes at most',
    (count) => {
      const found = beside(count, 117, 300);
      const mean = (of: 'accepted' | 'throttled') => found.reduce((sum, one) => sum + one[of], 0) / found.length;
      expect(mean('accepted') / 117).toBeGreaterThan(0.5);
      expect(mean('throttled')).toBeLessThan(0.1);
    },
  );

  test('a campaign that finds no throughput sends one message per second, and does not stop', () => {
    let rate = 500;
    for (let look = 0; look < 20; look += 1) rate = nextRate(rate, { queued: 0, isThrottled: true }, LIMITS);
    expect(rate).toBe(1);
  });

  test.each([0, 1_000, undefined])(
    'a campaign grows to its least rate afterwards, whatever the queue is: %s',
    (queued) => {
      const rates = [1];
      while (rates.length < 60) rates.push(nextRate(rates.at(-1) ?? 0, { queued, isThrottled: false }, LIMITS));
      expect(rates[1]).toBe(1.1);
      expect(Math.max(...rates.slice(0, 30))).toBeLessThan(leastRate(LIMITS));
      expect(rates.at(-1)).toBeGreaterThanOrEqual(leastRate(LIMITS));
      if (queued !== 0) expect(rates.at(-1)).toBe(leastRate(LIMITS));
    },
  );

  test.each(['ThrottlingError', 'ProvisionedThroughputExceeded'])(
    'a transaction that is cancelled with %s, and then made, halves the rate once',
    async (Code) => {
      vi.useFakeTimers({ toFake: ['Date'] });
      onTestFinished(() => void vi.useRealTimers());
      const error = new TransactionCanceledException({
        message: 'Transaction cancelled',
        $metadata: {},
        CancellationReasons: [{ Code: 'None' }, { Code }],
      });
      vi.spyOn(documents, 'send')
        .mockRejectedValueOnce(error)
        .mockResolvedValue({} as never);
      onTestFinished(() => void vi.restoreAllMocks());
      const pace = new Pace(LIMITS, async () => 0, 10);
      await pace.admit();
      expect(await transact([{ Delete: { TableName: 'table', Key: { pk: 'A', sk: 'A' } } }])).toEqual([]);
      vi.setSystemTime(Date.now() + 250);
      await pace.admit();
      expect(pace.rate).toBe(5);
      vi.setSystemTime(Date.now() + 250);
      await pace.admit();
      expect(pace.rate).toBe(5.5);
    },
  );
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

  test('looks at the queue four times a second, also while all messages of a step wait for their turns', async () => {
    const queued = vi.fn(async () => 1_000);
    const pace = new Pace({ max: 500, longest: 12 }, queued, 200);
    const start = Date.now();
    // Some 50 turns at 200 per second, 25 at 100, 12 at 50, and then at the least rate of 24.
    await Promise.all(Array.from({ length: 100 }, () => pace.admit()));
    expect(pace.rate).toBe(leastRate({ max: 500, longest: 12 }));
    const seconds = (Date.now() - start) / 1_000;
    expect(seconds).toBeGreaterThan(1);
    expect(queued.mock.calls.length).toBeGreaterThanOrEqual(Math.floor(seconds * 4) - 1);
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
