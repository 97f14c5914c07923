/**
 * Accounts and tokens in the table: ids from names, rejected changes, simultaneous changes, and unchanged fields.
 *
 * @module-tag long
 */
import { describe, expect, test } from 'vitest';
import {
  createAccount,
  findPlatform,
  listAccounts,
  UserError,
  updateAccount,
} from '../../../../infra/operator/queries/accounts-admin.ts';
import { issueToken, listTokens, revokeToken } from '../../../../infra/operator/queries/tokens-admin.ts';
import { accountOfBot, findAccount, type NumberItem } from '../../../../shared/accounts/accounts.ts';
import { accountKey, accountTokenKey, numberKey, tokenKey } from '../../../../shared/accounts/entities.ts';
import { hashToken } from '../../../../shared/accounts/tokens.ts';
import { timestamp } from '../../../../shared/core/clock.ts';
import { APP_NETWORK } from '../../../../shared/core/permissions.ts';
import { getConsistent, putIfAbsent } from '../../../../shared/table/client.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newAccountId, newPhone } from '../../support/world.ts';

useOwnTable('accounts');

/** The message of a rejected change. */
const refusal = async (pending: Promise<unknown>): Promise<string> => {
  const error = await pending.catch((thrown: unknown) => thrown);
  if (!(error instanceof UserError)) throw new Error(`The change was not rejected: ${error}`);
  expect(error.name).toBe('UserError');
  return error.message;
};

const newAccount = async (): Promise<string> => (await createAccount({ name: 'Test', id: newAccountId() })).id;

const settings = { url: 'https://customer.example.com/', secret: `whsec_${Buffer.alloc(24).toString('base64')}` };

test('the account of the app network is created with its first token, and not with tokens of other accounts', async () => {
  await issueToken(await newAccount(), { label: 'test', permissions: ['messages'] });
  expect((await listAccounts()).map(({ id }) => id)).not.toContain(APP_NETWORK);
  await issueToken(APP_NETWORK, { label: 'test', permissions: ['app'] });
  expect(await listAccounts()).toContainEqual({ id: APP_NETWORK, name: 'App network' });
  expect(await findAccount(APP_NETWORK)).toMatchObject({ id: APP_NETWORK, name: 'App network' });
  await issueToken(APP_NETWORK, { label: 'another', permissions: ['app'] });
  expect(await listTokens(APP_NETWORK)).toHaveLength(2);
});

test.each([
  ['Acme Research', 'acme-research'],
  ['  Zoë & Söhne (Österreich)! ', 'zoe-sohne-osterreich'],
  ['x'.repeat(41), 'x'.repeat(40)],
  [`${'x'.repeat(39)} y`, 'x'.repeat(39)],
  ['ﬁne №1', 'fine-no1'],
])('the account "%s" gets an id of letters, digits and hyphens from its name', async (name, id) => {
  expect(await createAccount({ name })).toMatchObject({ id, name });
});

test('a change keeps the fields that it does not contain', async () => {
  const bot_number = newPhone();
  const { id } = await createAccount({ name: 'Test', id: newAccountId(), bot_number });
  await updateAccount(id, { platform: { name: 'webhook', settings } });
  const { created } = (await findAccount(id)) ?? {};
  const changed = { id, name: 'Other', bot_number, platform: 'webhook', created };
  expect(await updateAccount(id, { name: 'Other' })).toEqual(changed);
  expect(await findPlatform(id)).toEqual({ name: 'webhook', settings });
  expect(await accountOfBot(bot_number)).toBe(id);
});

/** The number of times that simultaneous changes are repeated. */
const ROUNDS = 20;

describe('simultaneous changes', () => {
  test('simultaneous changes of name, number and platform all take effect', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const [before, bot_number] = [newPhone(), newPhone()];
      const { id } = await createAccount({ name: 'Test', id: newAccountId(), bot_number: before });
      await Promise.all([
        updateAccount(id, { name: 'Other' }),
        updateAccount(id, { bot_number }),
        updateAccount(id, { platform: { name: 'webhook', settings } }),
      ]);
      expect(await findAccount(id)).toMatchObject({ name: 'Other', bot_number, platform: 'webhook' });
      expect(await listAccounts()).toContainEqual({ id, name: 'Other' });
      expect([await accountOfBot(before), await accountOfBot(bot_number)]).toEqual([undefined, id]);
    }
  });

  test('simultaneous changes of the number leave the account with one number, and no number without an account', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const numbers = [newPhone(), newPhone(), newPhone()];
      const [bot_number = '', ...others] = numbers;
      const { id } = await createAccount({ name: 'Test', id: newAccountId(), bot_number });
      await Promise.all(others.map((other) => updateAccount(id, { bot_number: other })));
      const { bot_number: last } = (await findAccount(id)) ?? {};
      expect(others).toContain(last);
      expect(await Promise.all(numbers.map(accountOfBot))).toEqual(
        numbers.map((one) => (one === last ? id : undefined)),
      );
    }
  });

  test('simultaneous additions to the platform settings are all kept', async () => {
    const id = await newAccount();
    const secrets = Array.from({ length: 8 }, (_, place) => `whsec_${Buffer.alloc(24, place).toString('base64')}`);
    const adding = (secret: string) =>
      updateAccount(id, {
        platform: (current) => ({ name: 'webhook', settings: { ...current?.settings, [secret]: secret } }),
      });
    await Promise.all(secrets.map(adding));
    expect(Object.keys((await findPlatform(id))?.settings ?? {}).toSorted()).toEqual(secrets.toSorted());
  });

  test('of two accounts that take the same number simultaneously, one gets it and the other is rejected', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const [accounts, bot_number] = [[await newAccount(), await newAccount()], newPhone()];
      const given = await Promise.allSettled(accounts.map((id) => updateAccount(id, { bot_number })));
      const place = given.findIndex(({ status }) => status === 'fulfilled');
      expect(given.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      expect(await accountOfBot(bot_number)).toBe(accounts[place]);
      const named = await Promise.all(accounts.map(async (id) => (await findAccount(id))?.bot_number));
      expect(named).toEqual(accounts.map((_, one) => (one === place ? bot_number : undefined)));
    }
  });
});

describe('an account whose number is recorded for another owner', () => {
  const misnamed = async (owner: string | undefined) => {
    const [id, bot_number] = [newAccountId(), newPhone()];
    await putIfAbsent({ ...accountKey(id), id, name: 'Test', created: '2026-01-01T00:00:00.000000', bot_number });
    if (owner !== undefined) {
      await putIfAbsent<NumberItem>({ ...numberKey(bot_number), account: owner, claimed: timestamp() });
    }
    return { id, bot_number };
  };

  test.each<[string, string | null]>([
    ['changed', newPhone()],
    ['removed', null],
  ])('the owner keeps the number when it is %s in the other account', async (_, wanted) => {
    const owner = await newAccount();
    const { id, bot_number } = await misnamed(owner);
    await updateAccount(id, { bot_number: wanted });
    expect(await accountOfBot(bot_number)).toBe(owner);
    expect((await findAccount(id))?.bot_number).toBe(wanted ?? undefined);
  });

  test('an account gets its number back if it is set again and has no owner', async () => {
    const { id, bot_number } = await misnamed(undefined);
    await updateAccount(id, { bot_number });
    expect(await accountOfBot(bot_number)).toBe(id);
  });
});

test('simultaneous revocations of a token keep its record, with one time of revocation', async () => {
  const account = await newAccount();
  const { record } = await issueToken(account, { label: 'test', permissions: ['stats'] });
  const revoked = await Promise.all(Array.from({ length: 5 }, () => revokeToken(account, record.id)));
  expect(new Set(revoked.map(({ revoked }) => revoked)).size).toBe(1);
  expect(await listTokens(account)).toEqual([{ ...record, revoked: expect.any(String) }]);
});

describe('a token', () => {
  test('the table contains only the hash of a token, with its expiry in seconds', async () => {
    const account = await newAccount();
    const expires = Date.now() + 86_400_500;
    const { token, record } = await issueToken(account, { label: 'test', permissions: ['messages'], expires });
    expect(await getConsistent(tokenKey(hashToken(token)))).toMatchObject({
      account,
      token: record.id,
      permissions: ['messages'],
      expires_at: Math.floor(expires / 1_000),
    });
    expect(record).toMatchObject({ last_four: token.slice(-4), expires: new Date(expires).toISOString() });
    expect(JSON.stringify(await listTokens(account))).not.toContain(hashToken(token));
  });

  test('a token without an expiry has no expiry field in the table, and one without permissions is rejected', async () => {
    const { token, record } = await issueToken(await newAccount(), { label: 'test', permissions: ['messages'] });
    expect(record).not.toHaveProperty('expires');
    expect(await getConsistent(tokenKey(hashToken(token)))).not.toHaveProperty('expires_at');
    const withoutAny = issueToken(await newAccount(), { label: 'test', permissions: [] });
    expect(await refusal(withoutAny)).toBe('A token needs at least one permission.');
  });

  test('a record that is removed at some time is listed until then', async () => {
    const account = await newAccount();
    const ends = { label: 'test', permissions: ['stats' as const], expires: Date.now() + 60_000 };
    const { record } = await issueToken(account, { ...ends, forgotten: Date.now() + 120_000 });
    await issueToken(account, { ...ends, forgotten: Date.now() - 1_000 });
    const stays = await issueToken(account, ends);
    expect(await listTokens(account)).toEqual([record, stays.record]);
    await revokeToken(account, record.id);
    expect(await getConsistent(accountTokenKey(account, record.id))).toHaveProperty('expires_at');
  });
});
