/** Accounts and tokens in the table: what is made of names, what is refused, and what a change leaves as it is. */
import { describe, expect, test } from 'vitest';
import {
  createAccount,
  findPlatform,
  listAccounts,
  Refusal,
  updateAccount,
} from '../../../infra/operator/queries/accounts-admin.ts';
import { issueToken, listTokens, revokeToken } from '../../../infra/operator/queries/tokens-admin.ts';
import { accountOfBot, findAccount, type NumberItem } from '../../../shared/accounts/accounts.ts';
import { hashToken } from '../../../shared/accounts/tokens.ts';
import { APP_NETWORK } from '../../../shared/core/permissions.ts';
import { getConsistent, putIfAbsent } from '../../../shared/table/client.ts';
import { accountKey, hookKey, numberKey, tokenKey } from '../../../shared/table/keys.ts';
import { useOwnTable } from '../support/own-table.ts';
import { newAccountId, newPhone } from '../support/world.ts';

useOwnTable('accounts');

/** Why something is refused. */
const refusal = async (pending: Promise<unknown>): Promise<string> => {
  const error = await pending.catch((thrown: unknown) => thrown);
  if (!(error instanceof Refusal)) throw new Error(`It is not refused: ${error}`);
  expect(error.name).toBe('Refusal');
  return error.message;
};

const newAccount = async (): Promise<string> => (await createAccount({ name: 'Test', id: newAccountId() })).id;

const settings = { url: 'https://customer.example.com/', secret: `whsec_${Buffer.alloc(24).toString('base64')}` };

test('the account of the app network is there from its first token on, and from no other', async () => {
  await issueToken(await newAccount(), { label: 'test', permissions: ['messages'] });
  expect((await listAccounts()).map(({ id }) => id)).not.toContain(APP_NETWORK);
  await issueToken(APP_NETWORK, { label: 'test', permissions: ['app'] });
  expect(await listAccounts()).toContainEqual({ id: APP_NETWORK, name: 'App network' });
  expect(await findAccount(APP_NETWORK)).toMatchObject({ id: APP_NETWORK, name: 'App network' });
  await issueToken(APP_NETWORK, { label: 'another', permissions: ['app'] });
  expect(await listTokens(APP_NETWORK)).toHaveLength(2);
});

describe('an account', () => {
  test.each([
    ['Acme Research', 'acme-research'],
    ['  Zoë & Söhne (Österreich)! ', 'zoe-sohne-osterreich'],
    ['x'.repeat(41), 'x'.repeat(40)],
    [`${'x'.repeat(39)} y`, 'x'.repeat(39)],
    ['ﬁne №1', 'fine-no1'],
  ])('is known by its name, in letters, digits and hyphens: %s', async (name, id) => {
    expect(await createAccount({ name })).toMatchObject({ id, name });
  });

  test.each(['', '-acme', 'acme-', 'Acme', 'a'.repeat(41), 'acme#1'])('is known by nothing else: "%s"', async (id) => {
    expect(await refusal(createAccount({ name: 'Test', id }))).toBe(
      `"${id}" cannot be an account's id: use 1 to 40 of a-z, 0-9 and hyphens, not at its ends.`,
    );
  });

  test("does not get the app network's id, nor that of another one, nor its number", async () => {
    const [id, bot_number] = [newAccountId(), newPhone()];
    expect(await refusal(createAccount({ name: 'Test', id: APP_NETWORK }))).toBe(
      `"${APP_NETWORK}" is reserved for the app network.`,
    );
    await createAccount({ name: 'Test', id, bot_number });
    expect(await refusal(createAccount({ name: 'Test', id }))).toContain(`There is an account "${id}" already.`);
    const other = newAccountId();
    expect(await refusal(createAccount({ name: 'Test', id: other, bot_number }))).toContain(bot_number);
    expect(await findAccount(other)).toBeUndefined();
  });

  test('keeps what a change does not name', async () => {
    const bot_number = newPhone();
    const { id } = await createAccount({ name: 'Test', id: newAccountId(), bot_number });
    await updateAccount(id, { platform: { name: 'webhook', settings } });
    const { created } = (await findAccount(id)) ?? {};
    expect(await updateAccount(id, { name: 'Other' })).toEqual({
      id,
      name: 'Other',
      bot_number,
      platform: 'webhook',
      created,
    });
    expect(await findPlatform(id)).toEqual({ name: 'webhook', settings });
    expect(await accountOfBot(bot_number)).toBe(id);
  });

  test("loses the secret of its platform's requests where the next settings have none", async () => {
    const id = await newAccount();
    const turn = {
      name: 'turn',
      settings: { url: 'https://whatsapp.turn.io', channel: 'channel', token: 'token' },
    } as const;
    await updateAccount(id, { platform: { ...turn, hook: { hmac_secret: 'secret' } } });
    expect(await getConsistent(hookKey(id))).toMatchObject({ hook: { hmac_secret: 'secret' } });
    await updateAccount(id, { platform: turn });
    expect(await getConsistent(hookKey(id))).toBeUndefined();
    expect(await findPlatform(id)).toEqual(turn);
  });

  test('loses its number and its platform where that is said, and somebody else may have the number', async () => {
    const bot_number = newPhone();
    const { id } = await createAccount({ name: 'Test', id: newAccountId(), bot_number });
    await updateAccount(id, { platform: { name: 'webhook', settings } });
    expect(await updateAccount(id, { bot_number: null, platform: null })).not.toHaveProperty('platform');
    expect(await findAccount(id)).not.toHaveProperty('bot_number');
    expect(await findPlatform(id)).toBeUndefined();
    expect(await accountOfBot(bot_number)).toBeUndefined();
    const other = await newAccount();
    await updateAccount(other, { bot_number });
    expect(await accountOfBot(bot_number)).toBe(other);
    expect(await refusal(updateAccount(id, { bot_number }))).toBe(
      `The number ${bot_number} belongs to another account's bot. "number check ${bot_number}" shows whose.`,
    );
  });

  test('that is not there is changed by nothing', async () => {
    expect(await refusal(updateAccount('nobody', { name: 'Test' }))).toContain('There is no account "nobody".');
  });
});

/** The owner of a number, as it is at this moment. */
const ownerOf = async (number: string): Promise<string | undefined> =>
  (await getConsistent<NumberItem>(numberKey(number)))?.account;

/** So often two changes are made at the same time. */
const ROUNDS = 20;

describe('changes of an account at the same time', () => {
  test('all take effect: its name, its number and its platform', async () => {
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
      expect([await ownerOf(before), await ownerOf(bot_number)]).toEqual([undefined, id]);
    }
  });

  test('of its number leave it one, and orphan none', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const numbers = [newPhone(), newPhone(), newPhone()];
      const [bot_number = '', ...others] = numbers;
      const { id } = await createAccount({ name: 'Test', id: newAccountId(), bot_number });
      await Promise.all(others.map((other) => updateAccount(id, { bot_number: other })));
      const { bot_number: last } = (await findAccount(id)) ?? {};
      expect(others).toContain(last);
      expect(await Promise.all(numbers.map(ownerOf))).toEqual(numbers.map((one) => (one === last ? id : undefined)));
    }
  });

  test('of the settings of its platform all take effect, each made of the one before', async () => {
    const id = await newAccount();
    const secrets = Array.from({ length: 8 }, (_, place) => `whsec_${Buffer.alloc(24, place).toString('base64')}`);
    const adding = (secret: string) =>
      updateAccount(id, {
        platform: (current) => ({ name: 'webhook', settings: { ...current?.settings, [secret]: secret } }),
      });
    await Promise.all(secrets.map(adding));
    expect(Object.keys((await findPlatform(id))?.settings ?? {}).toSorted()).toEqual(secrets.toSorted());
  });

  test('take effect though the account has no version yet', async () => {
    const id = newAccountId();
    await putIfAbsent({ ...accountKey(id), id, name: 'Test', created: '2026-01-01T00:00:00.000000' });
    const bot_number = newPhone();
    await Promise.all([updateAccount(id, { name: 'Other' }), updateAccount(id, { bot_number })]);
    expect(await findAccount(id)).toEqual({
      id,
      name: 'Other',
      bot_number,
      created: '2026-01-01T00:00:00.000000',
    });
  });

  test('of two accounts give a number to one of them', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const [accounts, bot_number] = [[await newAccount(), await newAccount()], newPhone()];
      const given = await Promise.allSettled(accounts.map((id) => updateAccount(id, { bot_number })));
      const place = given.findIndex(({ status }) => status === 'fulfilled');
      expect(given.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      expect(await ownerOf(bot_number)).toBe(accounts[place]);
      const named = await Promise.all(accounts.map(async (id) => (await findAccount(id))?.bot_number));
      expect(named).toEqual(accounts.map((_, one) => (one === place ? bot_number : undefined)));
    }
  });
});

describe('an account that names a number which is not its own', () => {
  const misnamed = async (owner: string | undefined) => {
    const [id, bot_number] = [newAccountId(), newPhone()];
    await putIfAbsent({ ...accountKey(id), id, name: 'Test', created: '2026-01-01T00:00:00.000000', bot_number });
    if (owner !== undefined) await putIfAbsent<NumberItem>({ ...numberKey(bot_number), account: owner });
    return { id, bot_number };
  };

  test.each<[string, string | null]>([
    ['changes it', newPhone()],
    ['has none any more', null],
  ])('leaves it to its owner when it %s', async (_, wanted) => {
    const owner = await newAccount();
    const { id, bot_number } = await misnamed(owner);
    await updateAccount(id, { bot_number: wanted });
    expect(await ownerOf(bot_number)).toBe(owner);
    expect((await findAccount(id))?.bot_number).toBe(wanted ?? undefined);
  });

  test('gets it where it is given again and nobody has it', async () => {
    const { id, bot_number } = await misnamed(undefined);
    await updateAccount(id, { bot_number });
    expect(await ownerOf(bot_number)).toBe(id);
  });
});

test('revocations of a token at the same time keep all that is known of it, and one time', async () => {
  const account = await newAccount();
  const { record } = await issueToken(account, { label: 'test', permissions: ['stats'] });
  const revoked = await Promise.all(Array.from({ length: 5 }, () => revokeToken(account, record.id)));
  expect(new Set(revoked.map(({ revoked }) => revoked)).size).toBe(1);
  expect(await listTokens(account)).toEqual([{ ...record, revoked: expect.any(String) }]);
});

describe('a token', () => {
  test('is kept by its hash alone, with its end in seconds', async () => {
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

  test('that does not end says nothing of an end', async () => {
    const { token, record } = await issueToken(await newAccount(), { label: 'test', permissions: ['messages'] });
    expect(record).not.toHaveProperty('expires');
    expect(await getConsistent(tokenKey(hashToken(token)))).not.toHaveProperty('expires_at');
  });

  test('needs a permission, and an end that is to come', async () => {
    const account = await newAccount();
    expect(await refusal(issueToken(account, { label: 'test', permissions: [] }))).toBe(
      'A token needs at least one permission.',
    );
    const expires = Date.now() - 1;
    expect(await refusal(issueToken(account, { label: 'test', permissions: ['stats'], expires }))).toBe(
      'The expiry is in the past.',
    );
    expect(await listTokens(account)).toEqual([]);
  });

  test('that an account does not have is not revoked', async () => {
    const account = await newAccount();
    const { record } = await issueToken(await newAccount(), { label: 'test', permissions: ['stats'] });
    expect(await refusal(revokeToken(account, record.id))).toBe(
      `Account "${account}" has no token with the id ${record.id}. "token list ${account}" shows them.`,
    );
  });

  test('is revoked once, and stays so', async () => {
    const account = await newAccount();
    const { token, record } = await issueToken(account, { label: 'test', permissions: ['stats'] });
    const revoked = await revokeToken(account, record.id);
    expect(await getConsistent(tokenKey(hashToken(token)))).toBeUndefined();
    expect(await revokeToken(account, record.id)).toEqual(revoked);
    expect(await listTokens(account)).toEqual([revoked]);
  });
});
