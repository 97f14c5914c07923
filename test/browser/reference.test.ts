/** The documentation in a browser: the reference with its "try out", and the guides. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { pages } from '../../infra/docs/site/navigation.ts';
import type { Description } from '../../infra/docs/site/reference/description.ts';
import { operationsIn, pageOf } from '../../infra/docs/site/reference/operations.ts';
import type { StackFile } from '../../infra/operator/local-stack/stack-file.ts';
import { apiDescription } from '../../shared/api/openapi/description.ts';
import { placeholders } from '../../shared/api/placeholders.ts';
import { png } from '../stack/support/files.ts';
import { expectAccessible, expectUsable, openPage, stack } from './support/browser.ts';
import { serveOwnStack } from './support/own-stack.ts';

/** A screen that shows the menu and the contents of a page beside it. */
const WIDE = [{ width: 1440, height: 900 }];

const DOCS = `${stack.base_url}/docs`;

/** Opens the page of an operation. */
const openOperation = (id: string, options: Parameters<typeof openPage>[1] = {}, docs = DOCS): Promise<Page> =>
  openPage(`${docs}/${pageOf(id)}`, options);

const description = apiDescription({ base: stack.base_url, bridge: stack.bridge_url });

/** Sends the request of an open page as it is. Returns the first words about the response: its status. */
const tryOut = async (page: Page): Promise<string> => {
  const form = page.locator('.try');
  await form.evaluate((details) => details.setAttribute('open', ''));
  await form.getByRole('button', { name: 'Send request', exact: true }).click();
  const state = form.locator('.state').filter({ hasNotText: 'Sending…' }).filter({ hasText: /./ });
  await expect.poll(() => state.count()).toBe(1);
  return (await state.textContent()) ?? '';
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

/** What the API says about the demo account of a stack. */
const readAccount = async ({ base_url, token }: StackFile): Promise<unknown[]> => {
  const shown: unknown[] = [];
  const lists = ['stats/logs', 'jobs', 'history', 'deliveries', 'tokens', 'research_profilers', 'user_data/requests'];
  for (const path of [...lists, 'avatar', 'configuration']) {
    const read = async () => {
      const response = await fetch(`${base_url}/v1/${path}`, { headers: { authorization: `Bearer ${token}` } });
      return [path, response.status, (await response.text()).replace(/"trace_id":"[^"]*"/, '')];
    };
    // A function may start slowly on a busy machine.
    await expect.poll(read).not.toContain(500);
    shown.push(await read());
  }
  return shown;
};

describe('the reference', () => {
  test('opening pages changes nothing, and trying out a request does', async () => {
    // Other tests use the demo account of the shared stack at the same time.
    const own = await serveOwnStack();
    const before = await readAccount(own);
    const page = await openPage(`${own.docs_url}/reference.html`);
    const sent: string[] = [];
    page.on('request', (request) => void (request.method() === 'GET' || sent.push(request.url())));
    for (const id of ['sendMessage', 'readAvatar', 'uploadImage', 'cancelJob', 'deleteProfiler', 'readMessage']) {
      await page.goto(`${own.docs_url}/${pageOf(id)}`);
      await page.locator('.try summary').first().click();
      await page.getByRole('button', { name: 'Send request', exact: true }).waitFor();
    }
    expect(await readAccount(own)).toEqual(before);
    expect(sent).toEqual([]);
    expect(await tryOut(page)).toMatch(/^200 /);
    expect(await readAccount(own)).not.toEqual(before);
  });

  test('every operation works unchanged with the given tokens, and works again', { timeout: 900_000 }, async () => {
    const page = await openPage(`${DOCS}/reference.html`, { expectedErrors: /status of (404|409)/ });
    const asked: string[] = [];
    page.on('request', (request) => void asked.push(request.url()));
    const failed: string[] = [];
    for (const { id, isWebhook, method } of operationsIn(description as unknown as Description)) {
      if (isWebhook) continue;
      await page.goto(`${DOCS}/${pageOf(id)}`);
      const keys = await page.getByLabel('Idempotency-Key').all();
      for (const key of keys) expect(await key.inputValue()).toBe('');
      // A read leaves nothing that the next one could meet.
      for (const time of method === 'GET' ? ['first'] : ['first', 'second']) {
        const state = await tryOut(page);
        const status = Number.parseInt(state, 10);
        if (!(status < 300) && status !== NEED_OTHERS.get(id))
          failed.push(`${id}, ${time}: ${state} ${await page.locator('.result').textContent()}`);
      }
    }
    expect(failed).toEqual([]);
    expect(asked.filter((url) => url.includes(stack.token) || url.includes(stack.app_token))).toEqual([]);
  });

  test('the form shows the values that were sent', async () => {
    const page = await openOperation('sendMessage', { expectedErrors: /status of 422/ });
    const body = page.getByLabel('Body');
    await expect.poll(() => body.inputValue()).toContain(placeholders.user);
    expect(await tryOut(page)).toMatch(/^200 OK, \d+ ms$/);
    await expect.poll(() => body.inputValue()).toContain(stack.panelist);
    await expect.poll(() => page.locator(':focus').textContent()).toBe('Send request');
    // A changed value is sent as it is.
    await body.fill('{"to":"1"}');
    expect(await tryOut(page)).toMatch(/^422 /);
    await expect.poll(() => body.inputValue()).toBe('{"to":"1"}');
  });

  test('an entered token replaces the given one, also for events of the app network', async () => {
    const page = await openOperation('readTokenInfo', { expectedErrors: /403/ });
    await page.locator('.try summary').first().click();
    await page.getByLabel('Token', { exact: true }).fill('another');
    expect(await tryOut(page)).toMatch(/^403 /);
    await page.goto(`${DOCS}/${pageOf('receiveAppEvents')}`);
    expect(await tryOut(page)).toMatch(/^403 /);
  });

  test.each(['sendMessage', 'receiveTestMessage'])('trying out %s at localhost returns 200', async (name) => {
    const page = await openOperation(name, {}, DOCS.replace('127.0.0.1', 'localhost'));
    expect(await tryOut(page)).toMatch(/^200 /);
  });

  test('the reference uploads a file, and shows a picture', async () => {
    const page = await openOperation('uploadImage');
    const file = { name: 'own.png', mimeType: 'image/png', buffer: Buffer.from(png) };
    await page.locator('.try summary').first().click();
    await page.locator('input[type=file]').setInputFiles(file);
    expect(await tryOut(page)).toMatch(/^200 /);
    const { url } = JSON.parse((await page.locator('.result > pre').textContent()) ?? '');
    expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(file.buffer);
    await page.goto(`${DOCS}/${pageOf('readMedia')}`);
    expect(await tryOut(page)).toMatch(/^200 /);
    await page.getByRole('img', { name: 'The picture of the response', exact: true }).waitFor();
  });

  test('texts in responses stay texts', async () => {
    const hostile = '<img src=x onerror=alert(1)>';
    const page = await openOperation('readTokenInfo');
    await page.route('**/v1/token/info', (route) => route.fulfill({ contentType: 'text/html', body: hostile }));
    expect(await tryOut(page)).toMatch(/^200 /);
    await expect.poll(() => page.locator('.result > pre').textContent()).toBe(hostile);
    expect(await page.locator('.result img').count()).toBe(0);
    await page.unroute('**/v1/token/info');
    await page.route('**/v1/token/info', (route) => route.fulfill({ json: { label: hostile } }));
    expect(await tryOut(page)).toMatch(/^200 /);
    expect(JSON.parse((await page.locator('.result > pre').textContent()) ?? '')).toEqual({ label: hostile });
    expect(await page.locator('.result img').count()).toBe(0);
  });

  test('the page says what is wrong when there is no response', async () => {
    const page = await openOperation('readTokenInfo', { expectedErrors: /ERR_FAILED/ });
    await page.route('**/v1/token/info', (route) => route.abort());
    expect(await tryOut(page)).toContain('Failed to fetch');
    await page.unroute('**/v1/token/info');
    expect(await tryOut(page)).toMatch(/^200 /);
  });

  test('samples have a chosen language, which stays, and a chosen example', async () => {
    const page = await openOperation('sendMessage');
    const request = page.getByRole('region', { name: 'Request', exact: true });
    const sample = request.locator('pre:visible');
    await expect.poll(() => sample.textContent()).toContain('"$BASE_URL/v1/message');
    await request.getByText('Python', { exact: true }).click();
    await expect.poll(() => sample.textContent()).toContain('requests.post(');
    await page.getByLabel('Example').selectOption('An image');
    await expect.poll(() => sample.textContent()).toContain('Our new clinic');
    await page.locator('.try summary').first().click();
    await expect.poll(() => page.getByLabel('Body').inputValue()).toContain('Our new clinic');
    await expectAccessible(page);
    await page.goto(`${DOCS}/${pageOf('readMessage')}`);
    await expect.poll(() => sample.textContent()).toContain('requests.get(');
    // With the keyboard, too.
    await request.getByLabel('Python').focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => sample.textContent()).toContain('await fetch(');
  });

  test('without scripts, a page shows one sample and one example, which can be chosen', async () => {
    const page = await openOperation('sendMessage', { javaScriptEnabled: false });
    const request = page.getByRole('region', { name: 'Request', exact: true });
    const sample = request.locator('pre:visible');
    await expect.poll(() => sample.textContent()).toContain('"$BASE_URL/v1/message');
    await page.getByLabel('Example').selectOption({ index: 4 });
    await request.getByText('Go', { exact: true }).click();
    await expect.poll(() => sample.textContent()).toContain('"dry_run": true');
  });

  test('links of the sidebar, of errors, and earlier ones lead to operations', async () => {
    const page = await openPage(`${DOCS}/reference.html#/Media/uploadImage`);
    await page.getByRole('heading', { name: 'Upload image', level: 1 }).waitFor();
    const sidebar = page.getByRole('navigation', { name: 'Pages' });
    await sidebar.getByText('Messages', { exact: true }).click();
    await sidebar.getByRole('link', { name: 'Send message POST', exact: true }).click();
    await page.getByRole('heading', { name: 'Send message', level: 1 }).waitFor();
    await page.getByText('The job was cancelled', { exact: true }).click();
    await page.getByText(/^What to do: the job was cancelled/).waitFor();
  });

  test('names of the sidebar take one line', async () => {
    const page = await openOperation('startUserDataRequest');
    const wrapped = await page.evaluate(() => {
      for (const area of document.querySelectorAll('.sidebar details')) area.setAttribute('open', '');
      return [...document.querySelectorAll('.sidebar a')]
        .filter((link) => link.getBoundingClientRect().height > 32)
        .map((link) => link.textContent);
    });
    expect(wrapped).toEqual([]);
  });

  test('the page of a message is short, although it shows every field', async () => {
    const page = await openOperation('sendMessage');
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThan(3_000);
  });

  test('the reference shows the webhooks of the service', async () => {
    const page = await openPage(`${DOCS}/reference.html`);
    await page.getByRole('main').getByRole('link', { name: 'message.received', exact: true }).click();
    await page.getByRole('heading', { name: 'message.received', level: 1 }).waitFor();
    await page.getByText('Verify the signature').waitFor();
  });

  test('axe finds no serious violation in the reference', async () => {
    const page = await openOperation('sendMessage');
    expect(await tryOut(page)).toMatch(/^200 /);
    await page.evaluate(() => {
      for (const details of document.querySelectorAll('details')) details.open = true;
    });
    await expectUsable(page, WIDE);
    await page.goto(`${DOCS}/reference.html`);
    await expectUsable(page, WIDE);
  });

  test.each([
    'reference.html',
    pageOf('sendMessage'),
    pageOf('receiveTurnMessage'),
    pageOf('exportProfiler'),
    'reference-receive-user-data-completed.html',
  ])('%s fits all screens', async (path) => {
    const page = await openPage(`${DOCS}/${path}`);
    await page.evaluate(() => {
      for (const details of document.querySelectorAll('details')) details.open = true;
    });
    for (const width of [320, 390, 768, 1024, 1280, 1920, 2560]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await page.evaluate('document.documentElement.scrollWidth'), String(width)).toBe(width);
    }
  });
});

test('each guide fits all screens, and axe finds no serious violation', { timeout: 900_000 }, async () => {
  // In one page, the browser compiles axe once.
  const page = await openPage(DOCS);
  const check = async (path: string): Promise<void> => {
    await page.goto(`${DOCS}/${path}`);
    await page.locator('main h1').waitFor();
    for (const width of [1440, 1024, 390]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await page.evaluate('document.documentElement.scrollWidth'), String(width)).toBe(width);
    }
    // What is around it is the same on each page: the test of the menu checks it.
    await expectUsable(page, WIDE, { within: 'main' });
  };
  const failed: string[] = [];
  for (const { path } of pages) await check(path).catch(({ message }: Error) => failed.push(`${path}: ${message}`));
  expect(failed).toEqual([]);
});

test('below 1100 px the page has no contents, and below 800 px the sidebar is a drawer', async () => {
  const page = await openPage(`${DOCS}/messages.html`, { viewport: { width: 1440, height: 900 } });
  const sidebar = page.getByRole('navigation', { name: 'Pages' });
  const contents = page.getByRole('navigation', { name: 'On this page' });
  await expectUsable(page, WIDE);
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

test('the search lists pages, without a connection to elsewhere, and Enter opens the first one', async () => {
  const page = await openPage(`${DOCS}/`);
  await page.keyboard.press('/');
  await page.keyboard.type('when consent ends');
  await page.getByRole('option').first().waitFor();
  await expectAccessible(page);
  const found = await page.getByRole('option').evaluateAll((options) => options.map((one) => one.getAttribute('href')));
  expect(found.some((url) => url?.startsWith('/docs/user-data.html'))).toBe(true);
  await page.keyboard.press('Enter');
  await page.waitForURL(`${stack.base_url}${found[0]}`);
});
