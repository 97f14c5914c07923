/**
 * Job counters: each log entry is counted once, and the counters equal the log.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { recountJobs } from '../../../../infra/operator/queries/job-recount.ts';
import { type LogItem, logItem, type State, states } from '../../../../shared/outbox/message.ts';
import { CounterShards } from '../../../../shared/stats/counter-shards.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { jobCounterKey, jobCountersOf } from '../../../../shared/stats/entities.ts';
import { type Countable, countEntries, listJobs } from '../../../../shared/stats/job-counters.ts';
import { quarters } from '../../../../shared/stats/quarters.ts';
import { documents, page } from '../../../../shared/table/client.ts';
import type { Key } from '../../../../shared/table/keys.ts';
import { lifetime } from '../../../support/lifetime.ts';
import { consumedBy } from '../../support/consumed.ts';
import { holdItems } from '../../support/held-items.ts';
import { putAll } from '../../support/many-items.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newAccountId } from '../../support/world.ts';

useOwnTable('jobs');

afterEach(() => void vi.restoreAllMocks());

const DAY = 86_400_000;

const day = (ago: number): string => new Date(Date.now() - ago * DAY).toISOString().slice(0, 10);

interface Wanted {
  job_id?: string;
  payload_type?: string;
  state?: State;
  ago?: number;
}

const entry = (
  account: string,
  { job_id = randomUUID(), payload_type = 'text', state = 'sent', ago = 0 }: Wanted,
): LogItem =>
  logItem(
    { id: randomUUID(), account, phone: '27820000001', job_id, payload_type, ...lifetime },
    state,
    `${day(ago)}T00:00:00.000000`,
  );

/** Writes log entries into the table. */
const logged = async (...entries: LogItem[]): Promise<LogItem[]> => {
  await putAll(entries);
  return entries;
};

const jobs = (account: string, from = 366, to = 0) => listJobs(account, day(from), day(to));

describe('counting log entries', () => {
  test('messages are counted by job, payload type and state', async () => {
    const account = newAccountId();
    const [a = '', b = ''] = [randomUUID(), randomUUID()].sort();
    const entries = await logged(
      entry(account, { job_id: a }),
      entry(account, { job_id: a }),
      entry(account, { job_id: a, state: 'read' }),
      entry(account, { job_id: b, payload_type: 'image' }),
      entry(account, { job_id: b, payload_type: '' }),
    );
    expect(await countEntries(entries)).toBe(5);
    expect(await jobs(account)).toEqual([
      { job_id: a, state: 'sent', payload_type: 'text', count: 2 },
      { job_id: a, state: 'read', payload_type: 'text', count: 1 },
      { job_id: b, state: 'sent', payload_type: '', count: 1 },
      { job_id: b, state: 'sent', payload_type: 'image', count: 1 },
    ]);
  });

  test('an entry is counted once, even if it is repeated in other batches or twice in one batch', async () => {
    const account = newAccountId();
    const job_id = randomUUID();
    const entries = await logged(...Array.from({ length: 120 }, () => entry(account, { job_id })));
    expect(await countEntries(entries.slice(0, 70))).toBe(70);
    expect(await countEntries(entries)).toBe(50);
    expect(await countEntries([...entries.slice(100), ...entries.slice(100), ...entries])).toBe(0);
    expect(await jobs(account)).toEqual([{ job_id, state: 'sent', payload_type: 'text', count: 120 }]);
  });

  test('a worker that is slow to seal its claim keeps its entries', async () => {
    const account = newAccountId();
    const entries = await logged(...Array.from({ length: 4 }, () => entry(account, {})));
    const send = documents.send.bind(documents);
    const slow = vi.spyOn(documents, 'send').mockImplementation((async (command: object) => {
      if (command instanceof TransactWriteCommand) await pause(250);
      return send(command as never);
    }) as never);
    const first = countEntries(entries);
    await expect.poll(() => slow.mock.calls.length).toBe(5);
    const [one, other] = await Promise.all([first, countEntries(entries)]);
    expect([one, other]).toEqual([4, 0]);
    expect((await jobs(account)).reduce((sum, { count }) => sum + count, 0)).toBe(4);
  });

  test('eight workers that count one job at once count each entry once, in shards that expire together', async () => {
    const account = newAccountId();
    const job_id = randomUUID();
    const states = ['sent', 'read'] as const;
    const batches = await Promise.all(
      Array.from({ length: 24 }, () => logged(...states.map((state) => entry(account, { job_id, state })))),
    );
    const held = holdItems(5);
    await Promise.all(
      Array.from({ length: 8 }, async (_, worker) => {
        const shards = new CounterShards();
        for (const batch of batches.slice(3 * worker, 3 * worker + 3)) await countEntries(batch, shards);
        // The stream repeats a batch for another worker.
        await countEntries(batches[(3 * worker + 3) % 24] ?? [], shards);
      }),
    );
    vi.restoreAllMocks();
    expect(held.conflicts).toBeGreaterThan(0);
    expect(await jobs(account)).toEqual(
      states.map((state) => ({ job_id, state, payload_type: 'text', count: batches.length })),
    );
    const counters = await page<Key & { expires_at: number }>({
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': jobCountersOf(account) },
    });
    expect(counters.items.length).toBeGreaterThan(states.length);
    expect(counters.items.length).toBeLessThanOrEqual(16 * states.length);
    expect(new Set(counters.items.map(({ expires_at }) => expires_at)).size).toBe(1);
  });

  test('a full batch of up to ten counters is one transaction, after a mark of each entry', async () => {
    const account = newAccountId();
    const counters = Array.from({ length: 10 }, () => randomUUID());
    const entries = Array.from({ length: 90 }, (_, index) => entry(account, { job_id: counters[index % 10] ?? '' }));
    await logged(...entries);
    const send = vi.spyOn(documents, 'send');
    expect(await countEntries(entries)).toBe(90);
    expect(send.mock.calls.map(([command]) => command.constructor.name)).toEqual([
      ...Array(90).fill('UpdateCommand'),
      'TransactWriteCommand',
    ]);
    expect((await jobs(account)).map(({ count }) => count)).toEqual(Array(10).fill(9));
  });

  test('entries of more counters than a transaction can have are counted in several', async () => {
    const account = newAccountId();
    const entries = await logged(...Array.from({ length: 90 }, () => entry(account, {})));
    expect(await countEntries(entries)).toBe(90);
    expect(await jobs(account)).toHaveLength(90);
  });

  test('a repeat continues counting that crashed between two transactions', async () => {
    const account = newAccountId();
    const job_id = randomUUID();
    const entries = await logged(...Array.from({ length: 120 }, () => entry(account, { job_id })));
    const send = documents.send.bind(documents);
    let transactions = 0;
    vi.spyOn(documents, 'send').mockImplementation((command) => {
      transactions += command.constructor.name === 'TransactWriteCommand' ? 1 : 0;
      if (transactions === 2) throw new Error('crashed');
      return send(command);
    });
    await expect(countEntries(entries)).rejects.toThrow('crashed');
    vi.restoreAllMocks();
    // 99 entries and their counter.
    expect((await jobs(account))[0]?.count).toBe(99);
    expect(await countEntries(entries)).toBe(21);
    expect((await jobs(account))[0]?.count).toBe(120);
  });

  test('a counter with all quarters of an hour takes no more units than one with the first', async () => {
    const account = newAccountId();
    const [first, last] = await logged(
      ...[1, 2].map(() => entry(account, { job_id: randomUUID(), payload_type: 'image' })),
    );
    const { created = '', job_id = '' } = last ?? {};
    const counted = { day: created.slice(0, 10), job_id, payload_type: 'image', state: 'sent' };
    const each = Object.fromEntries(quarters.map((quarter) => [quarter, 123_456]));
    await putAll([
      { ...jobCounterKey(account, counted), count: 96 * 123_456, expires_at: lifetime.expires_at, ...each },
    ]);
    const small = await consumedBy(() => countEntries([first as Countable]));
    expect(await consumedBy(() => countEntries([last as Countable]))).toEqual(small);
    expect(small.written).toBe(4);
  });
});

describe('recounting the log', () => {
  test('a recount adds missing entries, reports its progress, and ignores stale index entries', async () => {
    const account = newAccountId();
    const job_id = randomUUID();
    const entries = await logged(
      ...[1, 2, 3].map(() => entry(account, { job_id })),
      ...[1, 2].map(() => entry(account, { job_id, state: 'read' })),
    );
    const [first] = entries;
    await countEntries([first as Countable]);

    const send = documents.send.bind(documents);
    vi.spyOn(documents, 'send').mockImplementation(async (command: { input: object }) => {
      const answer = (await send(command as Parameters<typeof send>[0])) as { Items?: object[] };
      // The index contains an entry that the table no longer contains.
      const isIndex = 'IndexName' in command.input && answer.Items && answer.Items.length > 0;
      return isIndex ? { ...answer, Items: [...(answer.Items ?? []), { pk: 'MESSAGE#gone', sk: 'MESSAGE' }] } : answer;
    });
    const progress: [number, number][] = [];
    expect(await recountJobs(account, day(0), day(0), (done, read) => progress.push([done, read]))).toEqual({
      entries: 5,
      counted: 4,
    });
    vi.restoreAllMocks();
    // Progress is reported after the only page of each state, and after the state.
    const read = states.indexOf('read');
    expect(progress).toEqual(
      states.flatMap((_, index) => [
        [index, index < read ? 3 : 5],
        [index + 1, index < read ? 3 : 5],
      ]),
    );
    expect(await jobs(account)).toMatchObject([{ count: 3 }, { count: 2 }]);
    // The entries are of midnight in UTC, which is in the evening of the day before in New York.
    const inNewYork = { time_zone: 'America/New_York' };
    expect(await listJobs(account, day(1), day(1), inNewYork)).toEqual(await jobs(account));
    expect(await listJobs(account, day(0), day(0), inNewYork)).toEqual([]);
  });
});

describe('a list of jobs', () => {
  test('a list covers its first and last day, and no other days', async () => {
    const account = newAccountId();
    const job_id = randomUUID();
    await countEntries(await logged(...[0, 1, 2, 3].map((ago) => entry(account, { job_id, ago }))));
    for (const [from, to, count] of [
      [3, 0, 4],
      [2, 1, 2],
      [1, 1, 1],
    ] as const) {
      expect(await jobs(account, from, to)).toEqual([{ job_id, state: 'sent', payload_type: 'text', count }]);
    }
    expect(await jobs(account, 9, 5)).toEqual([]);
  });

  test('jobs are ordered by last activity, then by id, and the rows of a job by state', async () => {
    const account = newAccountId();
    const [a = '', b = '', c = ''] = [randomUUID(), randomUUID(), randomUUID()].sort();
    await countEntries(
      await logged(
        entry(account, { job_id: a, ago: 2 }),
        ...[...states].reverse().map((state) => entry(account, { job_id: c, state, ago: 3 })),
        entry(account, { job_id: c, ago: 1 }),
        entry(account, { job_id: b, ago: 1 }),
      ),
    );
    const listed = await jobs(account);
    expect([...new Set(listed.map(({ job_id }) => job_id))]).toEqual([b, c, a]);
    expect(listed.filter(({ job_id }) => job_id === c).map(({ state }) => state)).toEqual([...states]);
  });

  test.each([
    ['many rows', 60_000, 'text'],
    ['long rows', 6_000, 'x'.repeat(900)],
  ])('a list of more than 5 MB returns 422 period_too_large: %s', async (_, count, payload_type) => {
    const Items = Array.from({ length: count }, () => ({
      ...jobCounterKey('any', { day: day(0), job_id: randomUUID(), payload_type, state: 'sent' }),
      count: 1,
    }));
    vi.spyOn(documents, 'send').mockImplementation(async () => ({ Items }));
    await expect(jobs('any')).rejects.toMatchObject({
      code: 'period_too_large',
      status: 422,
      detail: expect.stringContaining('fewer days'),
    });
  });

  test('a list reads at most 100 MB of counters, also if they are those of a few jobs: 422 period_too_large', async () => {
    const Items = [
      { ...jobCounterKey('any', { day: day(0), job_id: randomUUID(), payload_type: 'text', state: 'sent' }), count: 1 },
    ];
    const send = vi
      .spyOn(documents, 'send')
      .mockImplementation(async () => ({ Items, LastEvaluatedKey: { pk: 'any', sk: 'any' } }));
    await expect(jobs('any')).rejects.toMatchObject({
      code: 'period_too_large',
      detail: 'The period has over 100 MB of counters. Request fewer days at a time.',
    });
    expect(send).toHaveBeenCalledTimes(101);
  });

  test('a list leaves out expired counters', async () => {
    const account = newAccountId();
    const key = jobCounterKey(account, { day: day(0), job_id: randomUUID(), payload_type: 'text', state: 'sent' });
    await putAll([{ ...key, count: 1, expires_at: Math.floor(Date.now() / 1000) - 1 }]);
    expect(await jobs(account)).toEqual([]);
  });
});

test('the job counters of random histories equal the log', async () => {
  const job = fc.constantFrom(...Array.from({ length: 3 }, () => randomUUID()));
  const event = fc.record({
    job_id: job,
    payload_type: fc.constantFrom('text', 'image', 'file', ''),
    state: fc.constantFrom(...states),
    ago: fc.nat(20),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { minLength: 1, maxLength: 60 }),
      fc.array(fc.tuple(fc.nat(60), fc.nat(60)), { maxLength: 6 }),
      async (history, repeats) => {
        const account = newAccountId();
        const entries = await logged(...history.map((one) => entry(account, one)));
        // Like the stream: overlapping batches, some repeated, some at the same time.
        await Promise.all(repeats.map(([from, length]) => countEntries(entries.slice(from, from + length))));
        await countEntries(entries);

        const expected = Map.groupBy(entries, (item) => `${item.job_id} ${item.payload_type} ${item.state}`);
        const counted = await jobs(account);
        expect(
          Object.fromEntries(counted.map((row) => [`${row.job_id} ${row.payload_type} ${row.state}`, row.count])),
        ).toEqual(Object.fromEntries([...expected].map(([name, group]) => [name, group.length])));
        const { entries: listed } = await listLogs(account, {}, 1_000);
        expect(listed.length).toBe(counted.reduce((sum, { count }) => sum + count, 0));
        for (const state of states) {
          expect(listed.filter((item) => item.state === state).length).toBe(
            counted.filter((row) => row.state === state).reduce((sum, { count }) => sum + count, 0),
          );
        }
      },
    ),
    { numRuns: 30 },
  );
});
