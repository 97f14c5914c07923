/**
 * Log entries are counted once, whatever the stream repeats, and wherever workers end.
 *
 * @module-tag long
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { recountJobs } from '../../../../infra/operator/queries/job-recount.ts';
import { newId } from '../../../../shared/core/ids.ts';
import { type LogItem, logItem, type State } from '../../../../shared/outbox/message.ts';
import { sealedAmong } from '../../../../shared/stats/claims.ts';
import { claimKey } from '../../../../shared/stats/entities.ts';
import { countEntries, listJobs } from '../../../../shared/stats/job-counters.ts';
import { documents, getManyConsistent, putAll, remove } from '../../../../shared/table/client.ts';
import { lifetime } from '../../../support/lifetime.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newAccountId, newPhone } from '../../support/world.ts';

/** Nothing waits for pauses. */
vi.mock('node:timers/promises', () => ({ setTimeout: async () => undefined }));

useOwnTable('counting');

afterEach(() => void vi.restoreAllMocks());

const TIME = '2030-01-01T12:00:00.000000';
const DAY = TIME.slice(0, 10);

/** So many log entries of a new account, in three states, that nobody has counted. */
const logged = async (length: number): Promise<{ account: string; entries: LogItem[] }> => {
  const [account, job_id] = [newAccountId(), newId()];
  const reached: State[] = ['sent', 'delivered_to_server', 'read'];
  const entries = Array.from({ length }, (_, index) => {
    const message = { id: newId(), account, phone: newPhone(), job_id, payload_type: 'text', ...lifetime };
    return logItem(message, reached[index % 3] ?? 'sent', TIME);
  });
  await putAll(entries);
  return { account, entries };
};

const sumOf = async (account: string): Promise<number> =>
  (await listJobs(account, DAY, DAY)).reduce((sum, { count }) => sum + count, 0);

/** A worker's batch of the entries, from one to another, and the calls of the table after which it ends. */
interface Batch {
  from: number;
  to: number;
  calls: number;
  /** Whether the last call is made, and only its response is lost. */
  isMade: boolean;
}

/** Runs workers beside each other, whose calls of the table are made in the scheduler's order. */
const runWorkers = async (entries: LogItem[], batches: Batch[], scheduler: fc.Scheduler): Promise<void> => {
  const running = new AsyncLocalStorage<Batch>();
  const send = documents.send.bind(documents);
  const spy = vi.spyOn(documents, 'send').mockImplementation((async (command: never) => {
    const worker = running.getStore();
    if (worker === undefined) return send(command);
    await scheduler.schedule(Promise.resolve());
    worker.calls -= 1;
    if (worker.calls < 0 && !worker.isMade) throw new Error('The worker was killed.');
    worker.isMade &&= worker.calls >= 0;
    const made = await send(command);
    if (worker.calls < 0) throw new Error('The worker was killed.');
    return made;
  }) as never);
  const count = (batch: Batch) => running.run({ ...batch }, () => countEntries(entries.slice(batch.from, batch.to)));
  await scheduler.waitFor(Promise.allSettled(batches.map(count)));
  spy.mockRestore();
};

const ENTRIES = 12;

const batch: fc.Arbitrary<Batch> = fc
  .record({
    ends: fc.tuple(fc.nat(ENTRIES), fc.nat(ENTRIES)),
    calls: fc.nat(20),
    isMade: fc.boolean(),
  })
  .map(({ ends: [one, other], calls, isMade }) => ({
    ...{ from: Math.min(one, other), to: Math.max(one, other) + 1 },
    ...{ calls, isMade },
  }));

test('workers that overlap and are killed at any call count each entry at most once, and the next ones the rest', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(batch, { minLength: 1, maxLength: 4 }),
      fc.uniqueArray(fc.nat(ENTRIES - 1), { maxLength: 3 }),
      async (scheduler, batches, cuts) => {
        const { account, entries } = await logged(ENTRIES);
        await runWorkers(entries, batches, scheduler);
        expect(await sumOf(account)).toBeLessThanOrEqual(ENTRIES);
        // The stream repeats all of them, in other batches.
        const ends = [...cuts.toSorted((a, b) => a - b), ENTRIES];
        for (const [index, end] of ends.entries()) await countEntries(entries.slice(ends[index - 1] ?? 0, end));
        expect(await sumOf(account)).toBe(ENTRIES);
        expect(await countEntries(entries)).toBe(0);
        const marks = (await getManyConsistent<LogItem[]>(entries)).map((entry) => entry?.counted ?? false);
        const sealed = await sealedAmong(marks);
        expect(marks.filter((mark) => mark !== true && !sealed.has(mark))).toEqual([]);
      },
    ),
    { numRuns: 150 },
  );
});

test('a recount adds what a killed worker has only claimed, and nothing twice', async () => {
  const { account, entries } = await logged(9);
  await countEntries(entries.slice(0, 4));
  await runWorkers(entries, [{ from: 4, to: 8, calls: 4, isMade: false }], fc.sample(fc.scheduler(), 1)[0] as never);
  expect(await sumOf(account)).toBe(4);
  expect(await recountJobs(account, DAY, DAY)).toEqual({ entries: 9, counted: 5 });
  expect(await recountJobs(account, DAY, DAY)).toEqual({ entries: 9, counted: 0 });
  expect(await sumOf(account)).toBe(9);
  // TTL removes expired rows in any order: a claim outlives its entries.
  const [entry] = await getManyConsistent<LogItem[]>(entries.slice(0, 1));
  const [claim] = await getManyConsistent<{ expires_at: number }[]>([claimKey(String(entry?.counted))]);
  expect(claim?.expires_at).toBe((entry?.expires_at ?? 0) + 3 * 86_400);
});

test('an entry that was removed before it was counted is not counted, and stays removed', async () => {
  const { account, entries } = await logged(6);
  const [removed] = entries;
  if (removed !== undefined) await remove(removed && { pk: removed.pk, sk: removed.sk });
  expect(await countEntries(entries)).toBe(5);
  expect(await sumOf(account)).toBe(5);
  const [kept] = await getManyConsistent<LogItem[]>(entries.slice(0, 1));
  expect(kept).toBeUndefined();
});

test('an entry of a later message with the same key is counted by its own record alone', async () => {
  const { account, entries } = await logged(4);
  const later = entries.map((entry) => ({ ...entry, created: '2030-01-01T12:00:00.000001' }));
  await putAll(later);
  expect(await countEntries(entries)).toBe(0);
  expect(await countEntries(later)).toBe(4);
  expect(await sumOf(account)).toBe(4);
});
