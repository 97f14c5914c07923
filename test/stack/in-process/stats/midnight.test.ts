/**
 * Midnight in UTC: days of jobs, counters and log filters, with a simulated clock before and after midnight.
 *
 * @module-tag long
 */
import { marshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBStreamEvent } from 'aws-lambda';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { handler as count } from '../../../../functions/workers/count.ts';
import { createAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { timestamp } from '../../../../shared/core/clock.ts';
import { jobOf } from '../../../../shared/messaging/jobs/default-jobs.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { listJobs } from '../../../../shared/stats/job-counters.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { reportState } from '../../support/states.ts';
import { newAccountId, newPhone } from '../../support/world.ts';
import { context } from '../failing-calls/scenario.ts';
import { type Item, itemsInTable } from '../failing-calls/table.ts';

useOwnTable('midnight');
captureLog();

const DAY = 86_400_000;
/** Each test uses a later midnight, because the times of one process never go back. */
let midnight = Math.ceil(Date.now() / DAY) * DAY;
/** The days before and after midnight. */
let before = '';
let after = '';

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

beforeEach(() => {
  midnight += DAY;
  [before, after] = [dayOf(midnight - 1), dayOf(midnight)];
  vi.useFakeTimers({ toFake: ['Date'], now: midnight - 1 });
});

afterEach(() => void vi.useRealTimers());

const business = async () => {
  const bot = newPhone();
  const { id: account } = await createAccount({ name: 'Test', id: newAccountId(), bot_number: bot });
  return { account, bot, phone: newPhone() };
};

const textTo = (to: string) => ({ to, type: 'text' as const, text: { body: 'Hello' } });

/** The log entries of an account, as items. */
const entriesOf = async (account: string): Promise<Item[]> =>
  (await itemsInTable()).filter((item) => item.account === account && item.pk.startsWith('MESSAGE#'));

/** New items, as the table's stream delivers them. */
const streamOf = (items: Item[]) =>
  ({ Records: items.map((item) => ({ dynamodb: { NewImage: marshall(item) } })) }) as DynamoDBStreamEvent;

const counted = async (account: string, from: string, to: string) =>
  (await listJobs(account, from, to)).map(({ job_id, state, count: number }) => ({ job_id, state, count: number }));

test('a message before midnight belongs to the job of that day, and its later state counts for the next day', async () => {
  const { account, bot, phone } = await business();
  const id = await sendMessage(account, textTo(phone), {});
  await receiveMessage('of the last day', { from: phone, ...textTo(bot) });
  vi.setSystemTime(midnight);
  await reportState(id, 'read');
  await sendMessage(account, textTo(phone), {});
  await receiveMessage('of the next day', { from: phone, ...textTo(bot) });
  await count(streamOf(await entriesOf(account)), context);

  const [last, next] = [before, after].map((day) => ({
    api: jobOf(account, 'api', `${day}T00:00:00.000000`),
    app: jobOf(account, 'app', `${day}T23:59:59.999999`),
  }));
  const ofLast = [
    { job_id: last?.api, state: 'sent', count: 1 },
    { job_id: last?.app, state: 'received', count: 1 },
  ];
  const ofNext = [
    { job_id: last?.api, state: 'read', count: 1 },
    { job_id: next?.api, state: 'sent', count: 1 },
    { job_id: next?.app, state: 'received', count: 1 },
  ];
  const sorted = (rows: { job_id: string | undefined; state: string; count: number }[]) =>
    rows.toSorted((a, b) => (`${a.job_id} ${a.state}` < `${b.job_id} ${b.state}` ? -1 : 1));
  expect(sorted(await counted(account, before, before))).toEqual(sorted(ofLast));
  expect(sorted(await counted(account, after, after))).toEqual(sorted(ofNext));
  expect(sorted(await counted(account, before, after))).toEqual(sorted([...ofLast, ...ofNext]));
});

test('a log filter that ends at midnight excludes it, and a filter that starts at midnight includes it', async () => {
  const { account, phone } = await business();
  await sendMessage(account, textTo(phone), {});
  vi.setSystemTime(midnight);
  await sendMessage(account, textTo(phone), {});
  vi.setSystemTime(midnight + 1_000);
  const seconds = midnight / 1_000;
  const days = async (filter: object) =>
    (await listLogs(account, { state: 'sent', ...filter }, 10)).entries.map(({ created }) => created.slice(0, 10));
  expect(await days({ end: seconds })).toEqual([before]);
  expect(await days({ start: seconds })).toEqual([after]);
  expect(await days({ start: seconds - 1, end: seconds + 1 })).toEqual([after, before]);
});

test('timestamps of one process increase across midnight even if its clock stops', () => {
  const times = Array.from({ length: 2_500 }, timestamp);
  expect(times).toEqual([...new Set(times)].toSorted());
  expect(times[0]).toMatch(new RegExp(`^${before}T23:59:59.999`));
  expect(times.at(-1)).toMatch(new RegExp(`^${after}T00:00:00.00`));
});

test('counters of both days are exact for any order, batches and repetitions of the stream', async () => {
  const { account, phone } = await business();
  const ids: string[] = [];
  for (let sent = 0; sent < 12; sent += 1) {
    vi.setSystemTime(midnight - 6 + sent);
    ids.push(await sendMessage(account, textTo(phone), {}));
  }
  for (const id of ids.slice(0, 8)) await reportState(id, 'read');
  const entries = await entriesOf(account);
  expect(entries).toHaveLength(20);
  const total = (rows: { count: number }[]) => rows.reduce((sum, row) => sum + row.count, 0);

  const batches = fc.array(fc.subarray(entries, { minLength: 1 }), { minLength: 1, maxLength: 6 });
  const order = fc.shuffledSubarray(entries, { minLength: entries.length });
  let seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(batches, async (some) => {
      // The stream repeats a batch whose entries other workers have taken over.
      const counting = async (batch: typeof entries) =>
        count(streamOf(batch), context).catch(() => count(streamOf(batch), context));
      await Promise.all(some.map((batch) => counting(batch.toReversed())));
      seen = new Set([...seen, ...some.flat().map(({ pk, sk }) => `${pk} ${sk}`)]);
      expect(total(await counted(account, before, after))).toBe(seen.size);
    }),
    { numRuns: 5 },
  );
  await fc.assert(
    fc.asyncProperty(order, async (all) => {
      for (let start = 0; start < all.length; start += 7) await count(streamOf(all.slice(start, start + 7)), context);
      expect(total(await counted(account, before, after))).toBe(20);
      expect(total(await counted(account, before, before))).toBe(6);
    }),
    { numRuns: 3 },
  );
});
