/** The portal's view Developers, in a browser. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { newAccount } from './support/account.ts';
import { expectAccessible, expectNoOverflow, expectUsable, stack } from './support/browser.ts';
import { openPortal } from './support/portal.ts';

const LABEL = '<b onclick="alert(1)">Reporting</b>';

/** What a token may do. */
const infoOf = async (token: string) =>
  (await fetch(`${stack.base_url}/v1/token/info`, { headers: { authorization: `Bearer ${token}` } })).json();

test('a person creates a token, replaces it and revokes it, and it may do no more than that of the session', async () => {
  const { token } = await newAccount('admin', 'stats', 'messages');
  const page = await openPortal('/developers', { token });
  await page.getByRole('row', { name: 'Of a test' }).getByText('This session', { exact: true }).waitFor();
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Revoke Of a test', exact: true }).click();
  await dialog.getByText('You use this token in this session. You will be signed out.').waitFor();
  await dialog.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByRole('link', { name: 'Create a token', exact: true }).click();
  await page.getByRole('button', { name: 'Create the token', exact: true }).click();
  await page.getByText('Enter a name.').waitFor();
  await page.getByText('Choose at least one permission.').waitFor();
  await expectAccessible(page);
  await expect.poll(() => page.getByRole('checkbox').count()).toBe(2);
  await page.getByLabel('Name', { exact: true }).fill(LABEL);
  await page.getByRole('checkbox', { name: 'Statistics: counts, logs and exports stats', exact: true }).check();
  await page.getByLabel('How long does it work?', { exact: true }).selectOption('30 days');
  await page.getByRole('button', { name: 'Create the token', exact: true }).click();
  await dialog.getByText('Copy it now: it is not shown again.').waitFor();
  await dialog.getByRole('button', { name: 'Copy the token', exact: true }).waitFor();
  await expectAccessible(page);
  const made = (await dialog.locator('code').textContent()) ?? '';
  await dialog.getByRole('button', { name: 'I have stored it', exact: true }).click();
  const info = await infoOf(made);
  expect(info).toMatchObject({ label: LABEL, permissions: ['stats'] });
  expect(Math.round((Date.parse(info.expires) - Date.parse(info.created)) / 86_400_000)).toBe(30);

  await page.getByRole('button', { name: `Replace ${LABEL}`, exact: true }).click();
  await dialog.getByLabel('How long does the former token still work?', { exact: true }).selectOption('Seven days');
  await dialog.getByRole('button', { name: 'Replace', exact: true }).click();
  await dialog.getByText('Copy it now: it is not shown again.').waitFor();
  const other = (await dialog.locator('code').textContent()) ?? '';
  await dialog.getByRole('button', { name: 'I have stored it', exact: true }).click();
  expect(await infoOf(other)).toMatchObject({ label: LABEL, permissions: ['stats'] });
  expect(await infoOf(made)).toMatchObject({ label: LABEL });

  const row = page.getByRole('row', { name: `…${other.slice(-4)}` });
  await row.getByRole('button', { name: `Revoke ${LABEL}`, exact: true }).click();
  await dialog.getByText('Programs that use it are rejected within 60 seconds.').waitFor();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.getByRole('button', { name: 'Show 1 token that no longer works', exact: true }).click();
  await page
    .getByRole('row', { name: `…${other.slice(-4)}` })
    .getByText('Revoked', { exact: false })
    .waitFor();
  await expectUsable(page);
});

test('a sample of a shell runs as it is shown, with the token in the environment', async () => {
  const { token } = await newAccount('messages');
  const page = await openPortal('/developers/samples', { token });
  const sample = page.getByRole('region', { name: 'Send a message (cURL)', exact: true });
  const text = (await sample.textContent()) ?? '';
  expect(text).toContain(`${stack.base_url}/v1/message`);
  expect(await page.content()).not.toContain(token);
  const { stdout } = await promisify(execFile)('bash', ['-c', text], { env: { ...process.env, TOKEN: token } });
  expect(JSON.parse(stdout)).toEqual({ id: expect.any(String) });
  await page.getByText('Python', { exact: true }).click();
  await page
    .getByRole('region', { name: 'Receive events (Python)', exact: true })
    .getByText('hmac.compare_digest')
    .waitFor();
  await page.reload();
  await page.getByRole('region', { name: 'Send a message (Python)', exact: true }).waitFor();
  await expectAccessible(page);
  await page.setViewportSize({ width: 320, height: 640 });
  await expectNoOverflow(page);
});

test('a person sends a test message, and sees its states', async () => {
  const { token, bot } = await newAccount('messages', 'account', 'bridge');
  const page = await openPortal('/developers/test', { token });
  // Without the permission for tokens, the first part is another one.
  expect(await page.getByRole('link', { name: 'Tokens', exact: true }).count()).toBe(0);
  await page.getByText('This service runs on one machine, with simulated users').waitFor();
  await page.getByText(`$BRIDGE_URL/webhook/${bot}`).waitFor();
  await page.getByLabel('Phone number', { exact: true }).fill('12');
  await page.getByRole('button', { name: 'Send the test message', exact: true }).click();
  await page.getByText('Enter a number with its country code: 7 to 15 digits.').waitFor();
  await page.getByLabel('Phone number', { exact: true }).fill('+999 000 00001');
  await page.getByRole('button', { name: 'Send the test message', exact: true }).click();
  await page.getByText('Accepted by this service', { exact: true }).waitFor();
  await page.getByText('Handed to the app’s network', { exact: true }).waitFor();
  await expectUsable(page);
});
