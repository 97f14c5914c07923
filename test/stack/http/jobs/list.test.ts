/** The list of an account's jobs, over the API of the served stack. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { newId } from '../../../../shared/core/ids.ts';
import { jobKey, ofJobList } from '../../../../shared/messaging/entities.ts';
import { putAll, update } from '../../../../shared/table/client.ts';
import { call, fail, sendRaw } from '../../support/client.ts';
import { inPages, pagedList } from '../../support/paged-list.ts';
import { type Caller, newCaller, newPhone, newPhones } from '../../support/world.ts';

type Query = NonNullable<Parameters<typeof call<'listRecentJobs'>>[1]['query']>;
type Message = NonNullable<Parameters<typeof call<'sendMessage'>>[1]['body']>;

const newBusiness = () => newCaller('messages');

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{6}$/);

const text = { type: 'text' as const, text: { body: 'Hello' } };

const send = async (
  { token }: Pick<Caller, 'token'>,
  job_id: string | undefined,
  body: Pick<Message, 'to'> & { send_at?: number },
  job_reference?: string,
) => {
  const query = { ...(job_id !== undefined && { job_id }), ...(job_reference !== undefined && { job_reference }) };
  return (await call('sendMessage', { token, query, body: { ...text, ...body } })).body;
};

const { list, idsOf, walk, cursorAfter } = pagedList(
  (token, query: Query) => call('listRecentJobs', { token, query }),
  ({ job_id }) => job_id,
);

/** Jobs as they are stored, with times of the test's choice. Returns their ids. */
const putJobs = async ({ account }: Pick<Caller, 'account'>, times: string[]): Promise<string[]> => {
  const items = times.map((created) => {
    const job_id = newId();
    const expires_at = Math.floor(Date.now() / 1_000) + 3_600;
    return {
      ...jobKey(account, job_id),
      account,
      job_id,
      created,
      expires_at,
      ...ofJobList(account, { created, job_id }),
    };
  });
  await putAll(items);
  return items.map(({ job_id }) => job_id);
};

test('a job of a request is listed with its reference, its time and its messages, like the job itself', async () => {
  const business = await newBusiness();
  const job_id = randomUUID();
  await send(business, job_id.toUpperCase(), { to: newPhones(3) }, 'autumn');
  const { body: job } = await call('readJob', { token: business.token, path: { job_id } });
  const { created, recipients } = job;
  await expect
    .poll(async () => (await list(business)).items)
    .toEqual([{ job_id, reference: 'autumn', created, start: created, recipients }]);
  expect(recipients).toBe(3);
});

test('a scheduled job is listed with its start before it begins, whether a request names it or not', async () => {
  const business = await newBusiness();
  const send_at = Math.floor(Date.now() / 1_000) + 86_400;
  const start = new Date(send_at * 1_000).toISOString().replace('Z', '000');
  const named = randomUUID();
  await send(business, named, { to: newPhones(30), send_at });
  const unnamed = await send(business, undefined, { to: newPhones(2), send_at });
  await expect
    .poll(async () => (await list(business)).items)
    .toEqual([
      { job_id: 'job_id' in unnamed && unnamed.job_id, created: time, start, recipients: 2 },
      { job_id: named, created: time, start, recipients: 30 },
    ]);
});

test('a cancelled job is listed with the time of its cancellation', async () => {
  const business = await newBusiness();
  const job_id = randomUUID();
  await send(business, job_id, { to: newPhones(30), send_at: Math.floor(Date.now() / 1_000) + 86_400 });
  await call('cancelJob', { token: business.token, path: { job_id } });
  const { cancelled } = (await call('readJob', { token: business.token, path: { job_id } })).body;
  expect(cancelled).toEqual(time);
  await expect.poll(async () => (await list(business)).items).toMatchObject([{ job_id, cancelled }]);
});

test('the job of a day is not listed, not even if a request names it', async () => {
  const business = await newCaller('messages', 'stats');
  const { token } = business;
  await send(business, undefined, { to: newPhone() });
  let day: string | undefined;
  const look = async () => {
    day = (await call('listLogs', { token })).body?.[0]?.job_id;
    return day;
  };
  await expect.poll(look).toBeDefined();
  expect((await call('listRecentJobs', { token })).status).toBe(204);
  await send(business, day, { to: newPhone() });
  const own = randomUUID();
  await send(business, own, { to: newPhone() });
  await expect.poll(() => idsOf(business)).toEqual([own]);
});

test('messages that are sent at once, one by one, are not counted in the list', async () => {
  const business = await newBusiness();
  const job_id = randomUUID();
  await send(business, job_id, { to: newPhone() });
  await expect.poll(async () => (await list(business)).items).toEqual([{ job_id, created: time, start: time }]);
  await send(business, job_id, { to: [newPhone()] });
  await expect.poll(async () => (await list(business)).items).toMatchObject([{ job_id, recipients: 1 }]);
});

test('a period includes its start and excludes its end, in every form of a time', { tags: 'long' }, async () => {
  const business = await newBusiness();
  const created = '2026-01-02T03:04:05.000006';
  const times = ['2026-01-02T03:04:05.000005', created, '2026-01-02T03:04:05.000007'];
  const [old = '', found = '', late = ''] = await putJobs(business, times);
  await expect.poll(() => idsOf(business)).toEqual([late, found, old]);
  const seconds = Date.parse('2026-01-02T03:04:05Z') / 1_000;
  for (const given of [created, `${created}Z`, '2026-01-02T05:04:05.000006+02:00', `${seconds}.000006`]) {
    await expect.poll(() => idsOf(business, { start: given }), { message: given }).toEqual([late, found]);
    await expect.poll(() => idsOf(business, { end: given }), { message: given }).toEqual([old]);
  }
  const period = { start: created, end: '2026-01-02T03:04:05.000007' };
  await expect.poll(() => idsOf(business, period)).toEqual([found]);
  await expect.poll(() => idsOf(business, { start: period.end, end: period.start })).toEqual([]);
});

test('pages contain each job once, newest first, also those of the same time', { tags: 'long' }, async () => {
  const business = await newBusiness();
  const [earlier, later] = ['2026-01-02T03:04:05.000005', '2026-01-02T03:04:05.000006'];
  const ids = await putJobs(business, [earlier, earlier, earlier, later, later, later, later]);
  // Of the same time, the greater id is first: ids increase.
  const newest = ids.toReversed();
  await expect.poll(() => idsOf(business)).toEqual(newest);
  for (const limit of [1, 2, 3, 7]) {
    await expect
      .poll(() => walk(business, { limit: `${limit}` }), { message: `limit ${limit}` })
      .toEqual(inPages(limit, newest));
  }
  await expect.poll(() => walk(business, { start: later, limit: '3' })).toEqual(inPages(3, newest.slice(0, 4)));
});

test('a job leaves the list when it expires, and its page stays short', async () => {
  const business = await newBusiness();
  const ids = await putJobs(business, Array(3).fill('2026-01-02T03:04:05.000006'));
  const [old = '', , newest = ''] = ids;
  await expect.poll(() => idsOf(business)).toEqual(ids.toReversed());
  // TTL removes rows later.
  await update({
    Key: jobKey(business.account, newest),
    UpdateExpression: 'SET expires_at = :past',
    ExpressionAttributeValues: { ':past': Math.floor(Date.now() / 1_000) - 1 },
  });
  await expect.poll(() => walk(business, { limit: '2' })).toEqual([[ids[1]], [old]]);
});

test("another account's jobs are never listed, and its cursors are rejected", async () => {
  const [ours, theirs] = [await newBusiness(), await newBusiness()];
  const ids = [randomUUID(), randomUUID()];
  for (const id of ids) await send(theirs, id, { to: newPhone() });
  await expect.poll(() => idsOf(theirs)).toEqual(ids.toReversed());
  const cursor = await cursorAfter(theirs, { limit: '1' });
  expect((await call('listRecentJobs', { token: ours.token })).status).toBe(204);
  const rejected = async ({ token }: Caller, query: Query) => {
    const { status, body } = await fail('listRecentJobs', { token, query });
    return [status, body.code, body.errors?.map(({ parameter }) => parameter)];
  };
  const invalid = [422, 'invalid_request', ['cursor']];
  const query = { limit: '1', cursor };
  expect(await rejected(ours, query)).toEqual(invalid);
  for (const other of [{ start: '0' }, { end: '4000000000' }]) {
    expect(await rejected(theirs, { ...query, ...other })).toEqual(invalid);
  }
  await expect.poll(() => idsOf(theirs, { ...query, limit: '100' })).toEqual(ids.slice(0, 1));
});

test('parameters that are wrong return 422 and name each of them', async () => {
  const { token } = await newBusiness();
  const wrong: Record<string, string[]> = {
    limit: ['0', '101', '-1', '1.5', '1e2', '', 'all', '99999999999999999999'],
    start: ['', 'yesterday', '-1', '2026-02-30', '253402300800', '\u{1F33B}'],
    end: ['', 'x'.repeat(5_000), '[object Object]'],
    cursor: ['', 'x', '=', 'JOBS_OF#x', 'x'.repeat(5_000)],
  };
  for (const [parameter, values] of Object.entries(wrong)) {
    for (const value of values) {
      const { status, body } = await fail('listRecentJobs', { token, query: { [parameter]: value } });
      expect({ status, errors: body.errors }, `${parameter}=${value}`).toEqual({
        status: 422,
        errors: [{ parameter, detail: expect.any(String) }],
      });
    }
  }
});

test('no number and no content of a message is listed, and a token without the permission messages lists nothing', async () => {
  const business = await newCaller('messages');
  const to = newPhone();
  await send(business, randomUUID(), { to: [to] });
  await expect.poll(() => idsOf(business)).toHaveLength(1);
  const { body } = await sendRaw('listRecentJobs', { token: business.token });
  for (const secret of [to, 'Hello']) expect(JSON.stringify(body)).not.toContain(secret);
  const { token } = await newCaller('stats', 'contacts', 'admin');
  const rejected = await fail('listRecentJobs', { token });
  expect([rejected.status, rejected.body.code]).toEqual([403, 'permission_required']);
});
