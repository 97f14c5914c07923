/**
 * The cost of contacts, and charges at the same time, on a separate table.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { test as always, expect, vi } from 'vitest';
import { allowancesOf, chargeAllowance } from '../../../../shared/accounts/allowances.ts';
import { putAll } from '../../../../shared/table/client.ts';
import { removeUser } from '../../../../shared/user-data/erasure.ts';
import { matchContacts, readUserProfile } from '../../../../shared/user-data/user-profile.ts';
import { contactHash, contactKey } from '../../../../shared/users/entities.ts';
import { updateUser } from '../../../../shared/users/users.ts';
import { consumedBy } from '../../support/consumed.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newAccountId, newPhone } from '../../support/world.ts';

/** DynamoDB Local reports other units than DynamoDB charges, for transactions and for items that do not exist. */
const test = always.skipIf(process.env.DYNAMODB_ENDPOINT);

useOwnTable('contacts-capacity');

const MOST = 3_000;

test('3,000 contacts cost 1,500 read units and 1 write unit, in 31 calls', async () => {
  const phones = Array.from({ length: MOST }, (_, index) => `27${String(index).padStart(9, '0')}`);
  const registered = phones.filter((_, index) => index % 3 === 0);
  await putAll(
    registered.map((phone) => ({ ...contactKey(contactHash(phone)), created: '2026-11-20T09:58:09.118000' })),
  );
  const account = newAccountId();
  let found: string[] = [];
  const match = async () => {
    found = await matchContacts(account, phones, false);
  };
  expect(await consumedBy(match)).toMatchObject({ calls: 31, table: 1_501, indexes: 0 });
  expect(found).toEqual(registered);
  // A contact that is given several times is read once, and charged once.
  expect(await consumedBy(() => matchContacts(account, ['271', '272', '271'], false))).toMatchObject({ table: 2 });
  expect((await allowancesOf(account)).contacts.used).toBe(MOST + 2);
});

test('reading a user costs 2 read units, 3 by id, and 2 write units', async () => {
  const [account, phone, id] = [newAccountId(), newPhone(), randomUUID()];
  const device_make = { value: 'Acme', source: 'device' };
  await updateUser(randomUUID(), { phone_number: phone, id, properties: { device_make } });
  expect(await consumedBy(() => readUserProfile(account, phone))).toMatchObject({ calls: 4, table: 4 });
  expect(await consumedBy(() => readUserProfile(account, id))).toMatchObject({ calls: 5, table: 5 });
});

test('a report about a user costs 4 write units and 1 read unit, and more only if the user or the id is new', async () => {
  const [phone, id, next] = [newPhone(), randomUUID(), randomUUID()];
  const report = (data: object = {}, at?: string) =>
    consumedBy(() => updateUser(randomUUID(), { phone_number: phone, ...data }, { at }));
  // The contact: 2.
  expect(await report()).toMatchObject({ calls: 2, table: 7 });
  expect(await report()).toMatchObject({ calls: 2, table: 5 });
  // The id is read, and written: 1 and 2.
  expect(await report({ id })).toMatchObject({ calls: 3, table: 8 });
  expect(await report({ id })).toMatchObject({ calls: 3, table: 6 });
  // The former id is read, and removed: 1 and 2.
  expect(await report({ id: next })).toMatchObject({ calls: 4, table: 11 });
  const later = new Date(Date.now() + 1_000).toISOString().replace('Z', '000');
  expect(await report({ panelist: true }, later)).toMatchObject({ calls: 3, table: 6 });
  // User, contact, id, marker, erasure and event: 2 each; the user and the id are read.
  expect(await consumedBy(() => removeUser(randomUUID(), phone))).toMatchObject({ calls: 3, table: 14 });
});

always('charges at the same time never exceed the allowance, and the next day has a new one', async () => {
  vi.stubEnv('CONTACT_ALLOWANCE', '1000');
  const account = newAccountId();
  const charge = () =>
    chargeAllowance(account, 'contacts', 90).then(
      () => 'charged',
      ({ code }) => code,
    );
  const results = await Promise.all(Array.from({ length: 20 }, charge));
  expect(results.filter((result) => result === 'charged')).toHaveLength(11);
  expect(results.filter((result) => result === 'allowance_exceeded')).toHaveLength(9);
  expect(await allowancesOf(account)).toMatchObject({ contacts: { limit: 1_000, used: 990 } });
  await expect(chargeAllowance(account, 'contacts', 1_001)).rejects.toMatchObject({
    code: 'allowance_exceeded',
    detail: expect.stringContaining('this request has 1001'),
  });
  // A lowered setting applies at once.
  vi.stubEnv('CONTACT_ALLOWANCE', '500');
  await expect(chargeAllowance(account, 'contacts', 1)).rejects.toMatchObject({
    detail: expect.stringContaining('0 are left'),
  });
  vi.stubEnv('CONTACT_ALLOWANCE', '100000');
  const tomorrow = (Math.floor(Date.now() / 86_400_000) + 1) * 86_400_000;
  vi.useFakeTimers({ toFake: ['Date'], now: tomorrow });
  expect(await allowancesOf(account)).toMatchObject({ contacts: { used: 0 } });
  await chargeAllowance(account, 'contacts', 90);
  expect(await allowancesOf(account)).toMatchObject({ contacts: { used: 90 } });
  vi.useRealTimers();
});
