/**
 * The limit over hundreds of processes of one account, with a table as far away as DynamoDB, in simulated time.
 *
 * @module-tag long
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { seeded } from '../../../infra/local/seeded.ts';
import type { BucketTable } from '../../../shared/accounts/rate-limit/bucket.ts';
import { Leases } from '../../../shared/accounts/rate-limit/leases.ts';
import { captureLog } from '../../support/captured-log.ts';
import { MemoryBuckets } from '../../support/memory-buckets.ts';
import { VirtualTime } from '../../support/virtual-time.ts';

captureLog();

const limit = { rate: 100, burst: 200 };

let random = seeded(1);

beforeEach(() => {
  random = seeded(1);
  vi.spyOn(Math, 'random').mockImplementation(() => random());
});

afterEach(() => void vi.restoreAllMocks());

/**
 * A table whose calls take 8 to 30 ms, and the first call of a process up to 150 ms more.
 *
 * @param capacity - writes of the bucket per second; of more, DynamoDB rejects the rest after the client's retries
 */
const distantTable = (time: VirtualTime, capacity = Number.POSITIVE_INFINITY) => {
  const memory = new MemoryBuckets();
  const used = new Map<number, number>();
  const ofProcess = (): BucketTable => {
    let isFirst = true;
    const distant =
      <Given extends unknown[], Result>(call: (...given: Given) => Promise<Result>) =>
      async (...given: Given): Promise<Result> => {
        const connecting = isFirst ? random() * 150 : 0;
        isFirst = false;
        await time.sleep(connecting + 4 + random() * 11);
        const second = Math.floor(time.now / 1_000);
        used.set(second, (used.get(second) ?? 0) + 1);
        if ((used.get(second) ?? 0) > capacity) {
          await time.sleep(150);
          throw Object.assign(new Error('throttled'), { name: 'ThrottlingException' });
        }
        const result = await call(...given);
        await time.sleep(4 + random() * 11);
        return result;
      };
    return { refill: distant(memory.refill), spend: distant(memory.spend) };
  };
  return { memory, ofProcess };
};

test.each([50, 200])(
  '%i requests at once after a pause, each in a process that starts, are all admitted',
  async (requests) => {
    const time = new VirtualTime();
    const { memory, ofProcess } = distantTable(time);
    const clock = () => Math.floor(time.now);
    for (const pause of [0, 5_000, 3_600_000]) {
      await time.runUntil(time.now + pause);
      const { writes } = memory;
      const admissions = Promise.all(
        Array.from({ length: requests }, () => new Leases(ofProcess(), {}, clock).admit('acme', limit)),
      );
      await time.runUntil(time.now + 1_000);
      expect((await admissions).filter(({ isAdmitted }) => !isAdmitted)).toEqual([]);
      expect(memory.writes - writes).toBeLessThanOrEqual(2 * requests);
    }
  },
);

const PROCESSES = 600;
const SECONDS = 12;

/** Each of 600 processes sends its next request after a pause. Returns when requests were admitted, in ms. */
const overload = async (pauseMs: number, capacity?: number): Promise<number[]> => {
  const time = new VirtualTime();
  const { ofProcess } = distantTable(time, capacity);
  const start = time.now;
  const end = start + SECONDS * 1_000;
  const admitted: number[] = [];
  const sendUntilEnd = async (): Promise<void> => {
    const leases = new Leases(ofProcess(), {}, () => Math.floor(time.now));
    await time.sleep(random() * pauseMs);
    while (time.now < end) {
      const admission = await leases.admit('acme', limit);
      if (admission.isAdmitted) {
        admitted.push(time.now - start);
        await Promise.all([time.sleep(20 + random() * 20), admission.renewal]);
      }
      await time.sleep(pauseMs * (0.5 + random()));
    }
  };
  const all = Promise.all(Array.from({ length: PROCESSES }, sendUntilEnd));
  await time.runUntil(end + 20_000);
  await all;
  return admitted.toSorted((one, other) => one - other);
};

test.each([100, 1_000, 6_000])(
  'in any period, 600 processes with a request in %i ms admit at most the burst, and the rate times the period and a second',
  async (pauseMs) => {
    const admitted = await overload(pauseMs);
    for (const [index, from] of admitted.entries()) {
      const until = admitted.findLastIndex((at) => at <= from + 3_000);
      expect(until - index + 1).toBeLessThanOrEqual(limit.burst + 1 + limit.rate * 4);
    }
    // And they admit the rate: no token is lost to a race. With a request in six seconds, they send less at times.
    if (pauseMs < 6_000) expect(admitted.length).toBeGreaterThan(limit.burst + limit.rate * (SECONDS - 1));
  },
  60_000,
);

test.each([100, 1_000])(
  'a bucket that is throttled as one key admits two requests more for each process, and then the rate: a request in %i ms',
  async (pauseMs) => {
    const admitted = await overload(pauseMs, 1_000);
    expect(admitted.length).toBeLessThanOrEqual(limit.burst + limit.rate * (SECONDS + 1) + 2 * PROCESSES);
    const inTheEnd = admitted.filter((at) => at >= 6_000 && at < SECONDS * 1_000);
    expect(inTheEnd.length).toBeLessThanOrEqual(limit.rate * 6 * 1.1);
  },
  60_000,
);
