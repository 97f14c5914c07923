/**
 * GET /v1/users/{user}: one user, by number or id.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { showAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { personalDataOf } from '../../../../infra/operator/queries/personal-data-export.ts';
import { listConsentReceipts } from '../../../../shared/user-data/consent-receipts.ts';
import { eraseUser } from '../../../../shared/user-data/erasure.ts';
import { applied, at, updated } from '../../support/app-events.ts';
import { call, fail } from '../../support/client.ts';
import { newCaller, newPhone } from '../../support/world.ts';

const device = (value: string) => ({ value, source: 'device' });

const properties = { first_name: { value: 'Thandi', source: 'user' }, device_make: device('Acme') };

/** Registers a user with an id. */
const register = async (data: object = {}): Promise<{ phone: string; id: string }> => {
  const [phone, id] = [newPhone(), randomUUID()];
  await applied(updated(phone, { id, ...data }));
  return { phone, id };
};

const found = async (token: string, user: string) =>
  (await call('readUser', { token, path: { user } })).body.user_profile;

const isUnknown = async (token: string, user: string): Promise<boolean> => {
  const { status, body } = await fail('readUser', { token, path: { user } });
  return status === 404 && body.code === 'user_not_found';
};

test('a user is found by number and by id, with the automatic properties, and each release has a receipt', async () => {
  const { account, token } = await newCaller('contacts');
  const { phone, id } = await register({ properties });
  const profile = {
    number: phone,
    id,
    contact: expect.stringMatching(`^${phone}@`),
    properties: { device_make: { ...device('Acme'), timestamp: expect.stringMatching(/^\d{4}-.*\.\d{6}$/) } },
  };
  expect(await found(token, phone)).toEqual(profile);
  expect(await found(token, id.toUpperCase())).toEqual(profile);
  const receipts = await listConsentReceipts(phone);
  expect(receipts).toHaveLength(2);
  for (const receipt of receipts) expect(receipt).toMatchObject({ account, properties: ['device_make'] });
  expect(JSON.stringify(receipts)).not.toContain('Acme');
});

test('a user who has stopped the account returns 403 user_opted_out, and nothing is released', async () => {
  const { account, token } = await newCaller('contacts');
  const { phone, id } = await register({ properties });
  const { bot_number: to } = await showAccount(account);
  await applied({ id: randomUUID(), type: 'user.stopped', data: { from: phone, to } });
  for (const user of [phone, id]) {
    const { status, body } = await fail('readUser', { token, path: { user } });
    expect({ status, code: body.code }).toEqual({ status: 403, code: 'user_opted_out' });
  }
  expect(await listConsentReceipts(phone)).toEqual([]);
});

test('a user without id and properties has neither, and no receipt', async () => {
  const { token } = await newCaller('contacts');
  const phone = newPhone();
  await applied(updated(phone, { properties: { first_name: properties.first_name } }));
  expect(await found(token, phone)).toEqual({ number: phone, contact: expect.any(String), properties: {} });
  expect(await listConsentReceipts(phone)).toEqual([]);
});

test.each([['27000000000'], [randomUUID()], ['__proto__'], ['a#b/../c'], [' ']])(
  '%j returns 404 user_not_found',
  async (user) => {
    const { token } = await newCaller('contacts');
    expect(await isUnknown(token, user)).toBe(true);
  },
);

test('a number in another format returns 422, which says so', async () => {
  const { token } = await newCaller('contacts');
  const { status, body } = await fail('readUser', { token, path: { user: '+27821234567' } });
  expect(status).toBe(422);
  expect(body.errors).toEqual([{ parameter: 'user', detail: expect.stringContaining('contains +') }]);
});

describe('an id', () => {
  test('moves with its user to another number, and the previous number is erased', async () => {
    const { token } = await newCaller('contacts');
    const { phone: former, id } = await register({ properties });
    const present = newPhone();
    await applied(updated(present, { id }));
    expect(await found(token, id)).toMatchObject({ number: present, id });
    expect(await isUnknown(token, former)).toBe(true);
    expect((await personalDataOf(former)).profile).toBeNull();
  });

  test('moves in the order of a batch, also without timestamps', async () => {
    const { token } = await newCaller('contacts');
    const [first, second, third, id] = [newPhone(), newPhone(), newPhone(), randomUUID()];
    await applied([first, second, third].map((phone) => updated(phone, { id })));
    expect(await found(token, id)).toMatchObject({ number: third });
    for (const phone of [first, second]) expect(await isUnknown(token, phone)).toBe(true);
  });

  test('stays if the event of the previous number comes later, or again', async () => {
    const { token } = await newCaller('contacts');
    const [first, second, id] = [newPhone(), newPhone(), randomUUID()];
    await applied(at('2026-11-20T10:00:00Z', updated(second, { id })));
    await applied(at('2026-11-20T09:00:00Z', updated(first, { id })));
    expect(await found(token, id)).toMatchObject({ number: second });
    expect(await isUnknown(token, first)).toBe(true);

    const event = updated(first, { id });
    await applied(event);
    await applied(updated(second, { id }));
    await applied(event);
    expect(await found(token, id)).toMatchObject({ number: second });
  });

  test('is replaced by a newer one of the same number, and leads nowhere then', async () => {
    const { token } = await newCaller('contacts');
    const { phone, id } = await register();
    const next = randomUUID();
    await applied(updated(phone, { id: next }));
    expect(await isUnknown(token, id)).toBe(true);
    expect(await found(token, next)).toMatchObject({ number: phone, id: next });
    await applied(updated(phone, { panelist: true }));
    expect(await found(token, phone)).toMatchObject({ id: next });
  });

  test('leads nowhere after the erasure of its user, and is in the export before', async () => {
    const { token } = await newCaller('contacts');
    const { phone, id } = await register();
    expect((await personalDataOf(phone)).profile).toMatchObject({ id });
    await eraseUser(phone);
    expect(await isUnknown(token, id)).toBe(true);
    await applied(updated(phone, {}));
    expect(await isUnknown(token, id)).toBe(true);
    expect(await found(token, phone)).not.toHaveProperty('id');
  });
});
