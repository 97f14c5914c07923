/** The operator's command on bots' numbers: finds the ones that no account can have, and releases them. */
import { describe, expect, test } from 'vitest';
import { createAccount, updateAccount } from '../../../infra/operator/queries/accounts-admin.ts';
import { allNumbers, releaseOrphan } from '../../../infra/operator/queries/bot-numbers.ts';
import { findAccount, type NumberItem } from '../../../shared/accounts/accounts.ts';
import { getConsistent, putIfAbsent } from '../../../shared/table/client.ts';
import { accountKey, numberKey } from '../../../shared/table/keys.ts';
import { putAll } from '../support/many-items.ts';
import { newAccount, newId, operator, refusal } from '../support/operator.ts';
import { useOwnTable } from '../support/own-table.ts';
import { newPhone } from '../support/world.ts';

useOwnTable('operator-number');

/** A number whose row names this account. */
const numberOf = async (account: string): Promise<string> => {
  const number = newPhone();
  await putIfAbsent<NumberItem>({ ...numberKey(number), account });
  return number;
};

/** An account that names a number, whoever owns it. */
const naming = async (bot_number: string): Promise<string> => {
  const id = newId();
  await putIfAbsent({ ...accountKey(id), id, name: 'Test', created: '2026-01-01T00:00:00.000000', bot_number });
  await updateAccount(id, { name: 'Listed' });
  return id;
};

const check = async (...args: string[]) => {
  const { code, stdout, stderr } = await operator('number', 'check', ...args, '--json');
  return { code, stderr, found: JSON.parse(stdout) };
};

const isThere = async (number: string): Promise<boolean> => (await getConsistent(numberKey(number))) !== undefined;

test('a number whose account names it is good', async () => {
  const bot_number = newPhone();
  await createAccount({ name: 'Test', id: newId(), bot_number });
  const found = { checked: 1, orphaned: [], misnamed: [], released: [] };
  expect(await check(bot_number, '--release')).toEqual({ code: 0, stderr: '', found });
  expect((await operator('number', 'check', bot_number)).stdout).toBe(
    '1 checked, 0 orphaned, 0 released, 0 named by another account.\n',
  );
});

test('a number that nobody owns is nothing to repair', async () => {
  expect(await check(newPhone())).toMatchObject({ code: 0, found: { checked: 1, orphaned: [], misnamed: [] } });
});

describe('an orphaned number', () => {
  test.each<[string, () => Promise<string>]>([
    ['of no account', async () => newId()],
    ['of an account that names none', newAccount],
    [
      'of an account that names another one',
      async () => (await createAccount({ name: 'Test', id: newId(), bot_number: newPhone() })).id,
    ],
  ])('%s is found, released, and then free for any account', async (_, owner) => {
    const account = await owner();
    const number = await numberOf(account);
    const other = await newAccount();
    expect(await refusal('account', 'update', other, '--bot-number', number)).toContain(`"number check ${number}"`);

    const orphaned = [{ number, account }];
    expect(await check(number)).toEqual({
      code: 1,
      stderr: 'Add --release to release orphaned numbers for any account.\n',
      found: { checked: 1, orphaned, misnamed: [], released: [] },
    });
    expect(await isThere(number)).toBe(true);
    const { code, stdout, stderr } = await operator('number', 'check', number, '--release');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^${number} +${account} +was orphaned, is released$`, 'm'));
    expect(await isThere(number)).toBe(false);
    await updateAccount(other, { bot_number: number });
    expect((await check(number)).code).toBe(0);
  });

  test('that its account names by now is not released', async () => {
    const account = await newAccount();
    const number = await numberOf(account);
    await updateAccount(account, { bot_number: number });
    expect(await releaseOrphan({ number, account })).toBe(false);
    expect(await isThere(number)).toBe(true);
  });

  test('that another account owns by now is not released', async () => {
    const number = await numberOf(await newAccount());
    expect(await releaseOrphan({ number, account: newId() })).toBe(false);
    expect(await isThere(number)).toBe(true);
  });
});

describe('a number that an account names and does not own', () => {
  test('is given to it by the command that is named', async () => {
    const number = newPhone();
    const account = await naming(number);
    const { code, stderr, found } = await check(number, '--release');
    expect({ code, found }).toEqual({
      code: 1,
      found: { checked: 1, orphaned: [], misnamed: [{ number, account }], released: [] },
    });
    expect(stderr).toContain(`"account update ${account} --bot-number ${number}"`);
    await operator('account', 'update', account, '--bot-number', number);
    expect((await check(number)).code).toBe(0);
  });

  test('is taken from it by the command that is named, where another one owns it', async () => {
    const number = newPhone();
    const { id: owner } = await createAccount({ name: 'Test', id: newId(), bot_number: number });
    const account = await naming(number);
    const { code, stderr, found } = await check(number);
    expect({ code, found }).toMatchObject({ code: 1, found: { misnamed: [{ number, account, owner }] } });
    expect(stderr).toContain(`"account update ${account} --no-bot-number"`);
    await operator('account', 'update', account, '--no-bot-number');
    expect(await check(number)).toMatchObject({ code: 0, found: { misnamed: [] } });
    expect((await findAccount(owner))?.bot_number).toBe(number);
  });
});

test('--all finds every orphaned number, however large the table is', async () => {
  const orphans = [await numberOf(newId()), await numberOf(newId())];
  // More than a page of a scan holds.
  const padding = 'x'.repeat(30_000);
  await putAll(Array.from({ length: 50 }, (_, place) => ({ pk: `MESSAGE#${place}`, sk: 'MESSAGE', padding })));
  let pages = 0;
  for await (const _ of allNumbers()) pages += 1;
  expect(pages).toBeGreaterThan(1);
  const { found } = await check('--all');
  expect(found.orphaned.map(({ number }: { number: string }) => number)).toEqual(expect.arrayContaining(orphans));
  expect((await check('--all', '--release')).found.released).toEqual(expect.arrayContaining(orphans));
  expect(await Promise.all(orphans.map(isThere))).toEqual([false, false]);
});

test.each([
  [['number', 'check'], 'error: give numbers, or --all'],
  [['number', 'check', '27820000001', '--all'], 'error: --all and numbers exclude each other'],
  [['number', 'check', '+27820000001'], 'in international format'],
])('%j is not understood', async (args, words) => {
  const { code, stderr } = await operator(...args);
  expect(code).toBe(2);
  expect(stderr).toContain(words);
});
