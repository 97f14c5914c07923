/** `operator portal-link`: a link with which a person of an account signs in. */
import { readFile } from 'node:fs/promises';
import { expect, inject, test } from 'vitest';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { inJson, machine, newAccount, operator, operatorIn, refusal, time } from '../../support/operator.ts';

const { base_url, log, pid } = inject('stack');

const DEFAULT = ['profilers', 'stats', 'user_data', 'messages', 'contacts', 'account', 'bridge', 'admin'];

/** Runs the command for the served stack, whose URL it needs. */
const portalLink = async (...args: string[]) => operatorIn(await machine({ pid }), 'portal-link', ...args);

/** Exchanges the code of a link. */
const signIn = async (url: string) => {
  const response = await fetch(`${base_url}/v1/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code: url.split('#code=')[1] }),
  });
  return { status: response.status, body: await response.json() };
};

test('prints only the link on stdout, with which a person signs in once', async () => {
  const account = await newAccount();
  const { stdout, stderr } = await portalLink(account);
  expect(stdout).toMatch(new RegExp(`^${base_url}/portal#code=[\\w-]{43}\n$`));
  expect(stderr).toContain('once, within 15 minutes');
  const link = stdout.trim();
  expect(await signIn(link)).toMatchObject({ status: 201, body: { account, label: 'portal', permissions: DEFAULT } });
  expect(await signIn(link)).toMatchObject({ status: 404, body: { code: 'code_not_found' } });
});

test('takes permissions and a label, and shows them as JSON', async () => {
  const account = await newAccount();
  const options = ['--permissions', 'stats,messages,stats', '--label', 'Ben, support'];
  const link = JSON.parse((await portalLink(account, ...options, '--json')).stdout);
  const given = { account, label: 'Ben, support', permissions: ['stats', 'messages'] };
  expect(link).toEqual({ ...given, url: expect.stringContaining('/portal#code='), expires: time });
  expect(await signIn(link.url)).toMatchObject({ status: 201, body: given });
});

test('is in the history, and neither the history nor the log contains the code', async () => {
  const account = await newAccount();
  const url = (await portalLink(account, '--permissions', 'stats')).stdout.trim();
  await signIn(url);
  const history = await inJson('history', '--since', '10m', '--account', account);
  expect(history).toMatchObject([
    { command: `portal-link ${account} --permissions stats`, kind: 'changes', account, result: 'succeeded' },
  ]);
  const [, code = ''] = url.split('#code=');
  expect(JSON.stringify(history)).not.toContain(code);
  expect(await readFile(log, 'utf8')).not.toContain(code);
});

test.each(['listen', 'app', 'stats,listen', 'everything', ''])(
  'rejects the permissions "%s", and says which a session can have',
  async (permissions) => {
    const { code, stderr } = await operator('portal-link', 'demo', '--permissions', permissions);
    expect(code).toBe(2);
    expect(stderr).toContain(`must be a list of ${DEFAULT.join(', ')}`);
  },
);

test('rejects accounts whose people cannot sign in', async () => {
  expect((await portalLink('nobody-at-all')).stderr).toContain('nobody-at-all');
  expect((await portalLink('app-network')).stderr).toContain('error: The app network does not use the portal');
  const account = await newAccount();
  await updateAccount(account, { suspended: '2027-01-31T12:00:00.000000' });
  expect(await portalLink(account)).toMatchObject({ code: 1, stderr: expect.stringContaining('account resume') });
});

test('requires the URL of the API, which a table does not have', async () => {
  expect(await refusal('portal-link', await newAccount())).toContain('--stack instead of --table');
});
