/** The jobs that the local page lists, from a table without workers. */
import { beforeEach, describe, expect, test } from 'vitest';
import { type Account, JobList } from '../../../../infra/local/phone/jobs/job-list.ts';
import { Inbox } from '../../../../infra/local/simulators/app-network/inbox.ts';
import { sendToMany } from '../../../../shared/campaigns/accept.ts';
import { now, sortableTime, timestamp } from '../../../../shared/core/clock.ts';
import { newId } from '../../../../shared/core/ids.ts';
import { cancelJob } from '../../../../shared/messaging/jobs/cancel.ts';
import { jobOf } from '../../../../shared/messaging/jobs/default-jobs.ts';
import { openJob } from '../../../../shared/messaging/jobs/job.ts';
import { logItem, type ReasonCode, type State } from '../../../../shared/outbox/message.ts';
import { countEntries } from '../../../../shared/stats/job-counters.ts';
import { putIfAbsent } from '../../../../shared/table/client.ts';
import { lifetime } from '../../../support/lifetime.ts';
import { newAccount } from '../../support/operator.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newPhone } from '../../support/world.ts';

useOwnTable('local-page-jobs');

let account: Account;
let list: JobList;

beforeEach(async () => {
  account = { id: await newAccount(), name: 'Example' };
  list = new JobList([account], new Inbox());
});

const content = { type: 'text' as const, text: { body: 'Clinic day' } };

/** Logs and counts a state of a new message. */
const log = async (job_id: string, state: State, reason_code?: ReasonCode, created = timestamp()): Promise<void> => {
  const message = { id: newId(), account: account.id, phone: newPhone(), job_id, payload_type: 'text', ...lifetime };
  const item = { ...logItem(message, state, created), ...(reason_code && { reason_code }) };
  await putIfAbsent(item);
  await countEntries([item]);
};

const toTwo = (options: Parameters<typeof sendToMany>[2] = {}) =>
  sendToMany(account.id, { to: [newPhone(), newPhone()], ...content }, options);

describe('the list of jobs', () => {
  test('has a job as soon as it is accepted, with the text of its messages, and jobs for later after it', async () => {
    const later = await toTwo({ send_at: now() + 86_400_000 });
    const { job_id } = await toTwo({ priority: 'low' });
    expect(await list.view()).toEqual({
      day: timestamp().slice(0, 10),
      jobs: [
        expect.objectContaining({ id: job_id, title: 'Clinic day', status: 'running', people: 2, sent: 0 }),
        expect.objectContaining({ id: later.job_id, status: 'scheduled', people: 2 }),
      ],
    });
    expect(await list.find(job_id)).toMatchObject({
      business: account,
      request: 'POST /v1/message',
      priority: 'low',
      parts: { not_sent: 2 },
    });
  });

  test('has the messages of today without a job by where they came from, and no ended job of an earlier day', async () => {
    const old = newId();
    await log(old, 'sent', undefined, `${sortableTime(now() - 3 * 86_400_000).slice(0, 23)}000`);
    expect((await list.view()).jobs).toEqual([]);
    expect(await list.find(old)).toMatchObject({ id: old, people: 1 });
    await log(jobOf(account.id, 'api', timestamp()), 'sent');
    expect((await list.view()).jobs).toMatchObject([
      { title: null, source: 'sent over the API', status: 'open', people: 1, sent: 1 },
    ]);
  });

  test('does not have jobs of other accounts', async () => {
    const { job_id } = await toTwo();
    const others = new JobList([{ id: await newAccount(), name: 'Others' }], new Inbox());
    expect([(await others.view()).jobs, await others.find(job_id)]).toEqual([[], undefined]);
  });

  test('counts failures by reason, and what a stop ended apart from what was sent', async () => {
    const { job_id } = await toTwo();
    for (const _ of ['one', 'two']) await log(job_id, 'sent');
    await log(job_id, 'sending_failed', 'refused');
    await log(job_id, 'sending_failed', 'cancelled');
    await cancelJob(account.id, job_id);
    const job = await list.find(job_id);
    expect(job).toMatchObject({ status: 'stopped', sent: 1, parts: { failed: 1, stopped: 1, pending: 0 } });
    expect([...(job?.reasons ?? [])].map(([reason, { count, latest }]) => [reason, count, latest.length])).toEqual(
      expect.arrayContaining([
        ['refused', 1, 1],
        ['cancelled', 1, 1],
      ]),
    );
  });

  test('reads a job at rest again if its counts change, or if a request may have changed it', async () => {
    const job_id = newId();
    await openJob(account.id, job_id, { start: now() - 120_000 });
    await log(job_id, 'sent', undefined, `${sortableTime(now() - 120_000).slice(0, 23)}000`);
    await log(job_id, 'delivered_to_server');
    const statusOf = async () => (await list.view()).jobs.map(({ status }) => status);
    expect(await statusOf()).toEqual(['completed']);
    await log(job_id, 'read');
    expect(await list.find(job_id)).toMatchObject({ parts: { read: 1 } });
    await cancelJob(account.id, job_id);
    list.forget();
    expect(await statusOf()).toEqual(['stopped']);
  });
});
