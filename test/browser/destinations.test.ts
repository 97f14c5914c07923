/** The switches of destinations on the page, in a browser. Each test affects one user alone: others use the same stack. */
import { randomInt } from 'node:crypto';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { callTableOf } from '../../infra/operator/local-stack/call-table.ts';
import { createAccount, updateAccount } from '../../infra/operator/queries/accounts-admin.ts';
import { expectAccessible, expectNoOverflow, expectUsable, openPage, openPhone, stack } from './support/browser.ts';
import { newPhone } from './support/business.ts';
import { smallScreens } from './support/screens.ts';

/** A new account on the simulated Turn. Returns its id, which is also the name of its number there, and its bot's number. */
const accountOnTurn = async (): Promise<{ id: string; bot: string }> => {
  callTableOf({ dynamodbEndpoint: stack.dynamodb_endpoint, table: stack.table });
  const bot = `4477009${randomInt(10_000, 100_000)}`;
  const { id } = await createAccount({ name: `Of a test ${bot}`, bot_number: bot });
  const settings = { url: stack.turn_url, channel: id, token: 'token-of-a-test' };
  await updateAccount(id, { platform: { name: 'turn', settings } });
  const created = await fetch(`${stack.turn_url}/numbers/${id}`, {
    method: 'PUT',
    body: JSON.stringify({ token: settings.token, bridge_token: 'bapi_unused' }),
  });
  expect(created.status).toBe(200);
  return { id, bot };
};

/** Sets Turn's switch to normal after the test. */
const normalAfterwards = (): void =>
  onTestFinished(async () => {
    await fetch(`${stack.phone_url}/destinations/turn`, { method: 'PATCH', body: JSON.stringify({ mode: 'normal' }) });
  });

const failFor = (phone: string): Promise<Response> =>
  fetch(`${stack.phone_url}/destinations/turn`, {
    method: 'PATCH',
    body: JSON.stringify({ mode: 'failing', phone }),
  });

/** A user writes to a bot, without the page. */
const write = (phone: string, to: string): Promise<Response> =>
  fetch(`${stack.phone_url}/phones/${phone}/messages`, {
    method: 'POST',
    body: JSON.stringify({ to, text: 'Hello?' }),
  });

const MEDIUM = { width: 1024, height: 768 };

const chip = (page: Page, label: string) => page.getByRole('button', { name: label, exact: true });

test('a switch is visible while it is set; the page counts pending messages, and one click undoes it', async () => {
  normalAfterwards();
  const { id, bot } = await accountOnTurn();
  const phone = newPhone();
  const page = await openPhone(phone, { viewport: { width: 1440, height: 900 } });
  await chip(page, 'Turn Normal').click();
  const menu = page.getByRole('group', { name: 'Turn', exact: true });
  // Slow is harmless for the tests that run at the same time.
  await menu.getByRole('radio', { name: /^Slow/ }).click();
  const of = menu.getByRole('combobox', { name: 'Of', exact: true });
  await of.selectOption(phone);
  await menu.getByRole('radio', { name: /^Failing/ }).click();
  await chip(page, 'Turn Failing').waitFor();
  await page.keyboard.press('Escape');

  await write(phone, bot);
  const banner = page.locator('.banner').filter({ hasText: 'Turn is failing' });
  await banner.filter({ hasText: 'for the calls of one user' }).filter({ hasText: '1 message waits.' }).waitFor();
  await banner.filter({ hasText: 'It answers 503.' }).waitFor();
  await page.getByRole('status').filter({ hasText: 'Turn is failing. 1 message waits for Turn.' }).waitFor();
  const listed = page.getByRole('region', { name: 'Traces' }).getByRole('listitem');
  await listed
    .filter({ hasText: 'Turn set to Failing' })
    .filter({ hasText: 'for the calls of one user' })
    .first()
    .waitFor();
  // A filter is for traces.
  await page.getByRole('button', { name: 'Messages', exact: true }).click();
  await expect.poll(() => listed.filter({ hasText: 'Turn set to Failing' }).count()).toBe(0);
  await page.getByRole('button', { name: 'All', exact: true }).click();
  await expectAccessible(page);
  await expectNoOverflow(page);
  await page.reload();
  await banner.waitFor();

  await page.getByRole('button', { name: 'Set Turn to normal', exact: true }).click();
  await chip(page, 'Turn Normal').waitFor();
  const waiting = page.locator('.banner').filter({ hasText: '1 message waits for Turn.' });
  await waiting.filter({ hasText: /The next attempt is at \d\d:\d\d:\d\d, in \d+:\d\d\./ }).waitFor();
  await page.getByRole('button', { name: 'Retry now', exact: true }).click();
  await waiting.waitFor({ state: 'detached' });
  // The sweep of the stack runs once a minute.
  const received = async () => (await fetch(`${stack.turn_url}/numbers/${id}/received`)).json();
  await expect.poll(received).toMatchObject([{ from: phone, text: 'Hello?' }]);
});

test('rules that were set by a request are shown, and the overview sets the switch, too', async () => {
  normalAfterwards();
  const phone = newPhone();
  const page = await openPage('/', { viewport: { width: 1440, height: 900 } });
  await fetch(`${stack.turn_url}/behaviour`, { method: 'PUT', body: JSON.stringify({ status: 418, phone }) });
  await chip(page, 'Turn Own rules').waitFor();
  const select = page.getByLabel('Switch of Turn');
  await expect.poll(() => select.inputValue()).toBe('other');
  await select.selectOption('slow');
  await chip(page, 'Turn Slow').waitFor();
  // The user stays.
  expect(await (await fetch(`${stack.turn_url}/behaviour`)).json()).toEqual([{ delay_ms: 4_000, phone }]);
  await select.selectOption('normal');
  await chip(page, 'Turn Normal').waitFor();
});

test('at 1024 px, normal destinations share a chip', async () => {
  normalAfterwards();
  const page = await openPage(`/?of=${newPhone()}`, { viewport: MEDIUM });
  // Other tests switch the app network at the same time.
  const shared = page.getByRole('button', { name: /^(All normal ?: App network, |2 normal ?: )RapidPro, Turn$/ });
  await shared.click();
  await page.getByLabel('Switch of RapidPro').first().waitFor();
  await expectUsable(page, [MEDIUM]);
  await page.keyboard.press('Escape');
  await failFor(newPhone());
  await chip(page, 'Turn Failing').waitFor();
  await page.getByRole('button', { name: /^(2 normal ?: App network, |1 normal ?: )RapidPro$/ }).waitFor();
  await expectUsable(page, [MEDIUM]);
});

test('on small screens, the part Stack has the switches', async () => {
  normalAfterwards();
  const page = await openPage('/?tab=stack', { viewport: smallScreens[0] });
  await failFor(newPhone());
  const turn = page.getByRole('region', { name: 'Destinations' }).locator('details', { hasText: /^Turn/ });
  const mode = turn.getByText('Failing', { exact: true });
  await mode.waitFor();
  await turn.locator('summary').click();
  await turn.getByRole('radio', { name: /^Failing/ }).waitFor();
  await expectUsable(page, smallScreens);
  await turn.getByRole('button', { name: 'Set to normal', exact: true }).click();
  await mode.waitFor({ state: 'hidden' });
});

test('if the server cannot be reached, the switch stays, and the page says why', async () => {
  const page = await openPage('/', { viewport: { width: 1440, height: 900 }, expectedErrors: /ERR_FAILED/ });
  await page.route('**/destinations/*', (route) => route.abort());
  await page.getByLabel('Switch of Turn').selectOption('offline');
  await page.getByRole('alert').filter({ hasText: 'cannot be reached' }).waitFor();
  await chip(page, 'Turn Normal').waitFor();
});
