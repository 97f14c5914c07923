/**
 * GET /v1/jobs/{job_id}: over HTTP, and step by step on a separate table.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { jobOf } from '../../../../shared/messaging/jobs/default-jobs.ts';
import { call, fail } from '../../support/client.ts';
import { report } from '../../support/phones.ts';
import { type Caller, newCaller, newPhone } from '../../support/world.ts';

const business = (): Promise<Caller> => newCaller('messages', 'stats');

const text = (to: string) => ({ to, type: 'text' as const, text: { body: 'Hello' } });

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{6}$/);

const jobOfCaller = async ({ token }: Caller, job_id: string) =>
  (await call('readJob', { token, path: { job_id } })).body;

test('a job has the counts of its logs at rest, and its status', async () => {
  const caller = await business();
  const { token } = caller;
  const job_id = randomUUID();
  const ids: string[] = [];
  for (let index = 0; index < 3; index += 1)
    ids.push((await call('sendMessage', { token, query: { job_id }, body: text(newPhone()) })).body.id);
  const whole = { sent: 3, delivered_to_server: 3 };
  await expect.poll(async () => (await jobOfCaller(caller, job_id)).states).toEqual(whole);
  await report(ids[0] ?? '', 'delivered_to_user');
  await expect
    .poll(() => jobOfCaller(caller, job_id.toUpperCase()))
    .toEqual({
      ...{ job_id, status: 'completed', created: time, start: time },
      ...{ recipients: 3, expanded: 3, pending: 0 },
      states: { ...whole, delivered_to_user: 1 },
    });
  const logs = (await call('listLogs', { token, query: { job_id } })).body ?? [];
  const counted = Object.fromEntries(
    [...Map.groupBy(logs, ({ state }) => state)].map(([state, { length }]) => [state, length]),
  );
  await expect.poll(async () => (await jobOfCaller(caller, job_id)).states).toEqual(counted);

  await call('cancelJob', { token, path: { job_id } });
  await expect
    .poll(() => jobOfCaller(caller, job_id))
    .toMatchObject({
      status: 'cancelled',
      cancelled: expect.any(String),
      pending: 0,
    });
});

test('the job of a day is a job, too, and has the day', async () => {
  const caller = await business();
  const { token } = caller;
  await call('sendMessage', { token, body: text(newPhone()) });
  const [entry] = (await call('listLogs', { token })).body ?? [];
  const job_id = entry?.job_id ?? '';
  expect(job_id).toBe(jobOf(caller.account, 'api', entry?.created ?? ''));
  const day = entry?.created.slice(0, 10);
  await expect.poll(() => jobOfCaller(caller, job_id)).toMatchObject({ day, status: 'completed', states: { sent: 1 } });
});

test('a job that does not exist and one of another account return the same 404', async () => {
  const [caller, other] = [await business(), await business()];
  const job_id = randomUUID();
  await call('sendMessage', { token: other.token, query: { job_id }, body: text(newPhone()) });
  const bodies = await Promise.all(
    [randomUUID(), job_id, 'nothing', 'x'.repeat(3_000)].map(async (one) => {
      const { trace_id: _, ...body } = (await fail('readJob', { token: caller.token, path: { job_id: one } })).body;
      return JSON.stringify(body);
    }),
  );
  expect(JSON.parse(bodies[0] ?? '')).toMatchObject({ status: 404, code: 'job_not_found' });
  expect(new Set(bodies).size).toBe(1);
});
