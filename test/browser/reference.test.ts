/** The documentation in a browser: the reference with its "try out", and the guides. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { pages } from '../../infra/docs/shell.ts';
import { png } from '../stack/support/files.ts';
import { expectAccessible, openPage, stack } from './support/browser.ts';

const DOCS = `${stack.base_url}/docs`;

const openReference = async (options: Parameters<typeof openPage>[1] = {}, address = DOCS): Promise<Page> => {
  const page = await openPage(address, options);
  await page.locator('#reference[data-ready]').waitFor();
  return page;
};

/** Opens an operation of the reference. */
const open = async (page: Page, name: string) => {
  const operation = page.locator(`.opblock[id$="-${name}"]`);
  await operation.locator('.opblock-summary-control').click();
  return operation;
};

/** Tries out an operation with its example. Returns the status of the response. */
const tryOut = async (page: Page, name: string): Promise<string> => {
  const operation = await open(page, name);
  await operation.locator('button.execute').click();
  const status = await operation.locator('.live-responses-table tbody .response-col_status').first().textContent();
  return (status ?? '').slice(0, 3);
};

describe('the reference', () => {
  test.each<[string, string]>([
    ['sendMessage', '200'],
    ['createProfiler', '200'],
    ['startUserDataRequest', '200'],
    ['retrieveUserData', '200'],
    ['listJobs', '200'],
    ['receiveTestMessage', '200'],
    ['receiveRapidproMessage', '200'],
    ['receiveTurnMessage', '200'],
  ])('trying out %s with its example and the given token returns %s', async (name, status) => {
    expect(await tryOut(await openReference(), name)).toBe(status);
  });

  test.each(['sendMessage', 'receiveTestMessage'])('trying out %s at localhost returns 200', async (name) => {
    const page = await openReference({}, DOCS.replace('127.0.0.1', 'localhost'));
    expect(await tryOut(page, name)).toBe('200');
  });

  test('the reference uploads a file', async () => {
    const page = await openReference();
    const operation = await open(page, 'uploadImage');
    const file = { name: 'picture.png', mimeType: 'image/png', buffer: Buffer.from(png) };
    await operation.locator('input[type=file]').setInputFiles(file);
    await operation.locator('button.execute').click();
    await operation.getByText('/media/').first().waitFor();
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

describe.each(pages.flatMap(({ guide }) => guide?.replace('.md', '') ?? []))('the guide %s', (guide) => {
  test.each([
    { colorScheme: 'light', viewport: { width: 1280, height: 900 } },
    { colorScheme: 'dark', viewport: { width: 390, height: 844 } },
  ] as const)(
    'the guide fits a screen of $viewport.width px, and axe finds no serious violation ($colorScheme)',
    async (options) => {
      const page = await openPage(`${DOCS}/${guide}.html`, options);
      await page.locator('main h1').waitFor();
      await expectAccessible(page);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(options.viewport.width);
    },
  );
});
