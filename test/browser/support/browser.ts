/** Opens pages in Chromium, which may connect only to this machine. */
import axe from 'axe-core';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect, inject, onTestFinished } from 'vitest';

/** The stack for all browser tests: URLs, tokens and numbers. */
export const stack = inject('served');

const browser = await chromium.connect(inject('browser'));

interface PageOptions extends BrowserContextOptions {
  /** Console errors that the test causes. */
  expectedErrors?: RegExp;
}

const LOOPBACK = /^(https?|wss?):\/\/(127\.0\.0\.1|localhost|\[::1\])(:|\/)|^(data|blob|about):/;

/**
 * Opens a page in a new browser context, which ends with the test. A console error, an uncaught exception, or a request
 * to another machine fails the test.
 *
 * @param address - a URL, or a path of the phone's server
 * @param options - options of a Playwright context (`colorScheme`, `viewport`, …) and `expectedErrors`
 */
export const openPage = async (address: string, { expectedErrors, ...options }: PageOptions = {}): Promise<Page> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB', ...options });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !expectedErrors?.test(message.text())) problems.push(message.text());
  });
  page.on('pageerror', (error) => void problems.push(String(error)));
  context.on('request', (request) => {
    if (!LOOPBACK.test(request.url())) problems.push(`It asks for ${request.url()}.`);
  });
  onTestFinished(async () => {
    // A route may still wait for the response to a request that the page made last.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await context.close();
    expect(problems).toEqual([]);
  });
  await page.goto(new URL(address, stack.phone_url).href);
  return page;
};

/** Opens the page with a phone's conversation, and waits until it is live. */
export const openPhone = async (phone: string, options: PageOptions = {}): Promise<Page> => {
  const page = await openPage(`/?user=${phone}`, options);
  await page.locator('.status.live').waitFor({ state: 'attached' });
  await page.getByLabel('Message', { exact: true }).waitFor();
  return page;
};

/** Checks that axe-core finds no serious or critical violation on the current page. */
export const expectAccessible = async (page: Page): Promise<void> => {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{ violations: axe.Result[] }>('axe.run()');
  const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  expect(grave.map(({ id, nodes }) => [id, nodes.map(({ html, failureSummary }) => [html, failureSummary])])).toEqual(
    [],
  );
};

/** Checks that no element is wider than the screen, so that the page does not scroll horizontally. */
export const expectNoOverflow = async (page: Page): Promise<void> => {
  const wider = await page.evaluate(() =>
    [...document.querySelectorAll('body *')]
      .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
      .map((element) => element.outerHTML.slice(0, 80)),
  );
  expect(wider).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
};
