/** `operator history`: who did what, without secrets and numbers. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { userInfo } from 'node:os';
import { expect, inject, onTestFinished, test } from 'vitest';
import { endOperation, type OperationItem } from '../../../../infra/operator/history/record.ts';
import { createProgram } from '../../../../infra/operator/program.ts';
import { listTokens } from '../../../../infra/operator/queries/tokens-admin.ts';
import { accountKey, operationKey } from '../../../../shared/accounts/entities.ts';
import { pages, update } from '../../../../shared/table/client.ts';
import { servedOutputs, serveStacks } from '../../support/cloudformation.ts';
import {
  csv,
  failingTable,
  inJson,
  machine,
  masked,
  newAccount,
  newId,
  operator,
  operatorIn,
  remote,
  run,
  time,
} from '../../support/operator.ts';
import { newPhone } from '../../support/world.ts';

const stack = inject('stack');

/** The operator, as AWS knows them. */
const CALLER = 'arn:aws:sts::123456789012:assumed-role/operators/jane';

/** What is recorded of commands about an account, newest first. */
const historyOf = (account: string): Promise<Record<string, unknown>[]> =>
  inJson('history', '--since', '10m', '--account', account) as Promise<Record<string, unknown>[]>;

/** All records of this month, and of the one in which the last minutes began. */
const items = async () => {
  const all: OperationItem[] = [];
  const months = [Date.now() - 600_000, Date.now()].map((time) => new Date(time).toISOString().slice(0, 7));
  for (const month of new Set(months)) {
    const ExpressionAttributeValues = { ':pk': operationKey(month, '').pk };
    for await (const some of pages<OperationItem>({ KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues })) {
      all.push(...some);
    }
  }
  return all;
};

/** These records as they are stored. */
const stored = async (): Promise<string> => JSON.stringify(await items());

test('a change is recorded with the caller, the command, what it changed, and how it ended', async () => {
  const account = await newAccount();
  const env = await serveStacks({ trial: servedOutputs }, { answers: { GetCallerIdentity: `<Arn>${CALLER}</Arn>` } });
  const bot = newPhone();
  const options = ['--name=Acme two', `--bot-number=${bot}`, '--yes', '--stack=trial'];
  await operatorIn(env, 'account', 'update', account, ...options);
  const [latest] = await historyOf(account);
  expect(latest).toEqual({
    created: time,
    who: CALLER,
    command: `account update ${account} --name "Acme two" --bot-number ${bot.slice(0, 4)}…${bot.slice(-4)}`,
    kind: 'changes',
    account,
    asked: expect.stringContaining('Changes the name'),
    changes: `Updated the account "${account}".`,
    result: 'succeeded',
    ended: time,
  });
});

test('a failure is recorded with its error, and a change that nobody confirmed too', async () => {
  const account = newId();
  await operator('account', 'suspend', account, '--yes');
  await operator('account', 'create', 'Acme', '--id', account);
  await operator('account', 'suspend', account);
  expect(await historyOf(account)).toMatchObject([
    { command: `account suspend ${account}`, result: expect.stringMatching(/^failed: Nothing was changed\./) },
    { command: `account create Acme --id ${account}`, changes: `Created the account "${account}".` },
    { command: `account suspend ${account}`, result: expect.stringMatching(/^failed: .*no account/i) },
  ]);
});

test('the record of a new account names it, also if its id comes from its name', async () => {
  const account = newId();
  await operator('account', 'create', account.replaceAll('-', ' '));
  expect(await historyOf(account)).toMatchObject([
    { account, changes: `Created the account "${account}".`, result: 'succeeded' },
  ]);
});

test('the record of a new token has its id, and not the token', async () => {
  const account = await newAccount();
  const { token, id } = (await inJson('token', 'issue', account, '--permissions', 'stats')) as Record<string, string>;
  expect(await historyOf(account)).toMatchObject([{ changes: `Issued the token ${id}: stats; works until revoked.` }]);
  expect(await stored()).not.toContain(token);
});

test('the record of a connection says what was done, with the id of the token and without the token', async () => {
  const [account, bot] = [await newAccount(), newPhone()];
  const env = await machine({ pid: process.pid });
  const { stdout } = await operatorIn(
    env,
    ...['connect', account, '--platform', 'rapidpro', '--bot-number', bot, '--json'],
  );
  const [issued] = await listTokens(account);
  expect(await historyOf(account)).toMatchObject([
    {
      changes: `Set the bot's number. Issued the token ${issued?.id}: bridge. Stored no platform, and removed none: settings are missing.`,
      result: 'succeeded',
    },
  ]);
  const [token = ''] = /bapi_\w+/.exec(stdout) ?? [];
  expect(token).not.toBe('');
  expect(await stored()).not.toContain(token);
});

test.each<[changes: string, ...args: string[]]>([
  ['Updated the account "ACCOUNT".', 'account', 'update', 'ACCOUNT', '--rate', '5'],
  [
    'Updated the account "ACCOUNT", with a new secret of the platform.',
    ...['account', 'update', 'ACCOUNT', '--platform', 'webhook', '--platform-url', 'https://example.com/x'],
  ],
  ['Users see the account "ACCOUNT" as "Pending".', 'account', 'approve-name', 'ACCOUNT', 'Pending'],
  ['The account "ACCOUNT" keeps its name; "Pending" is rejected.', 'account', 'reject-name', 'ACCOUNT', 'Pending'],
  ['Account "ACCOUNT" is not suspended, unchanged.', 'account', 'resume', 'ACCOUNT'],
  ['No pending messages match.', 'outbox', 'retry', '--account', 'ACCOUNT'],
  [
    '2027-01-30 to 2027-01-31: 0 log entries. Missing counts added: 0.',
    ...['job', 'recount', 'ACCOUNT', '--from', '2027-01-30', '--to', '2027-01-31'],
  ],
  ['ACCOUNT is started for MASKED, unchanged.', ...['user', 'start', 'PHONE', 'ACCOUNT', '--yes']],
])('the record says what changed: %s', async (changes, ...args) => {
  const [account, phone] = [await newAccount(), newPhone()];
  const ExpressionAttributeValues = { ':name': 'Pending' };
  await update({ Key: accountKey(account), UpdateExpression: 'SET pending_name = :name', ExpressionAttributeValues });
  const { code, stderr } = await operator(
    ...args.map((word) => word.replace('ACCOUNT', account).replace('PHONE', phone)),
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('error') });
  expect(await historyOf(account)).toMatchObject([
    { changes: changes.replaceAll('ACCOUNT', account).replaceAll('MASKED', masked(phone)), result: 'succeeded' },
  ]);
});

test('a command that did only a part is recorded with its exit code', async () => {
  const file = await csv('phone_number', newPhone(), 'none');
  expect((await operator('panelist', 'import', file)).code).toBe(1);
  expect((await items()).find(({ command }) => command.includes(file))).toMatchObject({
    changes: '1 imported, 0 unchanged, 0 twice in the file, 1 skipped.',
    result: 'ended with exit code 1',
  });
});

test('a command that changes something without a note of what ends with an error', async () => {
  const program = await createProgram(['user']);
  const set = program.commands.find((one) => one.name() === 'user')?.commands.find((one) => one.name() === 'set');
  set?.action(() => undefined);
  await program.parseAsync(['user', 'set', newPhone(), '--table', stack.table], { from: 'user' });
  await expect(endOperation('succeeded')).rejects.toThrow(
    'The command has ended, but it does not record what it changed.',
  );
});

test('a record is kept for 400 days', async () => {
  const account = newId();
  await operator('account', 'create', 'Acme', '--id', account);
  const item = (await items()).find((one) => one.account === account);
  const created = Math.floor(Date.parse(`${item?.created}Z`) / 1_000);
  expect(item?.expires_at).toBe(created + 400 * 86_400);
});

test('reading personal data is recorded, with a masked number, and other reads are not', async () => {
  const phone = newPhone();
  await operator('user', 'export', phone, '--json');
  await operator('account', 'list');
  // Other test files use the table at the same time.
  const all = (await inJson('history', '--since', '10m')) as Record<string, unknown>[];
  expect(all).toContainEqual(
    expect.objectContaining({
      command: `user export ${phone.slice(0, 4)}…${phone.slice(-4)}`,
      kind: 'reads personal data',
    }),
  );
  expect(all.map(({ command }) => command)).not.toContain('account list');
  expect(await stored()).not.toContain(phone);
});

test('no secret, path of a URL or control character is stored', async () => {
  const account = await newAccount();
  const [secret, path] = [`whsec_${Buffer.alloc(32, 7).toString('base64')}`, randomUUID()];
  const url = `https://example.com/${path}`;
  const settings = ['--platform', 'webhook', '--platform-url', url, '--platform-secret', secret];
  await operator('account', 'update', account, '--yes', ...settings, '--name', `A\u001b[31mB${'x'.repeat(40)}`);
  await operator('account', 'update', account, '--yes', ...settings);
  const { token } = (await inJson('token', 'issue', account, '--permissions', 'stats')) as { token: string };
  const all = await stored();
  for (const word of [secret, path, token, '\\u001b']) expect(all).not.toContain(word);
  expect(all).toContain('--platform-url https://example.com/… --platform-secret ***');
});

test.each([
  ['https://user:SECRET@example.com', 'https://example.com/…'],
  ['HTTPS://example.com/SECRET', 'HTTPS://example.com/…'],
  ['https://example.com?key=SECRET', 'https://example.com/…'],
  ['example.com/SECRET', '***'],
])('of the URL %s, only the host is stored', async (url, kept) => {
  const [account, secret] = [await newAccount(), randomUUID()];
  await operator('account', 'update', account, '--consent-webhook', url.replace('SECRET', secret), '--yes');
  const [latest] = await historyOf(account);
  expect(latest?.command).toBe(`account update ${account} --consent-webhook ${kept}`);
  expect(await stored()).not.toContain(secret);
});

test('what stands in the place of an account is stored like other arguments: masked, printable and cut', async () => {
  const phone = newPhone();
  for (const account of [phone, `\u001b[31m${randomUUID()}\u0007`, 'a'.repeat(5_000)]) {
    expect((await operator('account', 'suspend', account, '--yes')).code).toBe(1);
  }
  const all = await stored();
  for (const word of [phone, '\\u001b', '\\u0007', 'a'.repeat(500)]) expect(all).not.toContain(word);
  expect(all).toContain(`"account":"${phone.slice(0, 4)}…${phone.slice(-4)}"`);
});

test('a wrong usage that the command itself finds is recorded as a failure', async () => {
  const account = newId();
  expect((await operator('account', 'update', account)).code).toBe(2);
  expect(await historyOf(account)).toMatchObject([{ result: expect.stringMatching(/^failed: nothing to change/) }]);
});

test('a change that cannot be recorded is refused before anything is read or changed', async () => {
  // The first call describes the table, and the second one writes the record.
  const { asked, env } = await failingTable('AccessDeniedException', 400, (time) => time === 2);
  const { code, stdout, stderr } = await run(['account', 'create', 'Acme'], env);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('Nothing was done, because it could not be recorded');
  expect(stderr).toContain('dynamodb:PutItem');
  expect(asked.times).toBe(2);
});

test('a very long argument is cut', async () => {
  const account = newId();
  await operator('job', 'cancel', account, 'j'.repeat(5_000), '--yes');
  const [latest] = await historyOf(account);
  expect(String(latest?.command).length).toBeLessThan(410);
});

test('a command that is killed is shown as one that began', { tags: 'long' }, async () => {
  // It waits for its input.
  const child = spawn(process.execPath, ['infra/operator/main.ts', 'panelist', 'import', '-', '--yes'], {
    env: remote,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const began = async () =>
    ((await inJson('history', '--since', '10m')) as Record<string, unknown>[]).map(
      ({ command, result }) => `${command}: ${result}`,
    );
  await expect.poll(began).toContainEqual(expect.stringMatching(/^panelist import -.*: began$/));
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await began()).toContainEqual(expect.stringMatching(/^panelist import -.*: began$/));
});

test('without AWS to ask, the access key names the caller; on the local stack, the user of this machine', async () => {
  const account = await newAccount();
  await operatorIn(remote, 'account', 'resume', account);
  await operatorIn(await machine({ pid: process.pid }), 'account', 'resume', account);
  expect(await historyOf(account)).toMatchObject([
    { who: `${userInfo().username} on this machine` },
    { who: 'access key operator' },
  ]);
});
