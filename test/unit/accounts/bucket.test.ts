/** The bucket of an account, with a table in memory: what concurrent processes can take of it, whatever they last saw. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type BucketTable, takeTokens, tokensIn, untilNextToken } from '../../../shared/accounts/rate-limit/bucket.ts';
import { MemoryBuckets } from '../../support/memory-buckets.ts';

const ACCOUNT = 'acme';
const START = Date.UTC(2026, 10, 22);
const limit = { rate: 100, burst: 200 };

/** Takes tokens at `ms` after the start. Without `emptyAt`, the process knows nothing of the bucket. */
const take = (table: MemoryBuckets, ms: number, wanted = 1, emptyAt?: number, of = limit) =>
  takeTokens(table, ACCOUNT, of, { wanted, emptyAt, clock: () => START + ms });

/** Takes token by token until there is none. Returns how many there were. */
const drain = async (table: MemoryBuckets, ms: number, of = limit): Promise<number> => {
  let taken = 0;
  for (let emptyAt: number | undefined; ; taken += 1) {
    const { tokens, emptyAt: seen } = await take(table, ms, 1, emptyAt, of);
    if (tokens === 0) return taken;
    emptyAt = seen;
  }
};

test('a new bucket has the whole burst; then it fills with the rate, up to the burst', async () => {
  const table = new MemoryBuckets();
  expect(await drain(table, 0)).toBe(200);
  expect(await drain(table, 9)).toBe(0);
  expect(await drain(table, 10)).toBe(1);
  expect(await drain(table, 1_010)).toBe(100);
  expect(await drain(table, 3_600_000)).toBe(200);
});

test('each token costs one write, and an empty bucket costs none while the process knows when it was empty', async () => {
  const table = new MemoryBuckets();
  let { emptyAt } = await take(table, 0);
  for (let ms = 1; ms <= 5; ms += 1) ({ emptyAt } = await take(table, ms, 1, emptyAt));
  expect(table.writes).toBe(6);
  await drain(table, 5);
  emptyAt = (await take(table, 6)).emptyAt;
  const { writes } = table;
  expect(await take(table, 7, 1, emptyAt)).toEqual({ tokens: 0, emptyAt });
  expect(table.writes).toBe(writes);
});

test('a process takes at most a quarter of the tokens, but one in any case', async () => {
  const table = new MemoryBuckets();
  expect((await take(table, 0, 1_000)).tokens).toBe(50);
  await drain(table, 0);
  expect((await take(table, 30, 1_000)).tokens).toBe(1);
});

test('a bucket of a clock that is a second ahead is awaited, and one further ahead is taken for a full one', async () => {
  const table = new MemoryBuckets();
  table.emptyAt.set(ACCOUNT, (START + 1_000) * 1_000);
  expect((await take(table, 0)).tokens).toBe(0);
  table.emptyAt.set(ACCOUNT, (START + 1_000) * 1_000 + 1);
  expect(await take(table, 0)).toMatchObject({ tokens: 1 });
  expect(tokensIn(table.emptyAt.get(ACCOUNT), limit, START)).toBe(199);
});

test.each([
  [1, 1],
  [3, 4],
  [7, 7],
  [60, 200],
  [999, 1_000],
])('a bucket of %i a second and a burst of %i has exactly the burst, token by token', async (rate, burst) => {
  expect(await drain(new MemoryBuckets(), 0, { rate, burst })).toBe(burst);
});

test('the wait for the next token is exact', async () => {
  const table = new MemoryBuckets();
  await drain(table, 0);
  expect(untilNextToken(table.emptyAt.get(ACCOUNT), limit, START + 4)).toBe(6);
  expect(untilNextToken(undefined, limit, START)).toBe(0);
});

test('in any period, processes take at most the burst and the rate times the period, in any order and with old knowledge', async () => {
  const step = fc.record({
    process: fc.nat({ max: 4 }),
    pause: fc.oneof(fc.constant(0), fc.nat({ max: 50 }), fc.nat({ max: 10_000 })),
    wanted: fc.integer({ min: 1, max: 60 }),
  });
  const limits = fc
    .record({ rate: fc.integer({ min: 1, max: 5_000 }), times: fc.integer({ min: 1, max: 5 }) })
    .map(({ rate, times }) => ({ rate, burst: rate * times }));
  await fc.assert(
    fc.asyncProperty(limits, fc.array(step, { maxLength: 60 }), async (of, steps) => {
      const table = new MemoryBuckets();
      const seen = new Map<number, number | undefined>();
      const takes: { ms: number; tokens: number }[] = [];
      let ms = 0;
      for (const { process, pause, wanted } of steps) {
        ms += pause;
        const { tokens, emptyAt } = await take(table, ms, wanted, seen.get(process), of);
        seen.set(process, emptyAt);
        takes.push({ ms, tokens });
      }
      for (const [first, { ms: from }] of takes.entries()) {
        let sum = 0;
        for (const { ms: to, tokens } of takes.slice(first)) {
          sum += tokens;
          // Times are whole microseconds, which rounds each lease up by less than a hundredth of a token.
          expect(sum).toBeLessThanOrEqual(of.burst + 1 + ((to - from) * of.rate) / 1_000);
        }
      }
    }),
    { numRuns: 60 },
  );
});

test('a process whose write is slow goes by the present time when it writes again', async () => {
  const table = new MemoryBuckets();
  const short = { rate: 100, burst: 100 };
  let ms = 0;
  // Another process fills the bucket while the first write is under way, and takes a token, 1.5 s later.
  const slow: BucketTable = {
    refill: async (account, times) => {
      if (ms === 0) {
        ms = 1_500;
        await take(table, ms, 1, undefined, short);
      }
      return table.refill(account, times);
    },
    spend: (account, times) => table.spend(account, times),
  };
  const taken = await takeTokens(slow, ACCOUNT, short, { wanted: 1, emptyAt: undefined, clock: () => START + ms });
  expect(taken.tokens).toBe(1);
});
