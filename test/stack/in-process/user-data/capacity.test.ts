/**
 * Cost of user data requests, in capacity units that the table reports, for items under 1 KB. Index writes within
 * transactions are excluded, because not every database reports them.
 *
 * @module-tag long
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { test as always, expect } from 'vitest';
import { createAccount, updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { acknowledgeDeletion, withdrawConsent } from '../../../../shared/user-data/consent-ends.ts';
import { listReceipts } from '../../../../shared/user-data/receipt-list.ts';
import { answerRequest } from '../../../../shared/user-data/request-answers.ts';
import { listRequests } from '../../../../shared/user-data/request-list.ts';
import { fetchAgain, fetchRequest, retrieve, startRequest } from '../../../../shared/user-data/requests.ts';
import type { PropertyName } from '../../../../shared/users/profile-properties.ts';
import { updateUser } from '../../../../shared/users/users.ts';
import { consumedBy } from '../../support/consumed.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newAccountId, newPhone } from '../../support/world.ts';

/** DynamoDB Local reports other units for transactions than DynamoDB charges: 4 for a transaction of two writes. */
const test = always.skipIf(process.env.DYNAMODB_ENDPOINT);

useOwnTable('user-data-capacity');

/** A business with an id of the maximum length, and a user. */
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

const bodyFor = (...names: PropertyName[]) => ({
  reason: 'x'.repeat(100),
  data: names.map((property) => ({ property, required: false })),
});

/** Starts a request that stays pending until the user answers. Returns its id. */
const pending = async (account: string, phone: string, ...names: PropertyName[]): Promise<string> =>
  (await startRequest(account, phone, bodyFor(...names), undefined)).id;

/** Gives an account a plain webhook, which is notified of completed requests. */
const giveWebhook = (account: string) => {
  const settings = { url: 'https://example.com/', secret: `whsec_${randomBytes(32).toString('base64')}` };
  return updateAccount(account, { platform: { name: 'webhook', settings } });
};

test('starting a request costs 6 write units in one transaction, and 4 read units', async () => {
  const { account, phone } = await world();
  // Allowance, profile, account and opt-out: 1 each. Request, entry and head: 2 each.
  const start = (key?: string) => startRequest(account, phone, bodyFor('first_name', 'last_name'), key);
  expect(await consumedBy(() => start())).toMatchObject({ calls: 5, table: 10 });
  // The record of the key: 1 read unit and 2 write units; for a repeat, the read unit alone.
  expect(await consumedBy(() => start('key'))).toMatchObject({ calls: 6, table: 13 });
  expect(await consumedBy(() => start('key'))).toMatchObject({ calls: 1, table: 1 });
});

test('properties that are granted at once add 6 write units, and a request without approval saves 4', async () => {
  const { account, phone } = await world();
  const start = (...names: PropertyName[]) => startRequest(account, phone, bodyFor(...names), undefined);
  // The consent, the receipt, and the check that the user still exists: 2 each.
  expect(await consumedBy(() => start('first_name', 'app_version', 'device_platform'))).toMatchObject({ table: 16 });
  expect(await consumedBy(() => start('app_version', 'device_platform'))).toMatchObject({ calls: 5, table: 12 });
  // Nothing is released.
  expect(await consumedBy(() => start('device_make'))).toMatchObject({ calls: 5, table: 6 });
  await giveWebhook(account);
  expect(await consumedBy(() => start('app_version'))).toMatchObject({ calls: 5, table: 16 });
});

test('fetching a request costs 1 read unit, and half a read unit with eventual consistency', async () => {
  const { account, phone } = await world();
  const id = await pending(account, phone, 'first_name');
  expect(await consumedBy(() => fetchRequest(account, id))).toMatchObject({ calls: 1, table: 1, indexes: 0 });
  expect(await consumedBy(() => fetchAgain(account, id))).toMatchObject({ calls: 1, table: 0.5, indexes: 0 });
  await answerRequest(id, { first_name: 'approved' });
  expect(await consumedBy(() => fetchRequest(account, id))).toMatchObject({ calls: 1, table: 1, indexes: 0 });
  expect(await consumedBy(() => fetchAgain(account, id))).toMatchObject({ calls: 1, table: 0.5, indexes: 0 });
});

test('a list costs half a read unit for each request of the page and for each status, however many requests there are', async () => {
  const { account, phone } = await world();
  const list = (status: 'completed' | undefined, limit: number) =>
    consumedBy(() => listRequests(account, { status }, limit));
  expect(await list(undefined, 2)).toMatchObject({ calls: 2, table: 0, indexes: 1 });
  for (let count = 0; count < 4; count += 1) await pending(account, phone, 'first_name');
  const answered = await pending(account, phone, 'first_name');
  await answerRequest(answered, { first_name: 'approved' });
  expect(await list(undefined, 2)).toMatchObject({ calls: 3, table: 1, indexes: 1 });
  expect(await list(undefined, 100)).toMatchObject({ calls: 3, table: 2.5, indexes: 1 });
  // The requests of the other status cost nothing.
  expect(await list('completed', 100)).toMatchObject({ calls: 2, table: 0.5, indexes: 0.5 });
});

test('a list of receipts costs 1.5 read units, and half a unit for each receipt of the page', async () => {
  const { account, phone } = await world();
  const list = (filter: { phone_number?: string }, limit: number) =>
    consumedBy(() => listReceipts(account, filter, limit));
  expect(await list({}, 2)).toMatchObject({ calls: 2, table: 1, indexes: 0.5 });
  for (let count = 0; count < 4; count += 1) {
    const id = await pending(account, phone, 'first_name');
    await answerRequest(id, { first_name: 'approved' });
  }
  expect(await list({}, 2)).toMatchObject({ calls: 3, table: 2, indexes: 0.5 });
  expect(await list({ phone_number: phone }, 100)).toMatchObject({ calls: 3, table: 3, indexes: 0.5 });
});

test('a one-shot retrieval costs 1 write and 3 read units, and only the read units if no value is released', async () => {
  const { account, phone } = await world();
  const names: PropertyName[] = ['app_version', 'device_platform', 'device_make'];
  expect(await consumedBy(() => retrieve(account, phone, names))).toMatchObject({ calls: 4, table: 4, indexes: 0 });
  expect(await consumedBy(() => retrieve(account, phone, ['device_make']))).toMatchObject({ calls: 3, table: 3 });
  const refused = () => expect(retrieve(account, phone, ['app_version', 'first_name'])).rejects.toThrow();
  expect(await consumedBy(refused)).toMatchObject({ calls: 0, table: 0 });
});

test('an answer costs 8 write units and 2 read units, a denial 4 write units, and the last answer 1 read unit more', async () => {
  const { account, phone } = await world();
  const id = await pending(account, phone, 'first_name', 'last_name', 'number', 'citizenship');
  const answer = (answers: Parameters<typeof answerRequest>[1]) => consumedBy(() => answerRequest(id, answers));
  // Reads of request and profile: 1 each. Writes of request, consent and receipt, and the check of the user: 2 each.
  expect(await answer({ first_name: 'approved', last_name: 'approved' })).toMatchObject({ calls: 3, table: 10 });
  expect(await answer({ number: 'denied' })).toMatchObject({ calls: 3, table: 6 });
  // A repeated answer reads only the request.
  expect(await answer({ first_name: 'approved', number: 'approved' })).toMatchObject({ calls: 1, table: 1 });
  // The last answer also reads the account.
  expect(await answer({ citizenship: 'denied' })).toMatchObject({ calls: 4, table: 7 });
  expect(await answer({ citizenship: 'denied' })).toMatchObject({ calls: 1, table: 1 });
});

test('notifying a plain webhook of a completed request adds 4 write units; a chat platform adds none', async () => {
  const { account, phone } = await world();
  await giveWebhook(account);
  const id = await pending(account, phone, 'first_name', 'last_name');
  const answer = (answers: Parameters<typeof answerRequest>[1]) => consumedBy(() => answerRequest(id, answers));
  expect(await answer({ first_name: 'approved' })).toMatchObject({ calls: 3, table: 10 });
  expect(await answer({ last_name: 'approved' })).toMatchObject({ calls: 5, table: 16 });

  const other = await world();
  await updateAccount(other.account, { platform: { name: 'rapidpro', settings: { url: 'https://example.com/' } } });
  const unreported = await pending(other.account, other.phone, 'first_name');
  expect(await consumedBy(() => answerRequest(unreported, { first_name: 'approved' }))).toMatchObject({ table: 11 });
});

test('a withdrawal costs 1 read unit and 12 write units, its repeat 1 read unit, and an acknowledgement 2 and 4', async () => {
  const { account, phone } = await world();
  const id = await pending(account, phone, 'first_name', 'last_name');
  await answerRequest(id, { first_name: 'approved', last_name: 'approved' });
  const withdraw = () => withdrawConsent(id, ['first_name']);
  expect(await consumedBy(withdraw)).toMatchObject({ calls: 2, table: 13, indexes: 4 });
  expect(await consumedBy(withdraw)).toMatchObject({ calls: 1, table: 1, indexes: 0 });
  // After the acknowledgement it reads again, to see that nothing is left.
  expect(await consumedBy(() => acknowledgeDeletion(account, id))).toMatchObject({ calls: 3, table: 6, indexes: 3 });
});
