/**
 * The operator's commands for jobs, besides their recount.
 *
 * @module-tag long
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { sortableTime, timestamp } from '../../../../shared/core/clock.ts';
import { newId as newUuid } from '../../../../shared/core/ids.ts';
import { jobOf } from '../../../../shared/messaging/jobs/default-jobs.ts';
import { readJob } from '../../../../shared/messaging/jobs/job.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { logItem, type ReasonCode, type State } from '../../../../shared/outbox/message.ts';
import { countEntries } from '../../../../shared/stats/job-counters.ts';
import { putIfAbsent } from '../../../../shared/table/client.ts';
import { lifetime } from '../../../support/lifetime.ts';
import { inJson, newAccount, operator, refusal, unconfirmed } from '../../support/operator.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newPhone } from '../../support/world.ts';

// No workers process this table: messages stay pending.
useOwnTable('operator-jobs');

let account: string;
let job: string;

/** Logs and counts a state of a new message. */
const log = async (job_id: string, state: State, reason_code?: ReasonCode, created = timestamp()): Promise<void> => {
  const message = { id: newUuid(), account, phone: newPhone(), job_id, payload_type: 'text', ...lifetime };
  const item = { ...logItem(message, state, created), ...(reason_code && { reason_code }) };
  await putIfAbsent(item);
  await countEntries([item]);
};

beforeAll(async () => {
  account = await newAccount();
  job = newUuid();
  await sendMessage(account, { to: newPhone(), type: 'text', text: { body: 'Hello' } }, { job_id: job });
  for (const _ of ['one', 'two', 'three']) await log(job, 'sent');
  await log(job, 'delivered_to_server');
  await log(job, 'sending_failed', 'refused');
});

const figures = { recipients: 3, expanded: 3, pending: 1 };
const states = { sent: 3, delivered_to_server: 1, sending_failed: 1 };

describe('job list', () => {
  test('lists the jobs that were active, or named by a request, in the period', async () => {
    const [old, silent] = [newUuid(), newUuid()];
    await log(old, 'sent', undefined, `${sortableTime(Date.now() - 20 * 86_400_000).slice(0, 23)}000`);
    await sendMessage(account, { to: newPhone(), type: 'text', text: { body: 'Hello' } }, { job_id: silent });
    const listed = await inJson('job', 'list', account);
    expect(listed).toMatchObject([
      { job_id: silent, status: 'running', recipients: 0 },
      { job_id: job, status: 'running', ...figures, states },
    ]);
    expect((await inJson('job', 'list', account, '--days', '30')).length).toBe(3);
    const { stdout } = await operator('job', 'list', account, '--limit', '1');
    expect(stdout).toMatch(/^JOB +STATUS +SINCE +MESSAGES +SENT +DELIVERED +ON PHONES +READ +FAILED\n/);
    expect(stdout).toContain('1 of 2 jobs. --limit shows more.');
  });

  test('prints that there is none', async () => {
    expect((await operator('job', 'list', await newAccount())).stdout).toBe('There are no jobs in this period.\n');
  });
});

describe('job show', () => {
  test('shows the funnel, and the failures by reason', async () => {
    expect(await inJson('job', 'show', account, job)).toMatchObject({
      ...{ job_id: job, ...figures, states },
      reasons: { refused: 1 },
    });
    const { stdout } = await operator('job', 'show', account, job);
    expect(stdout).toMatch(/\nsent +█+ +3 +100 %\ndelivered_to_server +█+ +1 +33 %\nsending_failed +█+ +1 +33 %\n/);
    expect(stdout).toMatch(/\nrefused +1\n/);
  });

  test('rejects an unknown job, and that of another account', async () => {
    const other = await newAccount();
    expect(await refusal('job', 'show', account, newUuid())).toContain('has no job');
    expect(await refusal('job', 'show', other, job)).toContain('has no job');
  });
});

describe('job cancel', () => {
  test('without --yes shows what is pending, and with it cancels, also when repeated', async () => {
    expect(await unconfirmed('job', 'cancel', account, job)).toContain(
      '1 of 3 messages are pending. They are stopped permanently.',
    );
    expect((await readJob(account, job))?.cancelled).toBeUndefined();
    expect((await operator('job', 'cancel', account, job, '--yes')).stdout).toBe(
      'The job is cancelled. 1 of 3 messages were pending.\n',
    );
    const { cancelled } = (await readJob(account, job)) ?? {};
    expect(cancelled).toEqual(expect.any(String));
    expect(await inJson('job', 'cancel', account, job, '--yes')).toEqual({ job_id: job, pending: 1 });
    expect((await readJob(account, job))?.cancelled).toBe(cancelled);
    expect(await inJson('job', 'show', account, job)).toMatchObject({ status: 'cancelled', cancelled });
  });

  test('rejects the job of a day', async () => {
    const day = jobOf(account, 'api', timestamp());
    await log(day, 'sent');
    expect(await refusal('job', 'cancel', account, day, '--yes')).toContain('all messages of a day');
  });
});
