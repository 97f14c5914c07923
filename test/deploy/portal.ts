/** A person signs in to the deployed portal, in Chromium. */
import assert from 'node:assert/strict';
import { chromium, type Page } from 'playwright-core';
import { findChromium } from '../browser/support/chromium.ts';
import { say } from './steps.ts';

/** Milliseconds until a request to MiniStack, which runs one function after the other, has succeeded. */
const PATIENCE = 120_000;

/** Sends a request from the reference of the deployed service: it has the token of the session. */
const tryOperation = async (page: Page, link: string): Promise<void> => {
  await page.goto(new URL('/docs/reference-read-token-info.html', link).href);
  await page.getByText('Try it', { exact: true }).click();
  await page.getByRole('button', { name: 'Send request' }).click();
  await page.getByRole('status').filter({ hasText: /^200 / }).waitFor();
};

/**
 * Opens a link of the operator, looks at the first view, sends a request from the documentation, and signs out. Then the
 * link and its token are used up. Without Chromium it says that it did nothing; CI fails then.
 */
export const signIn = async (link: string, account: string): Promise<void> => {
  const executablePath = await findChromium().catch((error: Error) => {
    if (process.env.CI) throw error;
    say(`The portal was not opened: ${error.message}`);
  });
  if (executablePath === undefined) return;
  const browser = await chromium.launch({ executablePath, args: ['--host-resolver-rules=MAP *.localhost 127.0.0.1'] });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE);
    const errors: string[] = [];
    page.on('pageerror', (error) => void errors.push(String(error)));
    await page.goto(link);
    await page.getByRole('heading', { level: 1, name: 'Home', exact: true }).waitFor();
    await page.getByText(account, { exact: true }).waitFor();
    assert.ok(!page.url().includes('code='), 'The address still contains the code.');
    await tryOperation(page, link);
    await page.goto(new URL('/portal', link).href);
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByText('You are signed out.', { exact: true }).waitFor();
    await page.goto('about:blank');
    await page.goto(link);
    await page.getByText('This link does not work any more.').waitFor();
    assert.deepEqual(errors, []);
  } finally {
    await browser.close();
  }
};
