/** The connect wizard on the page, in a browser. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { expectAccessible, expectNoOverflow, openPage, stack } from './support/browser.ts';
import { connectedAccount, newBot } from './support/connect.ts';

const next = (page: Page): Promise<void> => page.getByRole('button', { name: 'Continue' }).click();

/** Opens the wizard, and chooses a platform and a new account. Returns the name of the account. */
const toValues = async (page: Page, platform: string, bot = newBot()): Promise<string> => {
  const name = `Mosaic ${bot}`;
  await page.getByRole('button', { name: 'Connect a platform' }).first().click();
  await page.getByRole('radio', { name: new RegExp(`^${platform}`) }).click();
  await next(page);
  await page.getByRole('radio', { name: /^A new account/ }).click();
  await page.getByLabel('Name of the business').fill(name);
  await page.getByLabel(/^Number of its bot/).fill(`+${bot.slice(0, 2)} ${bot.slice(2)}`);
  await next(page);
  return name;
};

const heading = (page: Page, name: string) => page.getByRole('heading', { name });

test('the wizard shows the values for RapidPro, and finds a mistyped receive URL with its cause and fix', async () => {
  const page = await openPage('/?tab=platforms', {
    viewport: { width: 1440, height: 900 },
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const name = await toValues(page, 'RapidPro');
  await heading(page, `Connect ${name} to RapidPro`).waitFor();
  expect(await page.getByRole('button', { name: 'Write a message' }).count()).toBe(0);

  await page.getByRole('button', { name: 'Copy Send URL' }).click();
  await page.getByRole('button', { name: 'Copied: Send URL. Copy again' }).waitFor();
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
  expect(await clipboard()).toBe(`${stack.bridge_url}/v1/webhook/rapidpro/`);
  const token = page.locator('.value', { hasText: 'Authorization header value' }).locator('code');
  expect(await token.textContent()).toMatch(/^bapi_[0-9a-f]{4}•+[0-9a-f]{4}$/);
  await page.getByRole('button', { name: 'Show Authorization header value' }).click();
  expect(await token.textContent()).toMatch(/^bapi_[0-9a-f]{72}$/);
  await page.getByRole('button', { name: 'Copy all' }).click();
  expect(await clipboard()).toContain('Method: HTTP POST\n');
  const shown = await token.textContent();

  // A reload goes on with the same token, and Back returns to the step before.
  await page.reload();
  await page.getByRole('button', { name: 'Show Authorization header value' }).click();
  expect(await token.textContent()).toBe(shown);
  await next(page);
  await page.getByRole('button', { name: 'Check', exact: true }).waitFor();
  await page.goBack();
  await page.getByRole('button', { name: 'Continue' }).waitFor();
  await next(page);

  const finish = page.getByRole('button', { name: 'Finish' });
  expect(await finish.isDisabled()).toBe(true);
  await page.getByRole('button', { name: 'Save the form in the simulated RapidPro' }).click();
  const url = page.getByLabel(/^Receive URL/);
  await expect.poll(() => url.inputValue()).toMatch(/\/receive$/);
  const right = await url.inputValue();
  await url.fill(right.replace('receive', 'recieve'));
  await page.getByRole('button', { name: 'Check', exact: true }).click();
  await page.getByText('RapidPro reaches the service').waitFor();
  const failed = page.getByRole('listitem').filter({ hasText: 'The service cannot reach RapidPro' });
  await failed.filter({ hasText: 'yours ends with /recieve' }).filter({ hasText: 'Copy the receive URL' }).waitFor();
  expect(await finish.isDisabled()).toBe(true);
  await expectAccessible(page);
  await failed.getByRole('button', { name: 'Correct it' }).click();
  expect(await url.evaluate((element) => element === document.activeElement)).toBe(true);
  await url.fill(right);
  await page.getByRole('button', { name: 'Check again' }).click();
  await page.getByText('The service reaches RapidPro').waitFor();
  await finish.click();
  await page.getByRole('button', { name: new RegExp(`${name}.*Working`) }).waitFor();
  await page.getByRole('article', { name, exact: true }).waitFor();
  // The phone shows the new business, and its bot replies.
  await page.getByLabel('Message', { exact: true }).fill('Molweni');
  await page.keyboard.press('Enter');
  await page.getByRole('log').getByText('You wrote: Molweni').waitFor();
});

describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
  test.each([1440, 1024, 390])('each step of the wizard is accessible, and fits into %i px', async (width) => {
    const page = await openPage('/?tab=platforms', { viewport: { width, height: 844 }, colorScheme });
    const looks = async () => {
      await expectAccessible(page);
      await expectNoOverflow(page);
    };
    await page.getByText('Working').first().waitFor();
    await looks();
    await page.getByRole('button', { name: 'Connect a platform' }).first().click();
    await heading(page, 'Which platform?').waitFor();
    await looks();
    await page.goBack();
    const name = await toValues(page, 'Turn');
    await heading(page, `Connect ${name} to Turn`).waitFor();
    await looks();
    await next(page);
    await page.getByRole('button', { name: 'Save the form in the simulated Turn' }).click();
    await expect.poll(() => page.getByLabel(/^Channel UUID/).inputValue()).not.toBe('');
    await page.getByLabel(/^Turn's authentication token/).fill('another-token');
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await page.getByText('It refuses the token (401).').waitFor();
    await looks();
  });
});

test("Turn's endpoint contains the encoded token, and is masked until it is shown", async () => {
  const page = await openPage('/?tab=platforms', { viewport: { width: 1440, height: 900 } });
  const name = await toValues(page, 'Turn');
  await heading(page, `Connect ${name} to Turn`).waitFor();
  const endpoint = page.locator('.value', { hasText: 'endpoint' }).locator('code');
  expect(await endpoint.textContent()).toMatch(/\/v1\/webhook\/turn\/.{9}•+.{4}$/);
  await page.getByRole('button', { name: 'Show endpoint' }).click();
  const encoded = (await endpoint.textContent())?.split('/').at(-1) ?? '';
  expect(Buffer.from(encoded, 'base64url').toString()).toMatch(/^bapi_/);
  await page.getByText('Secret', { exact: true }).waitFor();
});

test('a number that another bot has, and a malformed one, are explained, and the wizard stays', async () => {
  const { bot } = await connectedAccount('turn');
  const page = await openPage('/?tab=platforms', {
    viewport: { width: 1440, height: 900 },
    expectedErrors: /status of 422/,
  });
  await toValues(page, 'Own webhook', bot);
  await page.getByRole('alert').filter({ hasText: 'belongs to the bot of the account' }).waitFor();
  await page.getByLabel(/^Number of its bot/).fill('12');
  await next(page);
  await page.getByRole('alert').filter({ hasText: 'must be a phone number' }).waitFor();
});

test('a connection whose wizard was closed begins again', async () => {
  const { id } = await connectedAccount('turn');
  const page = await openPage(`/?tab=platforms&account=${id}&step=3&platform=turn`, {
    expectedErrors: /status of 404/,
  });
  await page.getByRole('button', { name: 'Begin again' }).click();
  await heading(page, 'Which platform?').waitFor();
  expect(await page.getByRole('radio', { name: /^Turn/ }).isChecked()).toBe(true);
});
