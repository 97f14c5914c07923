/**
 * @module-tag long
 *
 * The cost of listing logs does not depend on the number of entries; nor has a page of an export any number of them.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { timestampOf } from '../../../../shared/core/clock.ts';
import { type LogItem, logItem, states } from '../../../../shared/outbox/message.ts';
import { type LogFilter, listLogs } from '../../../../shared/stats/delivery-log.ts';
import { exportLog } from '../../../../shared/stats/job-log.ts';
import { lifetime } from '../../../support/lifetime.ts';
import { consumedBy } from '../../support/consumed.ts';
import { serveItems } from '../../support/many-items.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newAccountId } from '../../support/world.ts';

useOwnTable('many-logs');

const [FEW, MANY] = [1_000, 10_000];

const JOBS = [randomUUID(), randomUUID()];
const PHONES = ['27820000001', '27820000002'];
const small = newAccountId();
const large = newAccountId();

/** Entries of a job, and of a page of its export. */
const [EXPORTED, PAGE] = [20_400, 20_000];
const exporter = { account: newAccountId(), job: randomUUID() };

/** Yields `count` entries, one per second, alternating between 2 contacts, the jobs and 4 states. */
function* entries(account: string, count: number, jobs = JOBS): Generator<LogItem> {
  const present = Date.now() - 60_000;
  for (let index = 0; index < count; index += 1) {
    const message = {
      id: randomUUID(),
      account,
      phone: PHONES[index % 2] ?? '',
      job_id: jobs[index % jobs.length] ?? '',
      payload_type: 'text',
      ...lifetime,
    };
    yield logItem(message, states[Math.floor(index / 2) % 4] ?? 'sent', timestampOf(present - index * 1_000));
  }
}

let end: () => Promise<void>;

beforeAll(async () => {
  const items = [
    ...entries(small, FEW),
    ...entries(large, MANY),
    ...entries(exporter.account, EXPORTED, [exporter.job]),
  ];
  ({ end } = await serveItems(items));
});

afterAll(() => end());

/** Read units. An index entry has under 400 bytes, so ten fit into 4 KB. Reading 4 KB costs half a unit. */
const unitsFor = (entries: number): number => Math.ceil(entries / 10) / 2;

test.each<[string, LogFilter, number, number]>([
  // A query reads a page of each of the four existing states. The other four states cost half a unit each.
  ['the newest', {}, 8, 4 * unitsFor(102) + 4 * 0.5],
  ['one contact', { phone: PHONES[0] }, 1, unitsFor(102)],
  ['one job', { job_id: JOBS[0] }, 8, 4 * unitsFor(102) + 4 * 0.5],
  ['one state', { state: 'sent' }, 1, unitsFor(102)],
  ['one job and state', { job_id: JOBS[0], state: 'sent' }, 1, unitsFor(102)],
  // The filter keeps one in four entries, so four times as many are read.
  ['one contact and state', { phone: PHONES[0], state: 'sent' }, 4, unitsFor(4 * 102)],
])('listing 100 of many log entries costs as much as listing 100 of 1,000: %s', async (_, filter, calls, budget) => {
  const [few, many] = [
    await consumedBy(() => listLogs(small, filter, 100)),
    await consumedBy(() => listLogs(large, filter, 100)),
  ];
  expect((await listLogs(large, filter, 100)).entries).toHaveLength(100);
  expect(many.calls).toBe(calls);
  expect(many.table + many.indexes).toBeLessThanOrEqual(budget);
  expect(many).toEqual(few);
});

test('a page of a filter without matches reads 1,000 entries', async () => {
  const filter: LogFilter = { phone: PHONES[0], state: 'delivery_failed' };
  const { calls, table, indexes } = await consumedBy(() => listLogs(large, filter, 100));
  expect(calls).toBe(10);
  expect(table + indexes).toBeLessThanOrEqual(unitsFor(1_000) + 5);
  const first = await listLogs(large, filter, 100);
  expect(first.entries).toEqual([]);
  expect(first.next).toBeDefined();
});

test('a page of an export has at most 20,000 entries, and the next one the rest', async () => {
  const { account, job } = exporter;
  const first = await exportLog(account, job, ({ id }) => id);
  expect(first.lines).toHaveLength(PAGE);
  const second = await exportLog(account, job, ({ id }) => id, first.next);
  expect(second.next).toBeUndefined();
  expect(new Set([...first.lines, ...second.lines]).size).toBe(EXPORTED);
  expect(second.lines).toHaveLength(EXPORTED - PAGE);
});
