/**
 * Workers that count entries of one job at the same time, each as a process of its own would. The table is in memory: a mark takes
 * 5 ms, and a transaction holds its items for 20 ms, and cancels others that need one of them, as DynamoDB does. So the figures do not
 * depend on this machine. Compares counters with and without shards.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { messageKey } from '../../shared/outbox/entities.ts';
import type { State } from '../../shared/outbox/message.ts';
import { CounterShards } from '../../shared/stats/counter-shards.ts';
import { jobCountersOf } from '../../shared/stats/entities.ts';
import { CHUNK, type Countable, countEntries } from '../../shared/stats/job-counters.ts';
import { documents } from '../../shared/table/client.ts';
import { type Figure, quantile, report, say } from './report.ts';

/** Assumed milliseconds of a mark, of a transaction of the sums, and of the time until a worker has its next batch. */
const ASSUMED_MS = { mark: 5, transaction: 20, next: 20 };
const WRITERS = [1, 2, 4, 8, 16];
/** Milliseconds of a run, in whose second half the processes have found their shards. */
const DURATION_MS = 6_000;
const STATES: State[] = ['sent', 'delivered_to_server', 'delivered_to_user', 'read'];

process.env.TABLE_NAME = 'table';
process.env.COUNTER_RETENTION = '400';

/** Counters as they were before they had shards. */
class OneShard extends CounterShards {
  override move(): void {
    // There is no other shard.
  }
}

/** The table: counters by their keys, the items of ongoing transactions, and the number of cancelled ones. */
const table = { counters: new Map<string, number>(), held: new Set<string>(), conflicts: 0 };

const send = async ({ input }: { input: TransactWriteCommandInput }): Promise<object> => {
  if (input.TransactItems === undefined) {
    await pause(ASSUMED_MS.mark);
    return {};
  }
  const updates = (input.TransactItems ?? []).flatMap(({ Update }) => Update ?? []);
  const keys = updates.map(({ Key }) => `${Key?.pk} ${Key?.sk}`);
  if (keys.some((key) => table.held.has(key))) {
    table.conflicts += 1;
    throw new TransactionCanceledException({
      message: 'Transaction cancelled',
      $metadata: {},
      CancellationReasons: keys.map((key) => ({ Code: table.held.has(key) ? 'TransactionConflict' : 'None' })),
    });
  }
  for (const key of keys) table.held.add(key);
  await pause(ASSUMED_MS.transaction);
  for (const [index, key] of keys.entries()) {
    const count = Number(updates[index]?.ExpressionAttributeValues?.[':count'] ?? 0);
    if (count > 0) table.counters.set(key, (table.counters.get(key) ?? 0) + count);
    table.held.delete(key);
  }
  return {};
};
Object.assign(documents, { send });

const batchOf = (account: string, job_id: string): Countable[] =>
  Array.from({ length: CHUNK }, (_, index) => ({
    ...messageKey(randomUUID()),
    account,
    job_id,
    payload_type: 'text',
    state: STATES[index % STATES.length] ?? 'sent',
    created: '2030-01-01T00:00:00.000000',
    expires_at: 2_000_000_000,
  }));

interface Run {
  /** Entries per second in the second half. */
  rate: number;
  /** Milliseconds of each batch. */
  times: number[];
  /** Cancelled transactions for each batch, and those of the second half. */
  conflicts: number;
  later: number;
  /** Batches that failed, so that Lambda would retry them. */
  failures: number;
  /** Items of a counter. */
  shards: number;
}

const run = async (writers: number, newShards: () => CounterShards): Promise<Run> => {
  const [account, job] = [randomUUID(), randomUUID()];
  const times: number[] = [];
  let failures = 0;
  table.conflicts = 0;
  const start = performance.now();
  const passed = (): number => performance.now() - start;
  const persist = async (batch: Countable[], shards: CounterShards): Promise<void> => {
    try {
      await countEntries(batch, shards);
    } catch {
      failures += 1;
      await persist(batch, shards);
    }
  };
  const soFar = async (milliseconds: number) => {
    await pause(milliseconds);
    return { batches: times.length, conflicts: table.conflicts };
  };
  const [atHalf, atEnd] = await Promise.all([
    soFar(DURATION_MS / 2),
    soFar(DURATION_MS),
    ...Array.from({ length: writers }, async () => {
      const shards = newShards();
      while (passed() < DURATION_MS) {
        await pause(ASSUMED_MS.next * 2 * Math.random());
        const began = performance.now();
        await persist(batchOf(account, job), shards);
        times.push(performance.now() - began);
      }
    }),
  ]);
  const counters = [...table.counters].filter(([key]) => key.startsWith(`${jobCountersOf(account)} `));
  const counted = counters.reduce((sum, [, count]) => sum + count, 0);
  if (counted !== times.length * CHUNK) throw new Error(`${counted} entries were counted.`);
  // Some batches end after the run, when fewer processes count.
  const batches = atEnd.batches - atHalf.batches;
  return {
    rate: (batches * CHUNK) / (DURATION_MS / 2_000),
    times,
    conflicts: table.conflicts / times.length,
    later: (atEnd.conflicts - atHalf.conflicts) / batches,
    failures,
    shards: counters.length / STATES.length,
  };
};

const figures: Figure[] = [];
for (const [what, newShards] of [
  ['one item', () => new OneShard()],
  ['shards', () => new CounterShards()],
] as const) {
  const hasShards = what === 'shards';
  let one = 0;
  for (const writers of WRITERS) {
    say(`count: ${what}, ${writers} writers`);
    const { rate, times, conflicts, later, failures, shards } = await run(writers, newShards);
    if (writers === 1) one = rate;
    figures.push(
      {
        what: `${what}, ${writers} writers: entries a second`,
        value: rate,
        unit: 'entries',
        ...(hasShards && writers === 4 && { goal: { atLeast: 2_000 } }),
      },
      {
        what: 'share of what as many writers of different jobs count',
        value: rate / (one * writers),
        unit: '×',
        ...(hasShards && { goal: { atLeast: 0.8 } }),
      },
      { what: 'conflicts of a transaction', value: conflicts, unit: 'conflicts' },
      { what: 'in the second half', value: later, unit: 'conflicts' },
      { what: 'batches that Lambda would retry', value: failures, unit: 'batches' },
      { what: 'a batch', value: quantile(times, 0.5), p99: quantile(times, 0.99), unit: 'ms' },
      { what: 'items of a counter', value: shards, unit: 'items', ...(hasShards && { goal: { atMost: 16 } }) },
    );
  }
}
report('count', figures);
