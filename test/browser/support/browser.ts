/** How tests meet pages: in a real Chromium, which may go nowhere but to this machine. */
import axe from 'axe-core';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect, inject, onTestFinished } from 'vitest';

/** The stack that is served to all tests in a browser: its addresses, tokens and numbers. */
export const stack = inject('served');

const browser = await chromium.connect(inject('browser'));

interface PageOptions extends BrowserContextOptions {
  /** Errors on the console that the test brings about. */
  expectedErrors?: RegExp;
}

const LOOPBACK = /^(https?|wss?):\/\/(127\.0\.0\.1|localhost|\[::1\])(:|\/)|^(data|blob|about):/;

/**
 * Opens a page in a browser context of its own, which ends with the test. The test fails if there is an error on the
 * page's console, an exception that nobody catches, or a request to anywhere but this machine.
 *
 * @param address - a URL, or a path of the phone's server
 * @param options - Playwright's of a context: `colorScheme`, `viewport`, …; and `expectedErrors`
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
    await context.close();
    expect(problems).toEqual([]);
  });
  await page.goto(new URL(address, stack.phone_url).href);
  return page;
};

/** Holds that axe-core finds nothing serious or critical on the page as it is now. */
export const expectAccessible = async (page: Page): Promise<void> => {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{ violations: axe.Result[] }>('axe.run()');
  const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  expect(grave.map(({ id, nodes }) => [id, nodes.map(({ html, failureSummary }) => [html, failureSummary])])).toEqual(
    [],
  );
};

/** Holds that nothing is wider than the screen: nothing is cut off, and nothing scrolls sideways. */
export const expectNoOverflow = async (page: Page): Promise<void> => {
  const wider = await page.evaluate(() =>
    [...document.querySelectorAll('body *')]
      .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
      .map((element) => element.outerHTML.slice(0, 80)),
  );
  expect(wider).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
};
