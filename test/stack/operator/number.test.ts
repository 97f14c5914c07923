/**
 * The operator's command `number check`: finds orphaned numbers of bots, and releases them.
 *
 * @module-tag long
 */
import { describe, expect, test } from 'vitest';
import { createAccount, updateAccount } from '../../../infra/operator/queries/accounts-admin.ts';
import { allNumbers, releaseOrphan } from '../../../infra/operator/queries/bot-numbers.ts';
import { findAccount, type NumberItem } from '../../../shared/accounts/accounts.ts';
import { accountKey, numberKey } from '../../../shared/accounts/entities.ts';
import { getConsistent, putIfAbsent } from '../../../shared/table/client.ts';
import { putAll } from '../support/many-items.ts';
import { newAccount, newId, operator, refusal } from '../support/operator.ts';
import { useOwnTable } from '../support/own-table.ts';
import { newPhone } from '../support/world.ts';

useOwnTable('operator-number');

/** Writes the row of a number that belongs to an account. */
const numberOf = async (account: string): Promise<string> => {
  const number = newPhone();
  await putIfAbsent<NumberItem>({ ...numberKey(number), account });
  return number;
};

/** Creates an account with a number, without a check of the number's owner. */
const newAccountWithNumber = async (bot_number: string): Promise<string> => {
  const id = newId();
  await putIfAbsent({ ...accountKey(id), id, name: 'Test', created: '2026-01-01T00:00:00.000000', bot_number });
  await updateAccount(id, { name: 'Listed' });
  return id;
};

const check = async (...args: string[]) => {
  const { code, stdout, stderr } = await operator('number', 'check', ...args, '--json');
  return { code, stderr, found: JSON.parse(stdout) };
};

const exists = async (number: string): Promise<boolean> => (await getConsistent(numberKey(number))) !== undefined;

test('number check accepts a number that its account has', async () => {
  const bot_number = newPhone();
  await createAccount({ name: 'Test', id: newId(), bot_number });
  const found = { checked: 1, orphaned: [], misnamed: [], released: [] };
  expect(await check(bot_number, '--release', '--yes')).toEqual({ code: 0, stderr: '', found });
  expect((await operator('number', 'check', bot_number)).stdout).toBe(
    '1 checked, 0 orphaned, 0 released, 0 named by another account.\n',
  );
});

test('number check accepts a number without an owner', async () => {
  expect(await check(newPhone())).toMatchObject({ code: 0, found: { checked: 1, orphaned: [], misnamed: [] } });
});

describe('an orphaned number', () => {
  test.each<[string, () => Promise<string>]>([
    ['of an unknown account', async () => newId()],
    ['of an account without a number', newAccount],
    [
      'of an account with another number',
      async () => (await createAccount({ name: 'Test', id: newId(), bot_number: newPhone() })).id,
    ],
  ])('number check finds and releases a number %s, and another account can take it', async (_, owner) => {
    const account = await owner();
    const number = await numberOf(account);
    const other = await newAccount();
    expect(await refusal('account', 'update', '--yes', other, '--bot-number', number)).toContain(
      `"number check ${number}"`,
    );

    const orphaned = [{ number, account }];
    expect(await check(number)).toEqual({
      code: 1,
      stderr: 'Add --release to release orphaned numbers for any account.\n',
      found: { checked: 1, orphaned, misnamed: [], released: [] },
    });
    expect(await exists(number)).toBe(true);
    const { code, stdout, stderr } = await operator('number', 'check', number, '--release', '--yes');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^${number} +${account} +was orphaned, is released$`, 'm'));
    expect(await exists(number)).toBe(false);
    await updateAccount(other, { bot_number: number });
    expect((await check(number)).code).toBe(0);
  });

  test('an orphaned number that its account has taken meanwhile is not released', async () => {
    const account = await newAccount();
    const number = await numberOf(account);
    await updateAccount(account, { bot_number: number });
    expect(await releaseOrphan({ number, account })).toBe(false);
    expect(await exists(number)).toBe(true);
  });

  test('an orphaned number that another account has taken meanwhile is not released', async () => {
    const number = await numberOf(await newAccount());
    expect(await releaseOrphan({ number, account: newId() })).toBe(false);
    expect(await exists(number)).toBe(true);
  });
});

describe('a number that an account has but does not own', () => {
  test('number check prints a command that gives the account its number', async () => {
    const number = newPhone();
    const account = await newAccountWithNumber(number);
    const { code, stderr, found } = await check(number, '--release', '--yes');
    expect({ code, found }).toEqual({
      code: 1,
      found: { checked: 1, orphaned: [], misnamed: [{ number, account }], released: [] },
    });
    expect(stderr).toContain(`"account update ${account} --bot-number ${number}"`);
    await operator('account', 'update', '--yes', account, '--bot-number', number);
    expect((await check(number)).code).toBe(0);
  });

  test("number check prints a command that removes another account's number", async () => {
    const number = newPhone();
    const { id: owner } = await createAccount({ name: 'Test', id: newId(), bot_number: number });
    const account = await newAccountWithNumber(number);
    const { code, stderr, found } = await check(number);
    expect({ code, found }).toMatchObject({ code: 1, found: { misnamed: [{ number, account, owner }] } });
    expect(stderr).toContain(`"account update ${account} --no-bot-number"`);
    await operator('account', 'update', '--yes', account, '--no-bot-number');
    expect(await check(number)).toMatchObject({ code: 0, found: { misnamed: [] } });
    expect((await findAccount(owner))?.bot_number).toBe(number);
  });
});

test('number check --all finds every orphaned number in a table of several pages', async () => {
  const orphans = [await numberOf(newId()), await numberOf(newId())];
  // More than one page of a scan.
  const padding = 'x'.repeat(30_000);
  await putAll(Array.from({ length: 50 }, (_, place) => ({ pk: `MESSAGE#${place}`, sk: 'MESSAGE', padding })));
  let pages = 0;
  for await (const _ of allNumbers()) pages += 1;
  expect(pages).toBeGreaterThan(1);
  const { found } = await check('--all');
  expect(found.orphaned.map(({ number }: { number: string }) => number)).toEqual(expect.arrayContaining(orphans));
  expect((await check('--all', '--release', '--yes')).found.released).toEqual(expect.arrayContaining(orphans));
  expect(await Promise.all(orphans.map(exists))).toEqual([false, false]);
});

test.each([
  [['number', 'check'], 'error: give numbers, or --all'],
  [['number', 'check', '27820000001', '--all'], 'error: --all and numbers exclude each other'],
  [['number', 'check', '+27820000001'], 'in international format'],
])('the command %j exits with 2', async (args, words) => {
  const { code, stderr } = await operator(...args);
  expect(code).toBe(2);
  expect(stderr).toContain(words);
});
