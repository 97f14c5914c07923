/** The list of an account's consent receipts, over the API of the served stack. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { newId } from '../../../../shared/core/ids.ts';
import { putAll } from '../../../../shared/table/client.ts';
import { consentReceiptKey, inReceipts } from '../../../../shared/user-data/entities.ts';
import { answered, applied, removed, updated, withdrawn } from '../../support/app-events.ts';
import { call, fail, sendRaw } from '../../support/client.ts';
import { inPages, pagedList } from '../../support/paged-list.ts';
import { type Caller, newCaller, newPhone } from '../../support/world.ts';

type Query = NonNullable<Parameters<typeof call<'listReceipts'>>[1]['query']>;

const newBusiness = () => newCaller('user_data');

const newUser = async (first_name = 'Thandi'): Promise<string> => {
  const phone = newPhone();
  const properties = {
    first_name: { value: first_name, source: 'typed by the user' },
    device_make: { value: 'Acme Phones', source: 'read from the device' },
  };
  await applied(updated(phone, { properties }));
  return phone;
};

/** A request for the first name and the device, which the user has approved. */
const released = async ({ token }: Caller, phone_number: string, valid_days?: number): Promise<string> => {
  const data = [{ property: 'first_name' as const }, { property: 'device_make' as const }];
  const body = { reason: 'To open your account', data, ...(valid_days !== undefined && { valid_days }) };
  const { requestId } = (await call('startUserDataRequest', { token, path: { phone_number }, body })).body;
  await applied(answered(requestId, { first_name: 'approved' }));
  return requestId;
};

const { list, idsOf, walk, cursorAfter } = pagedList(
  (token, query: Query) => call('listReceipts', { token, query }),
  ({ requestId, event }) => `${requestId} ${event}`,
);

/** Receipts as they are stored, of releases at times of the test's choice. Returns how the list names them. */
const putReceipts = async ({ account }: Caller, given: { created: string; reason?: string }[]): Promise<string[]> => {
  const items = given.map(({ created, reason = 'Why not?' }) => {
    const [phone, request] = [newPhone(), newId()];
    const key = consentReceiptKey(phone, { created, request });
    return {
      ...key,
      ...inReceipts(account, phone, key),
      account,
      request,
      properties: ['first_name'],
      reason,
      created,
    };
  });
  await putAll(items);
  return items.map(({ request }) => `${request} released`);
};

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/);

test('each release, each end of a consent, and each confirmed deletion has a receipt, newest first', async () => {
  const business = await newBusiness();
  const phone = await newUser();
  const requestId = await released(business, phone, 30);
  await applied(withdrawn(requestId, 'first_name'));
  await call('acknowledgeDeletion', { token: business.token, path: { request_id: requestId } });
  const common = { requestId, phone_number: phone, timestamp: time, reason: 'To open your account' };
  await expect
    .poll(async () => (await list(business)).items)
    .toEqual([
      { ...common, event: 'deleted', properties: ['first_name'] },
      { ...common, event: 'withdrawn', properties: ['first_name'] },
      { ...common, event: 'released', valid_until: time, properties: ['first_name'] },
      // At once: it needs no approval.
      { ...common, event: 'released', valid_until: time, properties: ['device_make'] },
    ]);
});

test('no value of a user is listed, nor where it comes from, and no retrieval without a request', async () => {
  const business = await newBusiness();
  const name = `Thandi ${randomUUID()}`;
  const phone = await newUser(name);
  const requestId = await released(business, phone);
  const body = { data: [{ property: 'device_make' as const }] };
  await call('retrieveUserData', { token: business.token, path: { id: phone }, body });
  await expect.poll(() => idsOf(business)).toEqual([`${requestId} released`, `${requestId} released`]);
  const received = await sendRaw('listReceipts', { token: business.token });
  for (const secret of [name, 'Acme Phones', 'typed by', 'read from']) {
    expect(JSON.stringify(received.body)).not.toContain(secret);
  }
});

test('the receipts of a user are listed by the number, each account its own', async () => {
  const [ours, theirs] = [await newBusiness(), await newBusiness()];
  const [phone, other] = [await newUser(), await newUser()];
  const first = await released(ours, phone);
  const second = await released(ours, other);
  const third = await released(theirs, phone);
  const twice = (id: string) => [`${id} released`, `${id} released`];
  await expect.poll(() => idsOf(ours)).toEqual([...twice(second), ...twice(first)]);
  await expect.poll(() => idsOf(ours, { phone_number: phone })).toEqual(twice(first));
  await expect.poll(() => idsOf(theirs)).toEqual(twice(third));
  expect(await idsOf(theirs, { phone_number: other })).toEqual([]);
});

test("when a user leaves the app, the receipts stay without the number, and with the consents' ends", {
  tags: 'long',
}, async () => {
  const business = await newBusiness();
  const phone = await newUser();
  const requestId = await released(business, phone);
  await expect.poll(() => idsOf(business, { phone_number: phone })).toHaveLength(2);
  await applied(removed(phone));
  await expect
    .poll(async () => (await sendRaw('listReceipts', { token: business.token })).body)
    .toEqual(
      (['withdrawn', 'released', 'released'] as const).map((event) => ({
        ...{ requestId, event, timestamp: time, reason: 'To open your account', properties: expect.any(Array) },
      })),
    );
  await expect.poll(() => idsOf(business, { phone_number: phone })).toEqual([]);
});

test('a period includes its start and excludes its end', async () => {
  const business = await newBusiness();
  const times = [5, 6, 7].map((digit) => `2036-01-02T03:04:05.00000${digit}`);
  const [old = '', found = '', late = ''] = await putReceipts(
    business,
    times.map((created) => ({ created })),
  );
  await expect.poll(() => idsOf(business)).toEqual([late, found, old]);
  const [, start, end] = times;
  await expect.poll(() => idsOf(business, { start })).toEqual([late, found]);
  await expect.poll(() => idsOf(business, { end: start })).toEqual([old]);
  await expect.poll(() => idsOf(business, { start, end })).toEqual([found]);
  await expect.poll(() => idsOf(business, { start: end, end: start })).toEqual([]);
});

test('pages contain each receipt once, also those of the same time', { tags: 'long' }, async () => {
  const business = await newBusiness();
  const [earlier, later] = ['2036-01-02T03:04:05.000005', '2036-01-02T03:04:05.000006'];
  const times = [earlier, earlier, earlier, later, later, later, later];
  const newest = (
    await putReceipts(
      business,
      times.map((created) => ({ created })),
    )
  ).toReversed();
  await expect.poll(() => idsOf(business)).toEqual(newest);
  for (const limit of [1, 2, 3, 7]) {
    await expect
      .poll(() => walk(business, { limit: `${limit}` }), { message: `limit ${limit}` })
      .toEqual(inPages(limit, newest));
  }
});

test('a page that would not fit into a response continues on the next one', { tags: 'long' }, async () => {
  const business = await newBusiness();
  const reason = '"'.repeat(100_000);
  const newest = (
    await putReceipts(business, Array(20).fill({ created: '2036-01-02T03:04:05.000006', reason }))
  ).toReversed();
  let pages: string[][] = [];
  const walked = async () => {
    pages = await walk(business, { limit: '100' });
    return pages.flat();
  };
  await expect.poll(walked).toEqual(newest);
  expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(12);
});

test('receipts of an earlier account with the same id are not listed', async () => {
  const business = await newBusiness();
  await putReceipts(business, [{ created: '2026-01-02T03:04:05.000006' }]);
  const [own = ''] = await putReceipts(business, [{ created: '2036-01-02T03:04:05.000006' }]);
  await expect.poll(() => idsOf(business)).toEqual([own]);
  await expect.poll(() => idsOf(business, { start: '0' })).toEqual([own]);
});

test("another account's cursors are rejected, and those of other filters", async () => {
  const [ours, theirs] = [await newBusiness(), await newBusiness()];
  const phone = await newUser();
  await released(theirs, phone);
  const cursor = await cursorAfter(theirs, { limit: '1' });
  expect((await call('listReceipts', { token: ours.token })).status).toBe(204);
  const rejected = async ({ token }: Caller, query: Query) => {
    const { status, body } = await fail('listReceipts', { token, query });
    return [status, body.code, body.errors?.map(({ parameter }) => parameter)];
  };
  const invalid = [422, 'invalid_request', ['cursor']];
  expect(await rejected(ours, { limit: '1', cursor })).toEqual(invalid);
  for (const other of [{ phone_number: phone }, { start: '0' }, { end: '4000000000' }]) {
    expect(await rejected(theirs, { limit: '1', cursor, ...other })).toEqual(invalid);
  }
  await expect.poll(() => idsOf(theirs, { limit: '100', cursor })).toHaveLength(1);
});

test('parameters that are wrong return 422 and name each of them', async () => {
  const { token } = await newBusiness();
  const phone_number = 'erased-0190f3a0-7b1c-7d3e-8f00-00112233aabb';
  const { status, body } = await fail('listReceipts', {
    token,
    query: { limit: '101', phone_number, start: 'yesterday', end: '-1' },
  });
  expect(status).toBe(422);
  expect(body.errors?.map(({ parameter }) => parameter).sort()).toEqual(['end', 'limit', 'phone_number', 'start']);
});
