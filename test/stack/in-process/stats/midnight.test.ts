/**
 * Midnight in UTC: days of jobs and counters, with a simulated clock before and after midnight.
 *
 * @module-tag long
 */
import { marshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBStreamEvent } from 'aws-lambda';
import { expect, onTestFinished, test, vi } from 'vitest';
import { handler as count } from '../../../../functions/workers/count.ts';
import { createAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { jobOf } from '../../../../shared/messaging/jobs/default-jobs.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { listJobs } from '../../../../shared/stats/job-counters.ts';
import type { AnyItem } from '../../../../shared/table/entity.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { reportState } from '../../support/states.ts';
import { itemsIn } from '../../support/whole-table.ts';
import { newAccountId, newPhone } from '../../support/world.ts';
import { context } from '../failing-calls/scenario.ts';

useOwnTable('midnight');
captureLog();

const DAY = 86_400_000;
/** A repeat of the test uses a later midnight, because the times of one process never go back. */
let midnight = Math.ceil(Date.now() / DAY) * DAY;

const textTo = (to: string) => ({ to, type: 'text' as const, text: { body: 'Hello' } });

/** The log entries of an account, as items. */
const entriesOf = async (account: string): Promise<AnyItem[]> =>
  (await itemsIn()).filter((item) => item.account === account && item.pk.startsWith('MESSAGE#'));

/** New items, as the table's stream delivers them. */
const streamOf = (items: AnyItem[]) =>
  ({ Records: items.map((item) => ({ dynamodb: { NewImage: marshall(item) } })) }) as DynamoDBStreamEvent;

const counted = async (account: string, from: string, to: string) =>
  (await listJobs(account, from, to)).map(({ job_id, state, count: number }) => ({ job_id, state, count: number }));

test('a message before midnight belongs to the job of that day, and its later state counts for the next day', async () => {
  midnight += DAY;
  const [before = '', after = ''] = [midnight - 1, midnight].map((time) => new Date(time).toISOString().slice(0, 10));
  vi.useFakeTimers({ toFake: ['Date'], now: midnight - 1 });
  onTestFinished(() => void vi.useRealTimers());
  const [bot, phone] = [newPhone(), newPhone()];
  const { id: account } = await createAccount({ name: 'Test', id: newAccountId(), bot_number: bot });
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
