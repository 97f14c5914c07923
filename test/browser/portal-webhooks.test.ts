/** The portal's view Webhooks, in a browser. */
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { DestinationServer } from '../stack/support/destination-server.ts';
import { newAccount, writeTo } from './support/account.ts';
import { expectAccessible, expectUsable } from './support/browser.ts';
import { newPhone } from './support/business.ts';
import { openPortal } from './support/portal.ts';

const SCRIPT = '<img src=x onerror="document.title=1">';

const add = async (page: Page, url: string, note = ''): Promise<void> => {
  await page.getByRole('link', { name: 'Add a webhook', exact: true }).first().click();
  await page.getByLabel('URL', { exact: true }).fill(url);
  await page.getByLabel('Note', { exact: true }).fill(note);
  await page.getByRole('button', { name: 'Add a webhook', exact: true }).click();
};

/** The secret of the dialog, which is closed afterwards. */
const takeSecret = async (page: Page): Promise<string> => {
  const dialog = page.getByRole('dialog');
  const secret = (await dialog.locator('code').textContent()) ?? '';
  await dialog.getByRole('button', { name: 'I have stored it', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  return secret;
};

const cardOf = (page: Page, url: string): Locator => page.getByRole('region', { name: url, exact: true });

test('a person adds a webhook, tests it, changes it, replaces its secret, and deletes it', async () => {
  const server = await DestinationServer.start();
  const { token } = await newAccount('admin', 'bridge', 'account');
  const page = await openPortal('/webhooks', { token, expectedErrors: /422/ });
  await page.getByText('You have no webhook yet.').waitFor();
  await expectAccessible(page);
  await add(page, 'ftp://example.com', SCRIPT);
  await page.getByRole('alert').getByText('must be an https address').waitFor();
  await page.getByLabel('URL', { exact: true }).fill(`${server.url}/events`);
  await page.getByRole('button', { name: 'Add a webhook', exact: true }).click();
  await page.getByRole('dialog').getByText('Copy it now: it is not shown again.').waitFor();
  await expectAccessible(page);
  const secret = await takeSecret(page);
  expect(secret).toMatch(/^whsec_/);
  const card = cardOf(page, `${server.url}/events`);
  await card.getByText(SCRIPT, { exact: true }).waitFor();
  await card.getByText('All events', { exact: true }).waitFor();

  await card.getByRole('button', { name: 'Send a test event', exact: true }).click();
  await card.getByText('Your server accepted the test event (status 204').waitFor();
  expect(server.calls).toHaveLength(1);

  await card.getByRole('link', { name: 'Change', exact: true }).click();
  await page.getByRole('radio', { name: 'Only these', exact: true }).check();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Choose at least one kind of event.').waitFor();
  await page.getByRole('checkbox', { name: 'A user stops you user.stopped', exact: true }).check();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await card.getByText('A user stops you', { exact: true }).waitFor();

  await card.getByRole('button', { name: 'Replace the secret', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('For 24 hours, requests are signed with both secrets').waitFor();
  await dialog.getByRole('button', { name: 'Replace the secret', exact: true }).click();
  await dialog.getByText('The former secret also signs for 24 hours.').waitFor();
  const other = await takeSecret(page);
  expect(other).toMatch(/^whsec_/);
  expect(other).not.toBe(secret);

  await card.getByRole('button', { name: 'Delete', exact: true }).click();
  await dialog.getByText('Events that are waiting for it are dropped').waitFor();
  await dialog.getByText('It is your only webhook.').waitFor();
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('You have no webhook yet.').waitFor();
});

test('a webhook that fails says why, deliveries show what it returned as text, and a person sends events again', async () => {
  const server = await DestinationServer.start();
  server.answers = [{ status: 404, headers: { 'content-type': 'text/html' }, body: SCRIPT }];
  const { token, bot } = await newAccount('admin', 'bridge', 'account');
  const page = await openPortal('/webhooks', { token });
  await add(page, `${server.url}/events`);
  await takeSecret(page);
  // After three failures in a row, it is failing.
  for (let count = 0; count < 3; count += 1) await writeTo(bot, newPhone(), token);
  const card = cardOf(page, `${server.url}/events`);
  await card.getByText('Your server does not know this address (status 404).').waitFor({ timeout: 120_000 });
  await card.getByText('Failing', { exact: true }).waitFor();
  await expectUsable(page);

  await card.getByRole('link', { name: 'Deliveries', exact: true }).click();
  await page.getByText('Failed, 404', { exact: true }).first().waitFor();
  await expectUsable(page);
  await page.getByLabel('Result', { exact: true }).selectOption('Accepted');
  await page.getByText('No delivery matches these filters.').waitFor();
  await page.reload();
  await page.getByText('No delivery matches these filters.').waitFor();
  await page.getByRole('button', { name: 'Clear the filters', exact: true }).click();
  await page.getByRole('table').getByRole('link').first().click();
  await page.getByRole('region', { name: 'Response', exact: true }).getByText(SCRIPT, { exact: true }).waitFor();
  await expectAccessible(page);

  server.answers = [204];
  await page.getByRole('button', { name: 'Send again', exact: true }).click();
  await page.getByText('The event is waiting already, and is sent with the next attempt.').waitFor();
  await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
  await page.getByRole('button', { name: 'Send failed events again', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Send again', exact: true }).click();
  await page.getByText('No event since then has failed for good.').waitFor();
  await page.getByRole('link', { name: 'Webhooks', exact: true }).last().click();
  await card.getByRole('button', { name: 'Try again', exact: true }).click();
  await card.getByText('Working', { exact: true }).waitFor({ timeout: 120_000 });
});

test('a webhook that returned 410 is disabled, until a person enables it again', async () => {
  const server = await DestinationServer.start();
  server.answers = [410, 204];
  const { token } = await newAccount('admin', 'bridge');
  const page = await openPortal('/webhooks', { token });
  await add(page, `${server.url}/events`);
  await takeSecret(page);
  const card = cardOf(page, `${server.url}/events`);
  await card.getByRole('button', { name: 'Send a test event', exact: true }).click();
  await card.getByText('Disabled', { exact: true }).waitFor();
  await card.getByRole('button', { name: 'Enable again', exact: true }).click();
  await card.getByText('Working', { exact: true }).waitFor();
  await expect.poll(() => server.calls.length).toBe(2);
});

test('an account with RapidPro has no webhooks, and the page says why', async () => {
  const page = await openPortal('/webhooks', { expectedErrors: /409/ });
  await page.getByText('Your operator has connected this account to RapidPro').waitFor();
  await expectAccessible(page);
  // Requests that are tried out in the reference add deliveries to this account, which are examples.
  await page.route('**/v1/deliveries*', (route) => route.fulfill({ status: 204 }));
  await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
  await page.getByText('RapidPro receives your events, and its deliveries are not listed here.').waitFor();
});

test('a token without the permission for webhooks sees the deliveries alone', async () => {
  const { token } = await newAccount('bridge');
  const page = await openPortal('/webhooks', { token });
  await page.getByText('There are no deliveries in the last seven days.').waitFor();
  await expect(page.getByRole('navigation', { name: 'Parts of Webhooks' }).count()).resolves.toBe(0);
});
