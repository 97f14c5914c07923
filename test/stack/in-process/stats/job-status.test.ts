/**
 * The status of a job, step by step: its counts over several days, its pace, and what is pending.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { sendEach, sendToMany } from '../../../../shared/campaigns/accept.ts';
import { batchKey, ofPendingBatch } from '../../../../shared/campaigns/entities.ts';
import { timestampOf as at } from '../../../../shared/core/clock.ts';
import { openJob } from '../../../../shared/messaging/jobs/job.ts';
import { logItem, type State } from '../../../../shared/outbox/message.ts';
import { countEntries } from '../../../../shared/stats/job-counters.ts';
import { readJobStatus } from '../../../../shared/stats/job-status.ts';
import { putAll, putIfAbsent } from '../../../../shared/table/client.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { lifetime } from '../../../support/lifetime.ts';
import { consumedBy } from '../../support/consumed.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newAccountId, newPhone, newPhones } from '../../support/world.ts';

const NOW = Date.UTC(2030, 0, 10, 12);
const DAY = 86_400_000;

useOwnTable('job-status');
captureLog();

beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }));

afterEach(() => void vi.useRealTimers());

interface Job {
  account: string;
  job_id: string;
}

const newJob = (): Job => ({ account: newAccountId(), job_id: randomUUID() });

/** Logs and counts states, each of another message. */
const log = async ({ account, job_id }: Job, state: State, times: number[], payload_type = 'text'): Promise<void> => {
  const items = times.map((time) =>
    logItem({ id: randomUUID(), account, phone: newPhone(), job_id, payload_type, ...lifetime }, state, at(time)),
  );
  for (const item of items) await putIfAbsent(item);
  await countEntries(items);
};

const statusOf = ({ account, job_id }: Job) => readJobStatus(account, job_id);

test('counts include all days and payload types of the job, and no other job', async () => {
  const [job, other] = [newJob(), newJob()];
  for (const { account, job_id } of [job, { ...other, account: job.account }]) {
    vi.setSystemTime(NOW - 40 * DAY);
    await openJob(account, job_id);
    vi.setSystemTime(NOW);
    await log({ account, job_id }, 'sent', [NOW - 40 * DAY, NOW - DAY, NOW]);
    await log({ account, job_id }, 'sent', [NOW], 'image');
    await log({ account, job_id }, 'delivered_to_server', [NOW - 40 * DAY, NOW - DAY, NOW - 120_000]);
    await log({ account, job_id }, 'sending_failed', [NOW]);
  }
  expect(await statusOf(job)).toEqual({
    ...{ job_id: job.job_id, status: 'completed', created: at(NOW - 40 * DAY), start: at(NOW - 40 * DAY) },
    ...{ recipients: 4, expanded: 4, pending: 0 },
    states: { sent: 4, delivered_to_server: 3, sending_failed: 1 },
  });
});

test('a job is running while messages are pending, with the pace of the last ones, and the end at this pace', async () => {
  const job = newJob();
  const times = Array.from({ length: 21 }, (_, index) => NOW - 10_000 + index * 500);
  await log(job, 'sent', [...times, ...times]);
  await log(job, 'delivered_to_server', times);
  // 20 messages in 10 s, and 21 are pending.
  const expected = { status: 'running', pending: 21, pace: 2, estimated_end: at(NOW + 10_500) };
  expect(await statusOf(job)).toMatchObject(expected);
  vi.setSystemTime(NOW + 60_001);
  const later = await statusOf(job);
  expect(later).toMatchObject({ status: 'running', pending: 21 });
  expect(later).not.toHaveProperty('pace');
  expect(later).not.toHaveProperty('estimated_end');
});

/** A job whose messages arrive at two a second, with 21 pending ones and those of `send`. */
const newPacedJob = async (send: (job: Job) => Promise<unknown>): Promise<Job> => {
  const job = newJob();
  const present = Date.now();
  const times = Array.from({ length: 21 }, (_, index) => present - 10_000 + index * 500);
  await log(job, 'sent', [...times, ...times]);
  await log(job, 'delivered_to_server', times);
  await send(job);
  return job;
};

const text = { type: 'text' as const, text: { body: 'Hi' } };
const hours = (time_zone: string) => ({ between: ['08:00', '12:00'] as [string, string], time_zone });

const sendTo =
  (to: string[], options: object) =>
  ({ account, job_id }: Job) =>
    sendToMany(account, { to, ...text }, { job_id, ...options });

describe('the end of a job', () => {
  const EIGHT = NOW + 20 * 3_600_000;

  beforeEach(() => void vi.setSystemTime(NOW - 5_000));

  test('is within its sending hours: when they close, the rest follows on the next day', async () => {
    const job = await newPacedJob(sendTo(newPhones(3), hours('UTC')));
    // 24 are pending, of which 10 are sent until noon.
    expect(await statusOf(job)).toMatchObject({ pending: 24, pace: 2, estimated_end: at(EIGHT + 7_000) });
    expect(await statusOf(job)).not.toHaveProperty('waits_until');
    vi.setSystemTime(NOW);
    const closed = { status: 'running', estimated_end: at(EIGHT + 12_000), waits_until: at(EIGHT) };
    expect(await statusOf(job)).toMatchObject(closed);
    // Also when the pace is not known any more.
    vi.setSystemTime(NOW + 3_600_000);
    const later = await statusOf(job);
    expect(later).toMatchObject({ status: 'running', waits_until: at(EIGHT) });
    expect(later).not.toHaveProperty('estimated_end');
    vi.setSystemTime(EIGHT);
    expect(await statusOf(job)).not.toHaveProperty('waits_until');
  });

  // South Africa is two hours ahead of UTC, and Argentina three hours behind: 14:00 and 09:00.
  const [SOUTH_AFRICA, ARGENTINA] = ['27820000001', '5491120000001'];

  test.each([
    ['that of the last country', [SOUTH_AFRICA, ARGENTINA], at(EIGHT - 2 * 3_600_000), undefined],
    ['when the hours begin', [SOUTH_AFRICA], at(EIGHT - 2 * 3_600_000), at(EIGHT - 2 * 3_600_000)],
    ['as without hours within them', [ARGENTINA], at(NOW - 5_000 + 11_000), undefined],
  ])('with the zones of the recipients is %s', async (_, to, estimated_end, waits_until) => {
    const job = await newPacedJob(sendTo(to, hours('recipient')));
    const status = await statusOf(job);
    expect(status).toMatchObject({ pace: 2, estimated_end });
    expect(status.waits_until).toBe(waits_until);
  });

  test('counts the hours of the last request whose messages all have the same ones', async () => {
    const job = await newPacedJob(sendTo(newPhones(3), hours('UTC')));
    await sendTo(newPhones(1), {})(job);
    const each = newPhones(2).map((to, index) => ({ to, ...text, ...(index === 0 && hours('Asia/Tokyo')) }));
    await sendEach(job.account, each, { job_id: job.job_id });
    expect(await statusOf(job)).toMatchObject({ pending: 27, estimated_end: at(EIGHT + 8_500) });
    await sendTo(newPhones(1), { between: ['08:00', '20:00'], time_zone: 'UTC' })(job);
    expect(await statusOf(job)).toMatchObject({ pending: 28, estimated_end: at(NOW - 5_000 + 14_000) });
  });

  test('counts the hours of a job that a request gets as its own', async () => {
    const account = newAccountId();
    const { job_id } = await sendToMany(account, { to: newPhones(3), ...text }, hours('Asia/Tokyo'));
    // It is 21:00 in Tokyo.
    const expected = { status: 'running', waits_until: at(NOW + 11 * 3_600_000) };
    expect(await statusOf({ account, job_id })).toMatchObject(expected);
  });
});

test('a new job is running before its first message is counted, for a minute', async () => {
  const job = newJob();
  await openJob(job.account, job.job_id);
  expect(await statusOf(job)).toMatchObject({ status: 'running', recipients: 0, states: {} });
  vi.setSystemTime(NOW + 60_000);
  expect(await statusOf(job)).toMatchObject({ status: 'completed' });
});

test('a job of messages from users has no recipients', async () => {
  const job = newJob();
  await log(job, 'received', [NOW - DAY, NOW]);
  expect(await statusOf(job)).toMatchObject({ status: 'completed', recipients: 0, states: { received: 2 } });
});

test.skipIf(process.env.DYNAMODB_ENDPOINT)('reading a job costs 1.5 units, and 0.5 for each of its days', async () => {
  const job = newJob();
  vi.setSystemTime(NOW - 9 * DAY);
  await openJob(job.account, job.job_id);
  vi.setSystemTime(NOW);
  await log(job, 'sent', [NOW - 9 * DAY]);
  await log(job, 'delivered_to_server', [NOW]);
  expect(await consumedBy(() => statusOf(job))).toMatchObject({ calls: 12, table: 6, indexes: 0.5 });
});

/** Accepts messages to two users for a later time. */
const schedule = ({ account, job_id }: Job, send_at: number) =>
  sendToMany(account, { to: [newPhone(), newPhone()], type: 'text', text: { body: 'Hi' } }, { job_id, send_at });

test('a job is scheduled until its first batch begins, in whatever order its batches were accepted', async () => {
  const job = newJob();
  for (const hours of [3, 2, 4]) await schedule(job, NOW + hours * 3_600_000);
  const scheduled = { status: 'scheduled', start: at(NOW + 2 * 3_600_000), recipients: 6, pending: 6 };
  expect(await statusOf(job)).toMatchObject(scheduled);
  vi.setSystemTime(NOW + 2 * 3_600_000);
  expect(await statusOf(job)).toMatchObject({ ...scheduled, status: 'running' });
});

test.skipIf(process.env.DYNAMODB_ENDPOINT)(
  'reading a job costs the same, however many batches of the account are pending',
  async () => {
    const job = newJob();
    await schedule(job, NOW + DAY);
    const { account } = job;
    const alone = await consumedBy(() => statusOf(job));
    const due = new Date(NOW + DAY).toISOString();
    await putAll(
      Array.from({ length: 500 }, (_, index) => ({
        ...batchKey(account, `${index}`),
        job_id: randomUUID(),
        ...ofPendingBatch(account, { id: `${index}`, rank: 1, due }),
      })),
    );
    expect(await consumedBy(() => statusOf(job))).toEqual(alone);
    expect(await statusOf(job)).toMatchObject({ status: 'scheduled', start: at(NOW + DAY) });
  },
);

test.skipIf(process.env.DYNAMODB_ENDPOINT)(
  'reading a job that was used for years costs 0.5 units for each day whose counters are kept',
  async () => {
    const job = newJob();
    vi.setSystemTime(NOW - 3_000 * DAY);
    await openJob(job.account, job.job_id, { start: NOW });
    vi.setSystemTime(NOW);
    await log(job, 'sent', [NOW - 400 * DAY, NOW]);
    expect(await statusOf(job)).toMatchObject({ states: { sent: 2 } });
    // The job, and its days: 400 of the retention, the one that is ending, and today. First message and pace: 0.5 each.
    const { table, indexes } = await consumedBy(() => statusOf(job));
    expect(table + indexes).toBe(1 + 402 * 0.5 + 2 * 0.5);
  },
);
