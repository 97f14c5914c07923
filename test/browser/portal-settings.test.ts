/** The portal's view Settings, in a browser. */
import { expect, test } from 'vitest';
import { png } from '../stack/support/files.ts';
import { newAccount } from './support/account.ts';
import { expectAccessible, expectUsable, stack } from './support/browser.ts';
import { openPortal } from './support/portal.ts';

const configurationOf = async (token: string) =>
  (await (await fetch(`${stack.base_url}/v1/configuration`, { headers: { authorization: `Bearer ${token}` } })).json())
    .configuration;

test('a person changes what users see and when they get messages, and the history says so', async () => {
  const { token, bot } = await newAccount('account', 'admin');
  const page = await openPortal('/settings', { token, expectedErrors: /422/ });
  const name = page.getByLabel('Name that users see', { exact: true });
  await expect.poll(() => name.inputValue()).toBe(`Clinic ${bot}`);
  await name.fill('Aсme');
  await page.getByRole('button', { name: 'Ask for this name', exact: true }).click();
  await page.getByRole('alert').getByText('#/name').waitFor();
  await name.fill('<i>Acme</i>');
  await page.getByRole('button', { name: 'Ask for this name', exact: true }).click();
  await page.getByText('“<i>Acme</i>” waits for the approval of your operator.').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Withdraw it', exact: true }).click();
  await page.getByText('The new name is withdrawn.').waitFor();
  await expect.poll(async () => (await configurationOf(token)).pending_name).toBeUndefined();

  await page.getByRole('radio', { name: 'Only within these hours', exact: true }).check();
  await page.getByLabel('Until', { exact: true }).fill('08:00');
  await page.getByText('Enter two different times.').waitFor();
  await page.getByLabel('Until', { exact: true }).fill('06:30');
  await page.getByText('These hours go past midnight.').waitFor();
  await page.getByLabel('Time zone', { exact: true }).selectOption('Africa/Johannesburg');
  await page.getByRole('button', { name: 'Save the sending hours', exact: true }).click();
  await expect
    .poll(async () => (await configurationOf(token)).sending_hours)
    .toEqual({ between: ['08:00', '06:30'], time_zone: 'Africa/Johannesburg' });

  await page.getByRole('radio', { name: 'Notify it, and send this user nothing more', exact: true }).check();
  await page.getByLabel('Text that confirms it', { exact: true }).fill('Goodbye.');
  await page.getByRole('button', { name: 'Save what follows STOP', exact: true }).click();
  await expect
    .poll(async () => (await configurationOf(token)).opt_out_keywords)
    .toEqual({ action: 'opt_out', confirmation: 'Goodbye.' });

  const file = page.getByLabel('Choose a picture', { exact: true });
  await file.setInputFiles({ name: 'a.gif', mimeType: 'image/gif', buffer: Buffer.from('GIF89a') });
  await page.getByText('This is no PNG, JPEG or WebP picture.').waitFor();
  await file.setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.alloc(1_048_577) });
  await page.getByText('This file has 1.0 MB. Choose one of at most 1 MB.').waitFor();
  await file.setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from(png) });
  await page.getByRole('img', { name: 'The picture that you have chosen', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Use this picture', exact: true }).click();
  await page.getByRole('img', { name: 'Your picture, as users see it', exact: true }).waitFor();
  await expectUsable(page);

  await page.getByRole('link', { name: 'History', exact: true }).click();
  await page.getByText('Changed the avatar', { exact: true }).waitFor();
  await page.getByText('Changed the account: what follows STOP', { exact: true }).waitFor();
  await page.getByText('Changed the account: sending hours', { exact: true }).waitFor();
  await expectUsable(page);
});

test('a token that may not read the account sees the history and itself', async () => {
  const { token } = await newAccount('admin');
  const page = await openPortal('/settings', { token });
  await page.getByText('Nothing was changed yet.').waitFor();
  await page.getByRole('heading', { name: 'Your token in this session', exact: true }).waitFor();
  await page.getByText('Administration: tokens, webhooks and history', { exact: true }).waitFor();
  expect(await page.getByLabel('Name that users see', { exact: true }).count()).toBe(0);
});
