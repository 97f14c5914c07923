/**
 * The options of `operator restore`, what it prints, and what it refuses.
 *
 * @module-tag long
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { createAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { accountKey } from '../../../../shared/accounts/entities.ts';
import { timestampOf } from '../../../../shared/core/clock.ts';
import { tableName } from '../../../../shared/core/settings.ts';
import { repeatsKey } from '../../../../shared/messaging/entities.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { profilersOf } from '../../../../shared/profilers/entities.ts';
import { createProfiler, findAnswerable } from '../../../../shared/profilers/profilers.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { documents } from '../../../../shared/table/client.ts';
import { updateUser } from '../../../../shared/users/users.ts';
import { folder, operatorIn, remote } from '../../support/operator.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { itemsIn } from '../../support/whole-table.ts';
import { newAccountId, newPhone } from '../../support/world.ts';
import { lose, putInto, restore, restoreInJson, restoreToNewTable } from './copied-table.ts';

const { dynamodb_endpoint: endpoint } = inject('stack');

useOwnTable('restore-command');

const totalsOf = async (from: string, ...options: string[]) => (await restoreInJson('--from', from, ...options)).totals;

const newVendor = async (): Promise<string> => {
  const { id } = await createAccount({ name: 'Test', id: newAccountId() });
  await createProfiler(id, { question: 'Well?', options: ['yes', 'no'] });
  return id;
};

const profilersIn = async (account: string): Promise<number> =>
  (await itemsIn()).filter(({ pk, sk }) => pk === profilersOf(account) && sk.startsWith('PROFILER#')).length;

test('--dry-run counts by kind, and changes nothing', async () => {
  const account = await newVendor();
  const restored = await restoreToNewTable(endpoint);
  await lose(await itemsIn());
  const { code, stdout, stderr } = await restore('--from', restored, '--dry-run');
  expect({ code, stderr }).toEqual({ code: 0, stderr: 'Nothing was changed (--dry-run).\n' });
  expect(stdout).toMatch(/^profiler +1$/m);
  expect(stdout).toMatch(/^options of a profiler +1$/m);
  expect(stdout).toMatch(/^list of accounts +1$/m);
  expect(stdout).toMatch(/^total +\d+$/m);
  expect(await itemsIn()).toEqual([]);
  expect(await totalsOf(restored)).toEqual({ restored: 4 });
  expect(await profilersIn(account)).toBe(1);
});

test('--account restores one customer, and nothing of others or of users', async () => {
  const [one, other] = [await newVendor(), await newVendor()];
  const phone = newPhone();
  await updateUser('event', { phone_number: phone, panelist: true });
  const restored = await restoreToNewTable(endpoint);
  await lose(await itemsIn());
  await restore('--from', restored, '--account', one);
  const keys = (await itemsIn()).map(({ pk, sk }) => `${pk} ${sk}`).sort();
  expect(keys).toEqual([
    `${accountKey(one).pk} ACCOUNT`,
    `ACCOUNTS ACCOUNT#${one}`,
    expect.stringContaining(`${profilersOf(one)} ANSWERABLE#`),
    expect.stringContaining(`${profilersOf(one)} PROFILER#`),
  ]);
  expect(keys.join()).not.toContain(other);
  expect(keys.join()).not.toContain(phone);
});

test('--since restores what was created or changed then or later, and leaves out items without a time', async () => {
  const account = await newVendor();
  const row = (name: string, times: object) => ({ pk: profilersOf(account), sk: `PROFILER#${name}`, ...times });
  const at = (minute: number): string => timestampOf(Date.UTC(2030, 0, 1, 12, minute));
  const rows = [
    row('before', { created_at: at(0) }),
    row('at', { created_at: at(1) }),
    row('changed', { created_at: at(0), updated: at(2) }),
    row('timeless', {}),
  ];
  await putInto(tableName(), rows);
  const restored = await restoreToNewTable(endpoint);
  await lose(rows);
  const options = ['--account', account, '--since', '2030-01-01T13:01:00+01:00'];
  expect(await totalsOf(restored, ...options)).toMatchObject({ restored: 2, without_time: 2 });
  const found = (await itemsIn()).filter(({ pk }) => pk === profilersOf(account)).map(({ sk }) => sk);
  expect(new Set(found).intersection(new Set(rows.map(({ sk }) => sk)))).toEqual(
    new Set(['PROFILER#at', 'PROFILER#changed']),
  );
});

test('--since restores what belongs to a newer profiler or message: it is answered, and its repeat is recognised', async () => {
  const { id: account } = await createAccount({ name: 'Test', id: newAccountId() });
  const since = new Date(Date.now() + 1).toISOString();
  await expect.poll(() => new Date().toISOString() > since).toBe(true);
  const { id, options } = await createProfiler(account, { question: 'Well?', options: ['yes', 'no'] });
  const draft = { to: newPhone(), type: 'text' as const, text: { body: 'Hello' } };
  const send = () => sendMessage(account, draft, { idempotencyKey: 'restored' });
  const message = await send();
  const restored = await restoreToNewTable(endpoint);
  await lose((await itemsIn()).filter(({ pk }) => !/^ACCOUNTS?(#|$)/.test(pk)));
  await restore('--from', restored, '--account', account, '--since', since);
  expect(await findAnswerable(account, id)).toEqual({ id, options: options.length });
  expect(await send()).toBe(message);
  expect((await listLogs(account, { phone: draft.to }, 10)).entries.map(({ state }) => state)).toEqual(['sent']);
});

test('an item of an unknown kind is left out and reported, and the command fails', async () => {
  await putInto(tableName(), [{ pk: 'ELSE#1', sk: 'ELSE' }]);
  const restored = await restoreToNewTable(endpoint);
  await lose([{ pk: 'ELSE#1', sk: 'ELSE' }]);
  expect(await restore('--from', restored)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('1 items are of a kind that this version does not know'),
  });
  expect((await itemsIn()).filter(({ pk }) => pk === 'ELSE#1')).toEqual([]);
});

test('the position is in a file that only its owner can read, and is gone at the end', async () => {
  await newVendor();
  const restored = await restoreToNewTable(endpoint);
  const env = { ...remote, TABLE_NAME: tableName(), LOCAL_FOLDER: await folder() };
  const modes: number[] = [];
  const send = documents.send.bind(documents);
  const spy = vi.spyOn(documents, 'send').mockImplementation(async (command: { input: object }) => {
    for (const name of readdirSync(env.LOCAL_FOLDER)) modes.push(statSync(join(env.LOCAL_FOLDER, name)).mode);
    return send(command as Parameters<typeof send>[0]);
  });
  onTestFinished(() => spy.mockRestore());
  const many = Array.from({ length: 1_000 }, (_, index) => ({ ...repeatsKey('none', `${index}`) }));
  await putInto(restored, many);
  expect(await operatorIn(env, 'restore', '--from', restored, '--dry-run')).toMatchObject({ code: 0 });
  expect(modes).toEqual([]);
  expect(await operatorIn(env, 'restore', '--from', restored)).toMatchObject({ code: 0 });
  expect(new Set(modes.map((mode) => mode & 0o777))).toEqual(new Set([0o600]));
  expect(readdirSync(env.LOCAL_FOLDER)).toEqual([]);
});

const ago = (days: number) => new Date(Date.now() - days * 86_400_000);

test.each<[string, object, RegExp]>([
  [
    'that AWS is still restoring',
    { RestoreSummary: { RestoreDateTime: ago(1), RestoreInProgress: true } },
    /AWS is still restoring "other"/,
  ],
  ['that is not active yet', { TableStatus: 'CREATING' }, /AWS is still restoring "other"/],
  [
    'whose data is older than the deletion markers',
    { RestoreSummary: { RestoreDateTime: ago(36), RestoreInProgress: false } },
    /Deletions are known for 36 days, so what was erased before would come back/,
  ],
  ['with other keys', { KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }] }, /is not a copy of the live table/],
])('a table %s is refused', async (_, table, message) => {
  const live = { KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }], TableStatus: 'ACTIVE' };
  const describe = async ({ input }: { input: { TableName?: string } }) => ({
    Table: input.TableName === 'live' ? live : { ...live, ...table },
  });
  const spy = vi.spyOn(documents, 'send').mockImplementation(describe as never);
  onTestFinished(() => spy.mockRestore());
  const { code, stdout, stderr } = await operatorIn({ ...remote, TABLE_NAME: 'live' }, 'restore', '--from', 'other');
  expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(message) });
});

test.each<[string, (restored: string) => string[], RegExp]>([
  ['the live table itself', () => ['--from', tableName()], /is the live table/],
  ['a table that does not exist', () => ['--from', 'nowhere'], /There is no table "nowhere"/],
  ['an account that does not exist', (from) => ['--from', from, '--account', 'nobody'], /There is no account "nobody"/],
  ['data of 40 days ago', (from) => ['--from', from, '--taken', '2020-01-01T00:00:00Z'], /is of 2020-01-01/],
  ['to clean a table that is in use', (from) => ['--from', from, '--clean'], /add --taken/],
])('%s is refused with one line', async (_, argumentsFor, message) => {
  const restored = await restoreToNewTable(endpoint);
  const { code, stdout, stderr } = await restore(...argumentsFor(restored));
  expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(message) });
  expect(stderr).toMatch(/^error: .+\n$/);
});
