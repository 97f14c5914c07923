/** What processes admit by their leases, with a table in memory and a clock of the test's own. */
import { expect, test } from 'vitest';
import type { BucketTable } from '../../../shared/accounts/rate-limit/bucket.ts';
import { Leases } from '../../../shared/accounts/rate-limit/leases.ts';
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

test('a busy process does not wait for the table: the response waits for the next lease', async () => {
  const memory = new MemoryBuckets();
  const calls = { pending: Promise.withResolvers<void>() };
  calls.pending.resolve();
  const slow: BucketTable = {
    refill: async (...given) => {
      await calls.pending.promise;
      return memory.refill(...given);
    },
    spend: async (...given) => {
      await calls.pending.promise;
      return memory.spend(...given);
    },
  };
  const { process, time } = start(slow);
  const one = process();
  // Requests of a process that starts, or is slow, take a token when they need it.
  for (let request = 0; request < 3; request += 1) {
    expect(await one.admit(ACCOUNT, limit)).toMatchObject({ isAdmitted: true, renewal: undefined });
    time.now += 3_000;
  }
  for (let request = 0; request < 2; request += 1) {
    expect(await admit(one)).toBe(true);
    time.now += 100;
  }
  calls.pending = Promise.withResolvers();
  const second = one.admit(ACCOUNT, limit);
  calls.pending.resolve();
  const admission = await second;
  expect(admission).toMatchObject({ isAdmitted: true, renewal: expect.any(Promise) });
  if (admission.isAdmitted) await admission.renewal;
  const { writes } = memory;
  time.now += 100;
  // The next request has its token before the table answers its own lease.
  calls.pending = Promise.withResolvers();
  expect(await one.admit(ACCOUNT, limit)).toMatchObject({ isAdmitted: true });
  expect(memory.writes).toBe(writes);
  calls.pending.resolve();
});

test('tokens of a process that was frozen for longer than a second expire', async () => {
  const table = new MemoryBuckets();
  const { process, time } = start(table);
  const frozen = process();
  for (let request = 0; request < 50; request += 1) {
    time.now += 20;
    await admit(frozen);
  }
  time.now += 1_001;
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

/** A table that fails with an error of this name, as long as `fails` is true. */
const failingTable = (name: string) => {
  const memory = new MemoryBuckets();
  const state = { fails: true, calls: 0 };
  const failing =
    <Given extends unknown[], Result>(call: (...given: Given) => Promise<Result>) =>
    async (...given: Given) => {
      state.calls += 1;
      if (state.fails) throw Object.assign(new Error('not for the log'), { name });
      return call(...given);
    };
  const table: BucketTable = { refill: failing(memory.refill), spend: failing(memory.spend) };
  return { table, state };
};

test('if the table fails, requests are admitted, and it is asked again after a second', async () => {
  const { table, state } = failingTable('TimeoutError');
  const { process, time } = start(table);
  const one = process();
  expect(await countAdmitted(one, 500)).toBe(500);
  expect(await one.admit(ACCOUNT, limit)).toEqual({ isAdmitted: true });
  expect(state.calls).toBe(1);
  expect(JSON.parse(written.join())).toMatchObject({
    level: 'error',
    message: 'rate limit not applied',
    account: ACCOUNT,
    error: 'TimeoutError',
  });
  state.fails = false;
  time.now += 1_000;
  expect(await countAdmitted(one, 500)).toBeLessThan(500);
});

test('if the table throttles a lease, a process that starts admits two requests in a second, and a busy one its lease twice', async () => {
  const { table, state } = failingTable('ThrottlingException');
  const { process, time } = start(table);
  const one = process();
  expect(await countAdmitted(one, 10)).toBe(2);
  expect(await one.admit(ACCOUNT, limit)).toEqual({ isAdmitted: false, wait: 1_000 });
  state.fails = false;
  time.now += 1_000;
  const busy = process();
  for (let request = 0; request < 100; request += 1) {
    time.now += 20;
    expect(await admit(busy)).toBe(true);
  }
  state.fails = true;
  time.now += 1_001;
  const admitted = await countAdmitted(busy, 200);
  expect(admitted).toBeGreaterThan(20);
  expect(admitted).toBeLessThan(100);
});

test('if the table throttles the lease of a process that found the bucket empty, it rejects, with longer pauses', async () => {
  const { table, state } = failingTable('ThrottlingException');
  state.fails = false;
  const { process, time } = start(table);
  const one = process();
  await countAdmitted(one, 400);
  state.fails = true;
  const waits: number[] = [];
  for (let round = 0; round < 8; round += 1) {
    time.now += 2_000;
    const admission = await one.admit(ACCOUNT, limit);
    waits.push(admission.isAdmitted ? 0 : admission.wait);
  }
  expect(waits[0]).toBeGreaterThanOrEqual(100);
  expect(waits.at(-1)).toBeGreaterThanOrEqual(1_000);
  expect(Math.max(...waits)).toBeLessThanOrEqual(2_000);
});
