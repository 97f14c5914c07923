/** `operator history`: who did what, without secrets and numbers. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { userInfo } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { operationKey } from '../../../../shared/accounts/entities.ts';
import { pages } from '../../../../shared/table/client.ts';
import { servedOutputs, serveStacks } from '../../support/cloudformation.ts';
import {
  failingTable,
  inJson,
  machine,
  newAccount,
  newId,
  operator,
  operatorIn,
  remote,
  run,
  time,
} from '../../support/operator.ts';
import { newPhone } from '../../support/world.ts';

/** The operator, as AWS knows them. */
const CALLER = 'arn:aws:sts::123456789012:assumed-role/operators/jane';

/** What is recorded of commands about an account, newest first. */
const historyOf = (account: string): Promise<Record<string, unknown>[]> =>
  inJson('history', '--since', '10m', '--account', account) as Promise<Record<string, unknown>[]>;

/** All records of this month as they are stored. */
const stored = async (): Promise<string> => {
  const all: unknown[] = [];
  const { pk } = operationKey(new Date().toISOString().slice(0, 7), '');
  for await (const items of pages({ KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': pk } })) {
    all.push(...items);
  }
  return JSON.stringify(all);
};

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
    changes: expect.stringContaining('Changes the name'),
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
    { command: `account suspend ${account}`, result: expect.stringMatching(/^failed: .*no account/i) },
  ]);
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
