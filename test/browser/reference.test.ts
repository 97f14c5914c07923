/** The documentation in a browser: the reference with its "try out", and the guides. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { pages } from '../../infra/docs/site/navigation.ts';
import { operationsOf } from '../../infra/docs/site/search-entries.ts';
import { apiDescription } from '../../shared/api/openapi/description.ts';
import { png } from '../stack/support/files.ts';
import { expectAccessible, openPage, stack } from './support/browser.ts';

const DOCS = `${stack.base_url}/docs`;

const openReference = async (options: Parameters<typeof openPage>[1] = {}, docs = DOCS): Promise<Page> => {
  const page = await openPage(`${docs}/reference.html`, options);
  // The first page makes what the examples name.
  await page.locator('#reference[data-ready]').waitFor({ timeout: 100_000 });
  return page;
};

/** Opens an operation of the reference. */
const open = async (page: Page, name: string) => {
  const operation = page.locator(`.opblock[id$="-${name}"]`);
  await operation.locator('.opblock-summary-control').click();
  return operation;
};

const description = apiDescription({ base: stack.base_url, bridge: stack.bridge_url });

/** Tries out an operation with its example. Returns the status of the response. */
const tryOut = async (page: Page, name: string): Promise<string> => {
  const operation = await open(page, name);
  await operation.locator('button.execute').click();
  const status = await operation.locator('.live-responses-table tbody .response-col_status').first().textContent();
  return (status ?? '').slice(0, 3);
};

/** Operations that need an account without RapidPro, whose events listeners or webhooks of its own receive; and their statuses. */
const NEED_OTHERS = new Map([
  ['claimDeliveries', 409],
  ['settleDelivery', 404],
  ['endSession', 409],
  ['createWebhook', 409],
  ['listWebhooks', 409],
  ['updateWebhook', 409],
  ['testWebhook', 409],
  ['rotateWebhookSecret', 409],
  ['deleteWebhook', 409],
]);

describe('the reference', () => {
  test('every operation works unchanged with the given tokens, and works again', { timeout: 900_000 }, async () => {
    const page = await openReference({ expectedErrors: /status of (404|409)/ });
    const asked: string[] = [];
    page.on('request', (request) => void asked.push(request.url()));
    const failed: string[] = [];
    for (const { id, method } of operationsOf(description)) {
      const operation = await open(page, id);
      const keys = await operation.getByLabel('Idempotency-Key').all();
      for (const key of keys) expect(await key.inputValue()).toBe('');
      for (const time of ['first', 'second']) {
        const [response] = await Promise.all([
          page.waitForResponse((one) => one.request().method() === method && !/\/docs\/[\w.]+$/.test(one.url())),
          operation.locator('button.execute').click(),
        ]);
        if (response.status() >= 300 && response.status() !== NEED_OTHERS.get(id))
          failed.push(`${id}, ${time}: ${response.status()} ${await response.text()}`);
        await operation.locator('.live-responses-table').waitFor();
      }
      // A closed operation takes no time.
      await operation.locator('.opblock-summary-control').click();
    }
    expect(failed).toEqual([]);
    expect(asked.filter((url) => url.includes(stack.token) || url.includes(stack.app_token))).toEqual([]);
  });

  test('an entered token replaces the given one, also for events of the app network', async () => {
    const page = await openReference({ expectedErrors: /403/ });
    await page.getByRole('button', { name: 'Authorize', exact: true }).first().click();
    await page.getByRole('button', { name: 'Remove authorization', exact: true }).click();
    await page.locator('.modal-ux input').fill('another');
    await page.getByRole('button', { name: 'Apply credentials', exact: true }).click();
    await page.locator('.modal-ux .btn-done').click();
    expect(await tryOut(page, 'receiveAppEvents')).toBe('403');
  });

  test.each(['sendMessage', 'receiveTestMessage'])('trying out %s at localhost returns 200', async (name) => {
    const page = await openReference({}, DOCS.replace('127.0.0.1', 'localhost'));
    expect(await tryOut(page, name)).toBe('200');
  });

  test('the reference uploads a file', async () => {
    const page = await openReference();
    const operation = await open(page, 'uploadImage');
    const file = { name: 'own.png', mimeType: 'image/png', buffer: Buffer.from(png) };
    await operation.locator('input[type=file]').setInputFiles(file);
    await operation.locator('button.execute').click();
    await operation.getByText('/media/').first().waitFor();
  });

  test('the reference shows samples of code, and keeps the chosen language', async () => {
    const page = await openPage(`${DOCS}/`);
    await page.route('**/docs/openapi.json', async (route) => {
      const response = await route.fetch();
      const changed = await response.json();
      changed.paths['/v1/message'].post['x-codeSamples'] = [
        { lang: 'Shell', label: 'curl', source: 'curl "$BASE_URL/v1/message"' },
        { lang: 'Python', source: 'requests.post(url)' },
      ];
      await route.fulfill({ response, json: changed });
    });
    await page.goto(`${DOCS}/reference.html`);
    await page.locator('#reference[data-ready]').waitFor({ timeout: 100_000 });
    const operation = await open(page, 'sendMessage');
    await operation.getByText('curl "$BASE_URL/v1/message"').waitFor();
    await operation.getByRole('button', { name: 'Python' }).click();
    await operation.getByText('requests.post(url)').waitFor();
    await expectAccessible(page);
    await page.reload();
    await page.locator('#reference[data-ready]').waitFor({ timeout: 100_000 });
    // The URL names the operation, so it is open.
    await operation.getByText('requests.post(url)').waitFor();
  });

  test('a link of the sidebar opens its operation', async () => {
    const page = await openReference();
    await page.getByRole('navigation', { name: 'Pages' }).locator('a[href="#/Media/uploadImage"]').click();
    await page.locator('.opblock.is-open[id$="-uploadImage"]').waitFor();
  });

  test('the reference shows the webhooks of the service', async () => {
    const page = await openReference();
    await page.getByText('A user sent a message to your bot.').first().waitFor();
  });

  test.each(['light', 'dark'] as const)('axe finds no serious violation in the reference: %s', async (colorScheme) => {
    const page = await openReference({ colorScheme });
    const operation = await open(page, 'sendMessage');
    await operation.locator('button.execute').click();
    await operation.locator('.live-responses-table').waitFor();
    await expectAccessible(page);
  });

  test('the reference fits a screen of 390 px', async () => {
    const page = await openReference({ viewport: { width: 390, height: 844 } });
    await expectAccessible(page);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  });
});

test.each(pages.map(({ path }) => path))('%s fits all screens, and axe finds no serious violation', async (path) => {
  const page = await openPage(`${DOCS}/${path}`, { viewport: { width: 1440, height: 900 } });
  await page.locator('main h1').waitFor();
  await expectAccessible(page);
  for (const width of [1440, 1024, 390]) {
    await page.setViewportSize({ width, height: 844 });
    expect(await page.evaluate('document.documentElement.scrollWidth'), String(width)).toBe(width);
  }
  await page.emulateMedia({ colorScheme: 'dark' });
  await expectAccessible(page);
});

test('below 1100 px the page has no contents, and below 800 px the sidebar is a drawer', async () => {
  const page = await openPage(`${DOCS}/messages.html`, { viewport: { width: 1440, height: 900 } });
  const sidebar = page.getByRole('navigation', { name: 'Pages' });
  const contents = page.getByRole('navigation', { name: 'On this page' });
  await contents.getByText('Stop messages').click();
  await page.waitForURL(/#stop-messages$/);
  await page.setViewportSize({ width: 1000, height: 800 });
  expect([await sidebar.isVisible(), await contents.isVisible()]).toEqual([true, false]);
  await page.setViewportSize({ width: 700, height: 800 });
  expect(await sidebar.isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Menu', exact: true }).click();
  await expectAccessible(page);
  await sidebar.getByText('Campaigns').click();
  await page.getByRole('heading', { name: 'Campaigns', level: 1 }).waitFor();
  expect(await sidebar.isVisible()).toBe(false);
});

test('the chosen theme stays', async () => {
  const page = await openPage(`${DOCS}/`, { colorScheme: 'light' });
  const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
  await page.getByRole('button', { name: 'Dark theme', exact: true }).click();
  expect(await background()).toBe('rgb(16, 19, 24)');
  await page.reload();
  expect(await background()).toBe('rgb(16, 19, 24)');
});

test.each([
  ['when consent ends', 'user-data.html'],
  ['/v1/upload_image', 'reference.html#/Media/uploadImage'],
  ['idempotency_key_reused', 'errors.html#idempotency_key_reused'],
  ['rapidpro max length', 'rapidpro.html'],
])('the search for "%s" leads to %s, without a connection to elsewhere', async (words, target) => {
  const page = await openPage(`${DOCS}/`);
  await page.keyboard.press('/');
  await page.keyboard.type(words);
  await page.getByRole('option').first().waitFor();
  await expectAccessible(page);
  const found = await page.getByRole('option').evaluateAll((options) => options.map((one) => one.getAttribute('href')));
  expect(found.some((url) => url?.startsWith(target))).toBe(true);
  await page.keyboard.press('Enter');
  await page.waitForURL(`${DOCS}/${found[0]}`);
});
