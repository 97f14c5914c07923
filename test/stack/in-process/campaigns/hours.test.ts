/**
 * Batches with sending hours: with those of one zone, a batch is expanded only within them.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { scheduleMessage, sendEach, sendToMany } from '../../../../shared/campaigns/accept.ts';
import { expand } from '../../../../shared/campaigns/expand.ts';
import { sortableTime } from '../../../../shared/core/clock.ts';
import type { SendingHours } from '../../../../shared/core/sending-hours.ts';
import { ScheduledWork } from '../../../../shared/due-work/scheduled-work.ts';
import { cancelJob } from '../../../../shared/messaging/jobs/cancel.ts';
import { oldestEntries } from '../../../../shared/outbox/entries.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { readJobStatus } from '../../../../shared/stats/job-status.ts';
import { readMessage } from '../../../../shared/stats/message-log.ts';
import { dueOf } from '../../../../shared/table/keys.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { useFakeQueue } from '../../../unit/support/fake-queue.ts';
import { consumedBy } from '../../support/consumed.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { HOURS, MORNING, NIGHT, NOON } from '../../support/sending-hours.ts';
import { newAccount, newPhone, newPhones } from '../../support/world.ts';

vi.mock('node:timers/promises', () => ({ setTimeout: async () => undefined }));

useOwnTable('campaign-hours');
useFakeQueue();
captureLog();

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

beforeEach(() => void vi.useFakeTimers({ now: NIGHT, toFake: ['Date'] }));

afterEach(() => void vi.useRealTimers());

/** A new account with sending hours. */
const newAccountWith = async (sending_hours: SendingHours): Promise<string> => {
  const account = await newAccount();
  await updateAccount(account, { sending_hours });
  return account;
};

const text = { type: 'text' as const, text: { body: 'Hello' } };

const run = (account: string, ms = MINUTE) => expand(account, undefined, Date.now() + ms);

/** Whether `sweep` wakes the account's expansion at a time. */
const isDue = async (account: string, time: number): Promise<boolean> => {
  for await (const due of new ScheduledWork('expansions', sortableTime(time)).due()) {
    if (due.some((item) => dueOf(item).account === account)) return true;
  }
  return false;
};

const logged = async (account: string): Promise<number> => (await listLogs(account, {}, 1_000)).entries.length;

/** The entries that are pending for a user, with hours and without. */
const pendingFor = async (account: string, phone: string) => {
  const count = async (more: { hours?: true }) =>
    (await oldestEntries({ direction: 'app', account, phone, ...more })).entries.length;
  return { withHours: await count({ hours: true }), withoutHours: await count({}) };
};

test('a batch that is accepted outside its hours is scheduled for their beginning, and expanded then', async () => {
  const account = await newAccount();
  const to = newPhones(26);
  const { job_id } = await sendToMany(account, { to, ...text }, HOURS);
  expect(await readJobStatus(account, job_id)).toMatchObject({ status: 'scheduled' });
  expect(await run(account)).toMatchObject({ expanded: 0, unfinished: false });
  expect([await isDue(account, MORNING - 1), await isDue(account, MORNING)]).toEqual([false, true]);
  vi.setSystemTime(MORNING);
  expect(await run(account)).toMatchObject({ expanded: 26 });
  expect(await pendingFor(account, to[0] ?? '')).toEqual({ withHours: 1, withoutHours: 0 });
});

test('a batch stops at the end of its hours, and continues with the next recipient when they begin again', async () => {
  const account = await newAccount();
  vi.setSystemTime(NOON);
  const { job_id } = await sendToMany(account, { to: newPhones(60), ...text }, HOURS);
  expect(await readJobStatus(account, job_id)).not.toHaveProperty('waits_until');
  // The hours end after the first step.
  let looks = 0;
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => (looks++ < 200 ? NOON : Date.UTC(2030, 0, 1, 18)));
  const end = Date.UTC(2030, 0, 1, 18, 1);
  const { expanded } = await expand(account, undefined, end);
  clock.mockRestore();
  vi.setSystemTime(NIGHT);
  expect(expanded).toBeGreaterThan(0);
  expect(expanded).toBeLessThan(60);
  expect(await run(account)).toMatchObject({ expanded: 0, unfinished: false });
  expect([await isDue(account, MORNING - 1), await isDue(account, MORNING)]).toEqual([false, true]);
  const waiting = { status: 'running', waits_until: '2030-01-02T06:00:00.000000' };
  expect(await readJobStatus(account, job_id)).toMatchObject(waiting);
  expect(await consumedBy(() => run(account))).toMatchObject({ written: 0 });
  vi.setSystemTime(MORNING);
  expect(await run(account)).toMatchObject({ expanded: 60 - expanded });
  expect(await logged(account)).toBe(60);
});

test('other batches of the account continue while one waits', async () => {
  const account = await newAccount();
  await sendToMany(account, { to: newPhones(26), ...text }, { ...HOURS, priority: 'high' });
  await sendToMany(account, { to: newPhones(26), ...text }, { priority: 'low' });
  expect(await run(account)).toMatchObject({ expanded: 26, unfinished: false });
});

test('a batch that waits can be cancelled', async () => {
  const account = await newAccount();
  const { job_id } = await sendToMany(account, { to: newPhones(26), ...text }, HOURS);
  await cancelJob(account, job_id);
  expect(await readJobStatus(account, job_id)).not.toHaveProperty('waits_until');
  expect(await run(account)).toMatchObject({ expanded: 26 });
  const { entries } = await listLogs(account, {}, 1_000);
  expect(entries.filter(({ reason }) => reason === 'cancelled')).toHaveLength(26);
});

test('the messages of a batch that waits expire', async () => {
  const account = await newAccount();
  await sendToMany(account, { to: newPhones(26), ...text }, { ...HOURS, valid_for: 3_600 });
  vi.setSystemTime(NIGHT + HOUR + MINUTE);
  expect(await run(account)).toMatchObject({ expanded: 26 });
  const { entries } = await listLogs(account, {}, 1_000);
  expect(entries.filter(({ reason }) => reason === 'expired')).toHaveLength(26);
});

test('a scheduled message says when it can be sent first', async () => {
  const account = await newAccountWith(HOURS);
  const draft = { to: newPhone(), ...text };
  const id = await scheduleMessage(account, draft, { send_at: NIGHT + HOUR });
  const other = await scheduleMessage(account, draft, { send_at: MORNING + HOUR });
  const urgent = await scheduleMessage(account, draft, { send_at: NIGHT + HOUR, urgent: true });
  const statusOf = async (message: string) => (await readMessage(account, message)).waits_until;
  expect(await Promise.all([id, other, urgent].map(statusOf))).toEqual([
    '2030-01-02T06:00:00.000000',
    '2030-01-02T07:00:00.000000',
    undefined,
  ]);
  vi.setSystemTime(NIGHT + HOUR);
  expect(await run(account)).toMatchObject({ expanded: 1 });
  expect(await pendingFor(account, draft.to)).toEqual({ withHours: 0, withoutHours: 1 });
});

test('with the zones of the recipients, a batch is expanded at any time, and each message has its hours', async () => {
  const account = await newAccountWith(HOURS);
  const to = ['27820000001', '819012345678', ...newPhones(24)];
  await sendToMany(account, { to, ...text }, { time_zone: 'recipient' });
  expect(await run(account)).toMatchObject({ expanded: 26 });
  for (const phone of to) expect(await pendingFor(account, phone)).toEqual({ withHours: 1, withoutHours: 0 });
});

test('messages of a request have hours of their own, in chunks and at once', async () => {
  const account = await newAccount();
  const phones = newPhones(30);
  const drafts = phones.map((to, index) => ({ to, ...text, ...(index % 2 === 0 && HOURS) }));
  const [few] = newPhones(1);
  const both = [
    { to: few ?? '', ...text, ...HOURS },
    { to: few ?? '', ...text },
  ];
  await sendEach(account, drafts, {});
  await sendEach(account, both, {});
  expect(await run(account)).toMatchObject({ expanded: 30 });
  expect(await pendingFor(account, phones[0] ?? '')).toEqual({ withHours: 1, withoutHours: 0 });
  expect(await pendingFor(account, phones[1] ?? '')).toEqual({ withHours: 0, withoutHours: 1 });
  expect(await pendingFor(account, few ?? '')).toEqual({ withHours: 1, withoutHours: 1 });
});

describe('a request without known hours', () => {
  const errorsOf = (work: Promise<unknown>) =>
    work.then(
      () => [],
      ({ errors }: { errors: { pointer: string }[] }) => errors.map(({ pointer }) => pointer),
    );
  const recipient = { between: HOURS.between, time_zone: 'recipient' };
  const [known, unknown] = ['27820000001', '8835100000'];

  test.each<[string, (account: string) => Promise<unknown>, string[]]>([
    [
      'names each recipient',
      (account) => sendToMany(account, { to: [known, unknown, unknown], ...text }, recipient),
      ['#/to/1', '#/to/2'],
    ],
    [
      'names each message',
      (account) =>
        sendEach(
          account,
          [known, unknown].map((to) => ({ to, ...text, ...recipient })),
          {},
        ),
      ['#/1/to'],
    ],
    [
      'names the number',
      (account) => scheduleMessage(account, { to: unknown, ...text }, { ...recipient, send_at: NIGHT + DAY }),
      ['#/to'],
    ],
    [
      'names the missing zone',
      (account) => sendToMany(account, { to: [known], ...text }, { between: HOURS.between }),
      ['#/time_zone'],
    ],
    [
      'names the missing times of each message',
      (account) => sendEach(account, Array(2).fill({ to: known, ...text, time_zone: 'UTC' }), {}),
      ['#/0/between', '#/1/between'],
    ],
  ])('%s', async (_, work, pointers) => {
    const account = await newAccount();
    expect(await errorsOf(work(account))).toEqual(pointers);
    expect(await logged(account)).toBe(0);
  });

  test('is accepted with the zone of the account', async () => {
    const account = await newAccountWith(HOURS);
    await sendToMany(account, { to: [unknown], ...text }, { time_zone: 'recipient' });
    expect(await pendingFor(account, unknown)).toEqual({ withHours: 1, withoutHours: 0 });
  });
});

test('a repeat of a request with other hours is another request', async () => {
  const account = await newAccount();
  const to = newPhones(2);
  const idempotencyKey = randomUUID();
  const first = await sendToMany(account, { to, ...text }, { ...HOURS, idempotencyKey });
  expect(await sendToMany(account, { to, ...text }, { ...HOURS, idempotencyKey })).toEqual(first);
  await expect(sendToMany(account, { to, ...text }, { ...HOURS, urgent: true, idempotencyKey })).rejects.toThrow(
    'idempotency_key_reused',
  );
});
