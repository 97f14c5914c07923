/** Opens pages in Chromium, which may connect only to this machine. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type axe from 'axe-core';
import { type BrowserContextOptions, chromium, type Page, type ViewportSize } from 'playwright-core';
import { expect, inject, onTestFinished } from 'vitest';
import { findChromium } from './chromium.ts';

/** The stack for all browser tests: URLs, tokens and numbers. */
export const stack = inject('served');

const browser = await chromium.launch({
  executablePath: await findChromium(),
  // Pages are short-lived: V8's optimising compilers cost more than they save.
  args: ['--js-flags=--no-opt --no-maglev'],
});

interface PageOptions extends BrowserContextOptions {
  /** Console errors that the test causes. */
  expectedErrors?: RegExp;
  /** A script that runs before those of the page, each time that it is loaded. */
  firstScript?: string;
}

const LOOPBACK = /^(https?|wss?):\/\/(127\.0\.0\.1|localhost|\[::1\])(:|\/)|^(data|blob|about):/;

/**
 * Opens a page in a new browser context, which ends with the test. A console error, an uncaught exception, or a request
 * to another machine fails the test.
 *
 * @param address - a URL, or a path of the phone's server
 * @param options - options of a Playwright context (`colorScheme`, `viewport`, …) and those of `PageOptions`
 */
export const openPage = async (
  address: string,
  { expectedErrors, firstScript, ...options }: PageOptions = {},
): Promise<Page> => {
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
  if (firstScript !== undefined) await page.addInitScript(firstScript);
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

/** Opens a screen of the phone: from a chat, or from another screen. */
export const openScreen = async (page: Page, name: string): Promise<void> => {
  const phone = page.getByRole('main');
  const screens = phone.getByRole('navigation', { name: 'Screens of the phone' });
  if (!(await screens.isVisible())) await phone.getByRole('button', { name: 'Chats', exact: true }).click();
  await screens.getByRole('button', { name, exact: true }).click();
};

/** Opens the chat with a business on the phone. */
export const openChat = async (page: Page, business: string): Promise<void> => {
  await openScreen(page, 'Chats');
  const chats = page.getByRole('main').getByRole('listitem');
  await chats.filter({ has: page.getByText(business, { exact: true }) }).click();
};

interface Checked {
  /** The rules to check; all by default. */
  rules?: string[];
  /** Selects the part of the page to check; all of it by default. */
  within?: string;
}

/** Each page parses it: the minified file is half as large. */
const AXE = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Checks that axe-core finds no serious or critical violation on the current page. */
export const expectAccessible = async (page: Page, { rules, within = ':root' }: Checked = {}): Promise<void> => {
  // Colours that change slowly have no contrast in between.
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)));
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE);
  // Other results take longer than the checks.
  const options = JSON.stringify({ resultTypes: ['violations'], ...(rules !== undefined && { runOnly: rules }) });
  const violations = await page.evaluate<axe.Result[]>(
    `axe.run('${within}', ${options}).then(({ violations }) => violations)`,
  );
  const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  expect(grave.map(({ id, nodes }) => [id, nodes.map(({ html, failureSummary }) => [html, failureSummary])])).toEqual(
    [],
  );
};

/** Checks that no element is wider than the screen, so that the page does not scroll horizontally. */
export const expectNoOverflow = async (page: Page): Promise<void> => {
  const wider = () =>
    page.evaluate(() => ({
      elements: [...document.querySelectorAll('body *')]
        .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
        .map((element) => element.outerHTML.slice(0, 80)),
      scrolls: document.documentElement.scrollWidth > innerWidth,
    }));
  // A page that measures itself fits a moment after a change of its size.
  await expect.poll(wider, { timeout: 10_000 }).toEqual({ elements: [], scrolls: false });
};

/** Screens of the portal: the widest, and the narrowest, which is 1280 px at 400 % (WCAG 2.2, 1.4.10). */
const PORTAL_SCREENS = [
  { width: 1280, height: 800 },
  { width: 320, height: 640 },
];

/** The rules whose results differ between the themes. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/**
 * Checks that a page fits on screens, and is accessible in both themes on the widest and the narrowest. It then has the first
 * size again, and keeps reduced motion.
 *
 * @param sizes - in CSS pixels
 * @param within - selects the part of the page to check for accessibility; all of it by default
 */
export const expectUsable = async (
  page: Page,
  sizes: readonly ViewportSize[] = PORTAL_SCREENS,
  { within }: Pick<Checked, 'within'> = {},
): Promise<void> => {
  const part = within === undefined ? {} : { within };
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const widths = sizes.map(({ width }) => width);
  for (const size of sizes) {
    await page.setViewportSize(size);
    await expectNoOverflow(page);
    // Those between them show the same elements, in the same layout as one of them.
    if (![Math.max(...widths), Math.min(...widths)].includes(size.width)) continue;
    await expectAccessible(page, part);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectAccessible(page, { ...part, rules: COLOUR_RULES });
    await page.emulateMedia({ colorScheme: 'light' });
  }
  if (sizes[0] !== undefined) await page.setViewportSize(sizes[0]);
};
