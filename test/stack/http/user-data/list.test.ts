/** The list of an account's user data requests, over the API of the served stack. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { newId } from '../../../../shared/core/ids.ts';
import { putAll, update } from '../../../../shared/table/client.ts';
import { inRequests, requestKey } from '../../../../shared/user-data/entities.ts';
import { answered, applied, removed, updated, withdrawn } from '../../support/app-events.ts';
import { call, fail, sendRaw } from '../../support/client.ts';
import { inPages, pagedList } from '../../support/paged-list.ts';
import { type Caller, newCaller, newPhone } from '../../support/world.ts';

type Query = NonNullable<Parameters<typeof call<'listUserDataRequests'>>[1]['query']>;
type Body = NonNullable<Parameters<typeof call<'startUserDataRequest'>>[1]['body']>;

const newBusiness = () => newCaller('user_data');

/** A new user with a first name and a device. */
const newUser = async (first_name = 'Thandi'): Promise<string> => {
  const phone = newPhone();
  const properties = {
    first_name: { value: first_name, source: 'typed by the user' },
    device_make: { value: 'Acme Phones', source: 'read from the device' },
  };
  await applied(updated(phone, { properties }));
  return phone;
};

const ask = async ({ token }: Pick<Caller, 'token'>, phone_number: string, body: Partial<Body> = {}) => {
  const asked = { reason: 'To know you', data: [{ property: 'first_name' as const }], ...body };
  return (await call('startUserDataRequest', { token, path: { phone_number }, body: asked })).body.requestId;
};

const { list, idsOf, walk, cursorAfter } = pagedList(
  (token, query: Query) => call('listUserDataRequests', { token, query }),
  ({ requestId }) => requestId,
);

/** Requests as they are stored, with times and statuses of the test's choice. Returns their ids. */
const putRequests = async (
  { account }: Pick<Caller, 'account'>,
  given: { created: string; isComplete?: boolean; reason?: string }[],
): Promise<string[]> => {
  const items = given.map(({ created, isComplete = false, reason = 'Why not?' }) => {
    const id = newId();
    const common = { account, phone: newPhone(), business: 'Test', reason, created, results: {}, version: 0 };
    return {
      ...{ ...requestKey(id), ...common, properties: [{ property: 'first_name', required: false }] },
      ...(isComplete && { completed: created }),
      ...{ expires_at: Math.floor(Date.now() / 1_000) + 3_600, id },
      ...inRequests(account, { id, created, status: isComplete ? 'completed' : 'pending' }),
    };
  });
  await putAll(items.map(({ id: _, ...item }) => item));
  return items.map(({ id }) => id);
};

test('a request is listed with what was asked, and with what became of it as soon as it is completed', async () => {
  const business = await newBusiness();
  const phone = await newUser();
  const requestId = await ask(business, phone, {
    reason: 'To open your account',
    data: [
      { property: 'first_name', reason: 'To greet you', required: true },
      { property: 'last_name' },
      { property: 'device_make' },
    ],
    valid_days: 30,
    reference: 'opening-1',
  });
  const asked = {
    ...{ requestId, phone_number: phone, created: expect.any(String) },
    ...{ reference: 'opening-1', reason: 'To open your account', valid_days: 30 },
  };
  const data = [
    { property: 'first_name', reason: 'To greet you', required: true },
    { property: 'last_name', required: false },
    { property: 'device_make', required: false },
  ];
  await expect.poll(async () => (await list(business)).items).toEqual([{ ...asked, status: 'pending', data }]);

  await applied(answered(requestId, { first_name: 'approved', last_name: 'denied' }));
  let listed: Awaited<ReturnType<typeof list>>['items'] = [];
  const look = async () => {
    listed = (await list(business)).items;
    return listed;
  };
  const [firstName, lastName, device] = data;
  const ofConsent = { status: 'approved', timestamp: expect.any(String), valid_until: expect.any(String) };
  await expect.poll(look).toEqual([
    {
      ...{ ...asked, status: 'completed', completed: expect.any(String) },
      data: [
        { ...firstName, ...ofConsent },
        { ...lastName, status: 'denied' },
        { ...device, ...ofConsent },
      ],
    },
  ]);
  const { results } = (await call('fetchUserData', { token: business.token, path: { id: requestId } })).body;
  for (const { property, reason: _, required: __, ...result } of listed[0]?.data ?? []) {
    expect(results[property]).toMatchObject(result);
  }
});

test('no value of a user is listed, nor where it comes from, and a withdrawn consent is listed with its end', async () => {
  const business = await newBusiness();
  const name = `Thandi ${randomUUID()}`;
  const requestId = await ask(business, await newUser(name), {
    data: [{ property: 'first_name' }, { property: 'device_make' }],
  });
  await applied(answered(requestId, { first_name: 'approved' }));
  const status = async () => (await list(business)).items[0]?.data.map((one) => one.status);
  await expect.poll(status).toEqual(['approved', 'approved']);
  const { body } = await sendRaw('listUserDataRequests', { token: business.token });
  for (const secret of [name, 'Acme Phones', 'typed by', 'read from'])
    expect(JSON.stringify(body)).not.toContain(secret);

  await applied(withdrawn(requestId, 'first_name'));
  await expect
    .poll(async () => (await list(business)).items[0]?.data[0])
    .toEqual({ property: 'first_name', required: false, status: 'withdrawn', timestamp: expect.any(String) });
});

test('each status lists its requests, and an answer moves a request from one to the other', {
  tags: 'long',
}, async () => {
  const business = await newBusiness();
  const phone = await newUser();
  const atOnce = await ask(business, phone, { data: [{ property: 'device_make' }] });
  const later = await ask(business, phone);
  const both = async () => [
    await idsOf(business, { status: 'pending' }),
    await idsOf(business, { status: 'completed' }),
  ];
  await expect.poll(both).toEqual([[later], [atOnce]]);
  await applied(answered(later, { first_name: 'denied' }));
  await expect.poll(both).toEqual([[], [later, atOnce]]);
  await expect.poll(() => idsOf(business)).toEqual([later, atOnce]);
});

test('a period includes its start and excludes its end, in every form of a time', async () => {
  const business = await newBusiness();
  const created = '2026-01-02T03:04:05.000006';
  const [old = '', found = '', late = ''] = await putRequests(business, [
    { created: '2026-01-02T03:04:05.000005' },
    { created, isComplete: true },
    { created: '2026-01-02T03:04:05.000007' },
  ]);
  await expect.poll(() => idsOf(business)).toEqual([late, found, old]);
  const seconds = Date.parse('2026-01-02T03:04:05Z') / 1_000;
  for (const time of [created, `${created}Z`, '2026-01-02T05:04:05.000006+02:00', `${seconds}.000006`]) {
    await expect.poll(() => idsOf(business, { start: time }), { message: time }).toEqual([late, found]);
    await expect.poll(() => idsOf(business, { end: time }), { message: time }).toEqual([old]);
  }
  const period = { start: created, end: '2026-01-02T03:04:05.000007' };
  await expect.poll(() => idsOf(business, period)).toEqual([found]);
  await expect.poll(() => idsOf(business, { ...period, status: 'pending' })).toEqual([]);
  await expect.poll(() => idsOf(business, { start: period.end, end: period.start })).toEqual([]);
});

test('pages contain each request once, newest first, also those of the same time and of both statuses', {
  tags: 'long',
}, async () => {
  const business = await newBusiness();
  const [earlier, time] = ['2026-01-02T03:04:05.000005', '2026-01-02T03:04:05.000006'];
  const ids = await putRequests(business, [
    ...[false, true, true].map((isComplete) => ({ created: earlier, isComplete })),
    ...[true, false, false, true].map((isComplete) => ({ created: time, isComplete })),
  ]);
  // Of the same time, the greater id is first: ids increase.
  const newest = ids.toReversed();
  await expect.poll(() => idsOf(business)).toEqual(newest);
  for (const limit of [1, 2, 3, 7]) {
    await expect
      .poll(() => walk(business, { limit: `${limit}` }), { message: `limit ${limit}` })
      .toEqual(inPages(limit, newest));
  }
  const completed = [6, 3, 2, 1].map((index) => ids[index] ?? '');
  await expect.poll(() => walk(business, { limit: '3', status: 'completed' })).toEqual(inPages(3, completed));
  const period = { start: time, limit: '3' };
  await expect.poll(() => walk(business, period)).toEqual(inPages(3, newest.slice(0, 4)));
});

test('a page that would not fit into a response continues on the next one', { tags: 'long' }, async () => {
  const business = await newBusiness();
  // As many properties as a deployment adds have such reasons: in a response, a quotation mark has four bytes.
  const reason = '"'.repeat(100_000);
  const created = '2026-01-02T03:04:05.000006';
  const ids = await putRequests(
    business,
    Array.from({ length: 20 }, () => ({ created, reason })),
  );
  const newest = ids.toReversed();
  let pages: string[][] = [];
  const walked = async () => {
    pages = await walk(business, { limit: '100' });
    return pages.flat();
  };
  await expect.poll(walked).toEqual(newest);
  // 5 MB. A database may end a page of an index earlier.
  expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(12);
});

test('a request leaves the list when it expires, and when its user is erased', { tags: 'long' }, async () => {
  const business = await newBusiness();
  const phone = await newUser();
  const [expiring, erased] = [await ask(business, await newUser()), await ask(business, phone)];
  await expect.poll(() => idsOf(business)).toEqual([erased, expiring]);
  // TTL removes rows later.
  await update({
    Key: requestKey(expiring),
    UpdateExpression: 'SET expires_at = :past',
    ExpressionAttributeValues: { ':past': Math.floor(Date.now() / 1_000) - 1 },
  });
  await expect.poll(() => idsOf(business)).toEqual([erased]);
  await applied(removed(phone));
  await expect.poll(async () => (await call('listUserDataRequests', { token: business.token })).status).toBe(204);
});

test("another account's requests are never listed, and its cursors are rejected", async () => {
  const [ours, theirs] = [await newBusiness(), await newBusiness()];
  const phone = await newUser();
  const ids = [await ask(theirs, phone), await ask(theirs, phone)];
  await expect.poll(() => idsOf(theirs)).toEqual(ids.toReversed());
  const cursor = await cursorAfter(theirs, { limit: '1' });
  expect((await call('listUserDataRequests', { token: ours.token })).status).toBe(204);
  const rejected = async ({ token }: Caller, query: Query) => {
    const { status, body } = await fail('listUserDataRequests', { token, query });
    return [status, body.code, body.errors?.map(({ parameter }) => parameter)];
  };
  const invalid = [422, 'invalid_request', ['cursor']];
  const query = { limit: '1', cursor };
  expect(await rejected(ours, query)).toEqual(invalid);
  for (const other of [{ status: 'pending' }, { start: '0' }, { end: '4000000000' }] as const) {
    expect(await rejected(theirs, { ...query, ...other })).toEqual(invalid);
  }
  await expect.poll(() => idsOf(theirs, { ...query, limit: '100' })).toEqual(ids.slice(0, 1));
});

test('parameters that are wrong return 422 and name each of them', async () => {
  const { token } = await newBusiness();
  const query = { limit: '101', status: 'approved', start: 'yesterday', end: '-1' } as never;
  const { status, body } = await fail('listUserDataRequests', { token, query });
  expect(status).toBe(422);
  expect(body.errors?.map(({ parameter }) => parameter).sort()).toEqual(['end', 'limit', 'start', 'status']);
});
