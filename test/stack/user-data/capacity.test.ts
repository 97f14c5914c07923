/**
 * What a user data request costs, in capacity units as the table reports them, for items under 1 KB. Index writes within
 * transactions are not reported by every database, and are left out.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { test as always, expect } from 'vitest';
import { createAccount, updateAccount } from '../../../infra/operator/queries/accounts-admin.ts';
import { answerRequest, fetchAgain, fetchRequest, retrieve, startRequest } from '../../../shared/user-data/requests.ts';
import type { PropertyName } from '../../../shared/users/profile-properties.ts';
import { updateUser } from '../../../shared/users/users.ts';
import { consumedBy } from '../support/consumed.ts';
import { useOwnTable } from '../support/own-table.ts';
import { newAccountId, newPhone } from '../support/world.ts';

/** DynamoDB Local reports other units for transactions than DynamoDB takes: 4 for a write of two. */
const test = always.skipIf(process.env.DYNAMODB_ENDPOINT);

useOwnTable('user-data-capacity');

/** A business with as long an id as there may be, and a user. */
const world = async () => {
  const { id: account } = await createAccount({ name: 'Test', id: newAccountId().padEnd(40, '0') });
  const phone = newPhone();
  const properties = {
    first_name: { value: 'Thandi', source: 'user' },
    last_name: { value: 'Zoë', source: 'user' },
    device_platform: { value: 'android', source: 'device' },
    app_version: { value: '2.1', source: 'device' },
  };
  await updateUser(randomUUID(), { phone_number: phone, properties });
  return { account, phone };
};

const asking = (...names: PropertyName[]) => ({
  reason: 'x'.repeat(100),
  data: names.map((property) => ({ property, required: false })),
});

/** A request that waits for its user. */
const pending = async (account: string, phone: string, ...names: PropertyName[]): Promise<string> =>
  (await startRequest(account, phone, asking(...names), undefined)).id;

/** An account that hears on a plain webhook of what is completed. */
const giveWebhook = (account: string) => {
  const settings = { url: 'https://example.com/', secret: `whsec_${randomBytes(32).toString('base64')}` };
  return updateAccount(account, { platform: { name: 'webhook', settings } });
};

test('asking costs 6 write units in one transaction, and 2 read units', async () => {
  const { account, phone } = await world();
  // Profile and account 1 each; request, entry and head 2 each.
  const start = (key?: string) => startRequest(account, phone, asking('first_name', 'last_name'), key);
  expect(await consumedBy(() => start())).toMatchObject({ calls: 3, table: 8 });
  expect(await consumedBy(() => start('key'))).toMatchObject({ calls: 3, table: 8 });
  // The database reports nothing for a transaction that was refused; DynamoDB takes as much as for one that was not.
  // The first request is read: 1.
  expect(await consumedBy(() => start('key'))).toMatchObject({ table: 3 });
});

test('what is granted at once adds 4 write units, however much it is; where nobody is asked, 4 fall away', async () => {
  const { account, phone } = await world();
  const start = (...names: PropertyName[]) => startRequest(account, phone, asking(...names), undefined);
  // The receipt and the check that the user is still there 2 each.
  expect(await consumedBy(() => start('first_name', 'app_version', 'device_platform'))).toMatchObject({ table: 12 });
  expect(await consumedBy(() => start('app_version', 'device_platform'))).toMatchObject({ calls: 3, table: 8 });
  // Nothing is released.
  expect(await consumedBy(() => start('device_make'))).toMatchObject({ calls: 3, table: 4 });
  await giveWebhook(account);
  expect(await consumedBy(() => start('app_version'))).toMatchObject({ calls: 3, table: 12 });
});

test('a look at a request costs 1 read unit, and half a one if it may be a little behind', async () => {
  const { account, phone } = await world();
  const id = await pending(account, phone, 'first_name');
  expect(await consumedBy(() => fetchRequest(account, id))).toEqual({ calls: 1, table: 1, indexes: 0 });
  expect(await consumedBy(() => fetchAgain(account, id))).toEqual({ calls: 1, table: 0.5, indexes: 0 });
  await answerRequest(id, { first_name: 'approved' });
  expect(await consumedBy(() => fetchRequest(account, id))).toEqual({ calls: 1, table: 1, indexes: 0 });
  expect(await consumedBy(() => fetchAgain(account, id))).toEqual({ calls: 1, table: 0.5, indexes: 0 });
});

test('a retrieval in one call costs 1 write unit and 1 read unit; the read alone where nothing is released', async () => {
  const { account, phone } = await world();
  const names: PropertyName[] = ['app_version', 'device_platform', 'device_make'];
  expect(await consumedBy(() => retrieve(account, phone, names))).toEqual({ calls: 2, table: 2, indexes: 0 });
  expect(await consumedBy(() => retrieve(account, phone, ['device_make']))).toMatchObject({ calls: 1, table: 1 });
  const refused = () => expect(retrieve(account, phone, ['app_version', 'first_name'])).rejects.toThrow();
  expect(await consumedBy(refused)).toMatchObject({ calls: 0, table: 0 });
});

test('an answer costs 6 write units and 2 read units, and another one at the end; 4 write units without an approval', async () => {
  const { account, phone } = await world();
  const id = await pending(account, phone, 'first_name', 'last_name', 'number', 'citizenship');
  const answer = (answers: Parameters<typeof answerRequest>[1]) => consumedBy(() => answerRequest(id, answers));
  // Request and profile 1 each; request, check of the user and receipt 2 each.
  expect(await answer({ first_name: 'approved', last_name: 'approved' })).toMatchObject({ calls: 3, table: 8 });
  expect(await answer({ number: 'denied' })).toMatchObject({ calls: 3, table: 6 });
  // A repeated one: the request.
  expect(await answer({ first_name: 'approved', number: 'approved' })).toMatchObject({ calls: 1, table: 1 });
  // The last one looks at the account.
  expect(await answer({ citizenship: 'denied' })).toMatchObject({ calls: 4, table: 7 });
  expect(await answer({ citizenship: 'denied' })).toMatchObject({ calls: 1, table: 1 });
});

test('telling a plain webhook that a request is completed adds 4 write units; chat platforms are not told', async () => {
  const { account, phone } = await world();
  await giveWebhook(account);
  const id = await pending(account, phone, 'first_name', 'last_name');
  const answer = (answers: Parameters<typeof answerRequest>[1]) => consumedBy(() => answerRequest(id, answers));
  expect(await answer({ first_name: 'approved' })).toMatchObject({ calls: 3, table: 8 });
  expect(await answer({ last_name: 'approved' })).toMatchObject({ calls: 4, table: 13 });

  const other = await world();
  await updateAccount(other.account, { platform: { name: 'rapidpro', settings: { url: 'https://example.com/' } } });
  const untold = await pending(other.account, other.phone, 'first_name');
  expect(await consumedBy(() => answerRequest(untold, { first_name: 'approved' }))).toMatchObject({ table: 9 });
});
