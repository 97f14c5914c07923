/**
 * Statistics by day in a time zone, on the served stack.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import type { stats } from '../../../../shared/api/areas/stats.ts';
import { timestampOf } from '../../../../shared/core/clock.ts';
import { logItem, type State } from '../../../../shared/outbox/message.ts';
import { putAll } from '../../../../shared/table/client.ts';
import { lifetime } from '../../../support/lifetime.ts';
import { call, sendRaw } from '../../support/client.ts';
import { type Caller, newCaller } from '../../support/world.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A UTC day whose counters are kept for long, in milliseconds since 1970, and the days around it. */
const MIDNIGHT = Math.floor(Date.now() / DAY) * DAY - 10 * DAY;
const dayOf = (offset: number): string => timestampOf(MIDNIGHT + offset * DAY).slice(0, 10);
const [before, day, after] = [dayOf(-1), dayOf(0), dayOf(1)];

const JOB = randomUUID();

/** Logs messages that reached states so many milliseconds after midnight (UTC); the table's stream counts them. */
const logged = ({ account }: Caller, ...reached: [state: State, after: number, job_id?: string][]): Promise<void> =>
  putAll(
    reached.map(([state, ms, job_id = JOB]) =>
      logItem(
        { id: randomUUID(), account, phone: '27820000001', job_id, payload_type: 'text', ...lifetime },
        state,
        timestampOf(MIDNIGHT + ms),
      ),
    ),
  );

type Query = v.InferInput<typeof stats.listJobs.query>;

const counts = async ({ token }: Caller, query: Query) => (await call('listJobs', { token, query })).body ?? [];

/** The counts of each day in a zone, for a period that contains all. */
const byDay = async (caller: Caller, time_zone: string) =>
  (await counts(caller, { start_date: dayOf(-3), end_date: dayOf(3), time_zone, by: 'day' })).map(
    (row) => [row.day, row.state, row.count] as const,
  );

const newReader = () => newCaller('stats');

describe('the days of a period', () => {
  test('are days of the time zone, also of one with quarters of an hour', async () => {
    const caller = await newReader();
    // Midnight is at 22:00 in Johannesburg, at 18:15 in Kathmandu, and at 05:00 or 04:00 of the next day in New York.
    await logged(
      caller,
      ['sent', 3.5 * HOUR],
      ['sent', 18.25 * HOUR - 1],
      ['sent', 18.25 * HOUR],
      ['read', 22 * HOUR - 1],
      ['read', 22 * HOUR],
    );
    await expect
      .poll(() => byDay(caller, 'UTC'))
      .toEqual([
        [day, 'sent', 3],
        [day, 'read', 2],
      ]);
    await expect
      .poll(() => byDay(caller, 'Africa/Johannesburg'))
      .toEqual([
        [after, 'read', 1],
        [day, 'sent', 3],
        [day, 'read', 1],
      ]);
    await expect
      .poll(() => byDay(caller, 'Asia/Kathmandu'))
      .toEqual([
        [after, 'sent', 1],
        [after, 'read', 2],
        [day, 'sent', 2],
      ]);
    await expect
      .poll(() => byDay(caller, 'America/New_York'))
      .toEqual([
        [day, 'sent', 2],
        [day, 'read', 2],
        [before, 'sent', 1],
      ]);
  });

  test('are both included, and no others', async () => {
    const caller = await newReader();
    await logged(caller, ['sent', -2 * HOUR - 1], ['sent', -2 * HOUR], ['sent', 22 * HOUR - 1], ['sent', 22 * HOUR]);
    const period = (start_date: string, end_date: string, time_zone: string) =>
      counts(caller, { start_date, end_date, time_zone });
    const row = (count: number) => [{ job_id: JOB, state: 'sent', payload_type: 'text', count }];
    await expect.poll(() => period(day, day, 'Africa/Johannesburg')).toEqual(row(2));
    await expect.poll(() => period(before, day, 'Africa/Johannesburg')).toEqual(row(3));
    await expect.poll(() => period(day, after, 'Africa/Johannesburg')).toEqual(row(3));
    await expect.poll(() => period(day, day, 'UTC')).toEqual(row(2));
    await expect.poll(() => period(before, after, 'Asia/Kathmandu')).toEqual(row(4));
  });

  test('of times are those that contain them in the time zone', async () => {
    const caller = await newReader();
    await logged(caller, ['sent', -HOUR], ['sent', 21 * HOUR]);
    // 23:30 UTC is 01:30 of the next day in Johannesburg.
    const query = { start: `${before}T23:30:00Z`, end: `${day}T21:30:00Z`, time_zone: 'Africa/Johannesburg' };
    await expect.poll(() => counts(caller, query)).toMatchObject([{ count: 2 }]);
    await expect
      .poll(() => counts(caller, { ...query, start: `${before}T10:00:00Z`, end: `${before}T21:30:00Z` }))
      .toEqual([]);
  });
});

test('without time_zone and by, the counts have no day, and are those of UTC', async () => {
  const caller = await newReader();
  await logged(caller, ['sent', HOUR], ['sent', 23 * HOUR], ['sent', 25 * HOUR]);
  const expected = (count: number) => [{ job_id: JOB, state: 'sent', payload_type: 'text', count }];
  await expect.poll(() => counts(caller, { start_date: day, end_date: day })).toEqual(expected(2));
  await expect.poll(() => counts(caller, { start_date: day, end_date: after })).toEqual(expected(3));
});

test('the newest day comes first, and of a day the job with the latest activity', async () => {
  const caller = await newReader();
  const [a = '', b = ''] = [randomUUID(), randomUUID()].sort();
  await logged(caller, ['read', 0, a], ['sent', 0, a], ['sent', 0, b], ['sent', 30 * HOUR, b], ['sent', -HOUR, a]);
  const listed = async () =>
    (await counts(caller, { start_date: before, end_date: after, by: 'day' })).map((row) => [
      row.day,
      row.job_id,
      row.state,
    ]);
  await expect.poll(listed).toEqual([
    [after, b, 'sent'],
    [day, b, 'sent'],
    [day, a, 'sent'],
    [day, a, 'read'],
    [before, a, 'sent'],
  ]);
});

test('another account sees none of the counts', async () => {
  const [caller, other] = [await newReader(), await newReader()];
  await logged(caller, ['sent', HOUR]);
  await expect.poll(() => byDay(caller, 'Africa/Johannesburg')).toEqual([[day, 'sent', 1]]);
  expect(await byDay(other, 'Africa/Johannesburg')).toEqual([]);
});

test.each([
  ['time_zone=Africa/Nowhere', 'time_zone', 'must be the name of an IANA time zone, as Africa/Johannesburg'],
  ['time_zone=recipient', 'time_zone', 'must be the name of an IANA time zone, as Africa/Johannesburg'],
  ['by=week', 'by', expect.stringContaining('day')],
])('%s returns 422', async (query, parameter, detail) => {
  const { token } = await newReader();
  const { status, body } = await sendRaw('listJobs', { token, query: `start_date=${day}&end_date=${day}&${query}` });
  expect(status).toBe(422);
  expect((body as { errors: object[] }).errors).toEqual([{ parameter, detail }]);
});

test('the ends of the calendar are accepted in each zone', async () => {
  const { token } = await newReader();
  for (const zone of ['America/New_York', 'Asia/Kathmandu', 'UTC']) {
    for (const period of [
      'start_date=1000-01-01&end_date=1000-01-02',
      'start_date=9999-12-31&end_date=9999-12-31',
      'start_date=9999-12-31&end=9999-12-31T23:59:59Z',
      'start=0&end=3600',
    ]) {
      const { status } = await sendRaw('listJobs', { token, query: `${period}&time_zone=${zone}` });
      expect(status, `${period} ${zone}`).toBe(204);
    }
  }
});

test('the request of the guide for businesses returns counts by day', async () => {
  const guide = await readFile('infra/docs/business.md', 'utf8');
  const [, query = ''] = /\$BASE_URL\/v1\/stats\/jobs\?([^"]+)"/.exec(guide) ?? [];
  const caller = await newReader();
  await logged(caller, ['sent', 23 * HOUR]);
  const wanted = new URLSearchParams(query);
  expect([...wanted.keys()]).toEqual(['start_date', 'end_date', 'time_zone', 'by']);
  wanted.set('start_date', day);
  wanted.set('end_date', after);
  await expect
    .poll(async () => (await sendRaw('listJobs', { token: caller.token, query: wanted.toString() })).body)
    .toEqual([{ day: after, job_id: JOB, state: 'sent', payload_type: 'text', count: 1 }]);
});
