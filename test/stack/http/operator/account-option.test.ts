/** `--account`, in place of the argument, and `--yes`: every command takes them. */
import { describe, expect, test } from 'vitest';
import { inJson, newAccount, newId, operator } from '../../support/operator.ts';

describe('--account', () => {
  test('stands for the argument, before, after and without other arguments', async () => {
    const account = await newAccount();
    expect(await inJson('account', 'show', '--account', account)).toEqual(await inJson('account', 'show', account));
    await inJson('account', 'update', '--account', account, '--name', 'Renamed', '--yes');
    expect(await inJson('account', 'show', `--account=${account}`)).toMatchObject({ name: 'Renamed' });
    const { id } = (await inJson('token', 'issue', '--account', account, '--permissions', 'stats')) as { id: string };
    for (const args of [
      ['--account', account, id],
      [id, '--account', account],
    ]) {
      const { code, stderr } = await operator('token', 'revoke', ...args, '--yes');
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    }
  });

  test('may repeat the argument, and must not differ from it', async () => {
    const account = await newAccount();
    expect((await operator('account', 'show', account, '--account', account)).code).toBe(0);
    const { code, stderr } = await operator('account', 'show', account, '--account', 'other');
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining(
        `the account is ${account} as an argument, and other as --account: give one of them`,
      ),
    });
  });

  test.each([
    [['account', 'show'], "missing required argument 'account'"],
    [['token', 'revoke', '--account', 'acme'], "missing required argument 'token-id'"],
    [['user', 'stop', '12', '--account', 'acme'], "'12' is no valid phone. It must"],
  ])('%j says which argument is missing or wrong', async (args, words) => {
    const { code, stderr } = await operator(...args);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(words) });
  });
});

test('--yes is accepted by a command that asks nothing, before and after it', async () => {
  const id = newId();
  expect((await operator('--yes', 'account', 'create', 'Acme', '--id', id)).code).toBe(0);
  expect((await operator('account', 'list', '--yes')).code).toBe(0);
});
