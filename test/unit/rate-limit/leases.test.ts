/** What processes admit by their leases, with a table in memory and a clock of the test's own. */
import { expect, test } from 'vitest';
import type { BucketTable } from '../../../shared/rate-limit/bucket.ts';
import { Leases } from '../../../shared/rate-limit/leases.ts';
import { captureLog } from '../../support/captured-log.ts';
import { MemoryBuckets } from '../../support/memory-buckets.ts';

const written = captureLog();

const ACCOUNT = 'acme';
const limit = { rate: 100, burst: 200 };

/** Processes with one table and one clock. */
const start = (table: BucketTable = new MemoryBuckets()) => {
  const time = { now: Date.UTC(2026, 10, 22) };
  const process = () => new Leases(table, {}, () => time.now);
  return { time, process };
};

/** Whether a request is admitted. Waits for the next lease, as the response does. */
const admit = async (leases: Leases, account = ACCOUNT, of = limit): Promise<boolean> => {
  const admission = await leases.admit(account, of);
  if (admission.isAdmitted) await admission.renewal;
  return admission.isAdmitted;
};

const countAdmitted = async (leases: Leases, requests: number): Promise<number> => {
  let admitted = 0;
  for (let request = 0; request < requests; request += 1) if (await admit(leases)) admitted += 1;
  return admitted;
};

test('all processes of an account together admit the burst at once, and no request more', async () => {
  const { process } = start();
  const processes = Array.from({ length: 300 }, process);
  const admitted = await Promise.all(processes.map((one) => admit(one)));
  expect(admitted.filter(Boolean)).toHaveLength(200);
});

test("another account's requests are admitted while one is over its limit", async () => {
  const { process } = start();
  const one = process();
  expect(await countAdmitted(one, 300)).toBeLessThan(300);
  expect(await admit(one, 'other')).toBe(true);
});

test('a process that starts leases one token, so that many of them do not use up the bucket', async () => {
  const table = new MemoryBuckets();
  const { process, time } = start(table);
  await Promise.all(Array.from({ length: 100 }, () => admit(process())));
  const left = (time.now * 1_000 - (table.emptyAt.get(ACCOUNT) ?? 0)) / 10_000;
  expect(left).toBe(100);
});

test('a busy process makes one write for many requests, and is admitted all of them below the limit', async () => {
  const table = new MemoryBuckets();
  const { process, time } = start(table);
  const one = process();
  for (let request = 0; request < 1_000; request += 1) {
    time.now += 20;
    expect(await admit(one)).toBe(true);
  }
  expect(table.writes).toBeLessThan(1_000 / 15);
});

test('a process that had a request lately does not wait for the table: the response waits for the next lease', async () => {
  const calls = Array.from({ length: 2 }, () => Promise.withResolvers<void>());
  const memory = new MemoryBuckets();
  const pending = [...calls];
  const slow: BucketTable = {
    refill: async (...given) => {
      await pending.shift()?.promise;
      return memory.refill(...given);
    },
    spend: memory.spend,
  };
  const { process, time } = start(slow);
  const one = process();
  calls[0]?.resolve();
  expect(await admit(one)).toBe(true);
  time.now += 3_000;
  // The first lease had one token: this request waits for the second lease, which comes late.
  const second = one.admit(ACCOUNT, limit);
  calls[1]?.resolve();
  const admission = await second;
  expect(admission).toMatchObject({ isAdmitted: true, renewal: expect.any(Promise) });
  if (admission.isAdmitted) await admission.renewal;
  const { writes } = memory;
  time.now += 3_000;
  // Its renewal takes the token of the request after it.
  expect(await one.admit(ACCOUNT, limit)).toMatchObject({ isAdmitted: true });
  expect(memory.writes).toBe(writes + 1);
});

test('tokens of a process that was frozen for longer than ten seconds expire', async () => {
  const table = new MemoryBuckets();
  const { process, time } = start(table);
  const frozen = process();
  for (let request = 0; request < 50; request += 1) {
    time.now += 20;
    await admit(frozen);
  }
  time.now += 3_600_000;
  // Another process empties the bucket; the frozen one has nothing left of its lease.
  expect(await countAdmitted(process(), 1_000)).toBeGreaterThanOrEqual(199);
  expect(await admit(frozen)).toBe(false);
});

test('a process that is over the limit asks the table once in 100 ms at most, and tells how long to wait', async () => {
  const table = new MemoryBuckets();
  const { process, time } = start(table);
  const one = process();
  await countAdmitted(one, 400);
  const { writes } = table;
  expect(await countAdmitted(one, 1_000)).toBe(0);
  expect(table.writes).toBe(writes);
  expect(await one.admit(ACCOUNT, limit)).toEqual({ isAdmitted: false, wait: 100 });
  time.now += 100;
  expect(await countAdmitted(one, 1_000)).toBe(10);
});

test('a slow rate is awaited whole', async () => {
  const { process, time } = start();
  const one = process();
  const slow = { rate: 1, burst: 1 };
  expect(await admit(one, ACCOUNT, slow)).toBe(true);
  time.now += 250;
  expect(await one.admit(ACCOUNT, slow)).toEqual({ isAdmitted: false, wait: 750 });
  time.now += 750;
  expect(await admit(one, ACCOUNT, slow)).toBe(true);
});

test('if the table fails, requests are admitted, and it is asked again after a second', async () => {
  const memory = new MemoryBuckets();
  const state = { fails: true, calls: 0 };
  const failing =
    <Given extends unknown[], Result>(call: (...given: Given) => Promise<Result>) =>
    async (...given: Given) => {
      state.calls += 1;
      if (state.fails) throw Object.assign(new Error('not for the log'), { name: 'ThrottlingException' });
      return call(...given);
    };
  const { process, time } = start({ refill: failing(memory.refill), spend: failing(memory.spend) });
  const one = process();
  expect(await countAdmitted(one, 500)).toBe(500);
  expect(await one.admit(ACCOUNT, limit)).toEqual({ isAdmitted: true });
  expect(state.calls).toBe(1);
  expect(JSON.parse(written.join())).toMatchObject({
    level: 'error',
    message: 'rate limit not applied',
    account: ACCOUNT,
    error: 'ThrottlingException',
  });
  state.fails = false;
  time.now += 1_000;
  expect(await countAdmitted(one, 500)).toBeLessThan(500);
});
