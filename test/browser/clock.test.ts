/** The clock of the stack on the page, in a browser. A stack of its own: others use the shared one at real time. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { expectAccessible, expectUsable, openPage, stack } from './support/browser.ts';
import { newPhone } from './support/business.ts';
import { serveOwnStack } from './support/own-stack.ts';
import { largeScreens, smallScreens } from './support/screens.ts';

const DAY_MS = 86_400_000;
const WIDE = { viewport: { width: 1440, height: 900 } };

/** The clock's chip, by its last words. The buttons of its open menu may have the same words. */
const chip = (page: Page, words: RegExp) =>
  page.getByRole('button', { name: words }).and(page.locator('.clock-chip .destination-chip'));

const section = (page: Page) => page.getByRole('region', { name: 'Clock', exact: true });

/** What the page says that the time is, in milliseconds since 1970. */
const shownTime = async (page: Page): Promise<number> =>
  Date.parse((await section(page).locator('time').getAttribute('datetime')) ?? '');

test('the clock moves ahead on the page, runs faster, is set, and returns to real time; other clients move it live', async () => {
  const own = await serveOwnStack();
  const headers = { authorization: `Bearer ${own.token}`, 'content-type': 'application/json' };
  const ask = async (body: object) =>
    (await fetch(`${own.phone_url}/clock`, { method: 'POST', body: JSON.stringify(body) })).json();
  const page = await openPage(`${own.phone_url}/?user=${own.panelist}`, { ...WIDE, expectedErrors: /422/ });
  await chip(page, /Real time$/).waitFor();
  const button = (name: string) => section(page).getByRole('button', { name, exact: true });
  const statusBar = () => page.locator('.status-bar time').getAttribute('datetime');

  // A message at real time, one after the next step, and one whose delivery fails until the clock is at its retry.
  const send = async (body: string) => {
    const message = JSON.stringify({ to: own.panelist, type: 'text', text: { body } });
    expect((await fetch(`${own.base_url}/v1/message`, { method: 'POST', headers, body: message })).status).toBe(200);
  };
  await send('At real time');
  const log = page.getByRole('log');
  await log.getByText('At real time').waitFor();
  await button('+3 days').focus();
  await page.keyboard.press('Enter');
  await chip(page, /3 d ahead$/).waitFor();
  await page.getByRole('status').filter({ hasText: 'The clock of the stack is 3 d ahead of real time.' }).waitFor();
  expect(await button('+3 days').evaluate((element) => element === document.activeElement)).toBe(true);
  await expect.poll(() => shownTime(page)).toBeGreaterThan(Date.now() + 3 * DAY_MS - 60_000);
  await expect.poll(async () => Date.parse((await statusBar()) ?? '')).toBeGreaterThan(Date.now() + 2.9 * DAY_MS);
  await send('Three days later');
  await log.getByText('Three days later').waitFor();
  // The older message has the date of its day, which is not today on the phone.
  await expect.poll(() => log.getByText('Today', { exact: true }).count()).toBe(1);
  await log.getByText(/^\w+day,? \d+ \w+$/).waitFor();

  // Another client, such as the command line.
  await ask({ advance: '1d12h' });
  await chip(page, /4 d 12 h ahead$/).waitFor();
  await button('×600').click();
  await chip(page, /×600$/).waitFor();
  await expect.poll(() => button('×600').getAttribute('aria-pressed')).toBe('true');
  const before = await shownTime(page);
  await expect.poll(async () => (await shownTime(page)) - before).toBeGreaterThan(5 * 60_000);
  await button('×600').click();
  await chip(page, /ahead$/).waitFor();

  await button('Set…').click();
  await section(page).getByLabel('Duration').fill('soon');
  await button('Advance').click();
  await page.getByRole('alert').filter({ hasText: 'must be a duration, such as 3d, 90m or 1d12h.' }).waitFor();
  await section(page).getByLabel('Time').fill('2020-01-31T09:00');
  await button('Set the time').click();
  await page.getByRole('alert').filter({ hasText: 'The clock only moves ahead.' }).waitFor();
  await section(page).getByLabel('Duration').fill('1w');
  await button('Advance').click();
  await chip(page, /1[12] d.* ahead$/).waitFor();
  const next = new Date(Date.now() + 30 * DAY_MS).toISOString().slice(0, 16);
  const zone = await page.evaluate((time) => new Date(`${time}Z`).getTime() - new Date(time).getTime(), next);
  await section(page).getByLabel('Time').fill(next);
  await button('Set the time').click();
  await expect.poll(() => shownTime(page)).toBeGreaterThanOrEqual(Date.parse(`${next}Z`) - zone);
  await page.reload();
  await chip(page, /(29|30) d.* ahead$/).waitFor();

  await chip(page, /ahead$/).click();
  const menu = page.locator('.clock-chip').getByRole('group', { name: 'Clock of the stack' });
  await expectAccessible(page);
  await menu.getByRole('button', { name: 'Real time', exact: true }).click();
  await chip(page, /Real time$/).waitFor();
  await expect.poll(async () => Math.abs((await shownTime(page)) - Date.now())).toBeLessThan(60_000);

  // A retry is only minutes away.
  await fetch(`${own.phone_url}/behaviour`, { method: 'PUT', body: JSON.stringify({ status: 503 }) });
  await send('During the outage');
  await page.keyboard.press('Escape');
  const row = page
    .getByRole('region', { name: 'Traces' })
    .getByRole('button')
    .filter({ hasText: 'During the outage' })
    .first();
  await row.filter({ hasText: 'Retry in' }).click();
  await fetch(`${own.phone_url}/behaviour`, { method: 'DELETE' });
  // The confirmation disappears after some seconds, so the test waits for it from the beginning.
  await Promise.all([
    page.getByRole('status').filter({ hasText: 'The clock is at the attempt.' }).waitFor(),
    page.getByRole('button', { name: 'Advance the clock to it', exact: true }).click(),
  ]);
  await log.getByText('During the outage').waitFor();
});

/** How the page looks while the clock is moved: the shared stack stays at real time. */
const openMoved = async (address: string, options: Parameters<typeof openPage>[1]): Promise<Page> => {
  const page = await openPage('/', options);
  const time = new Date(Date.now() + 3.5 * DAY_MS).toISOString();
  await page.route('**/clock', (route) =>
    route.fulfill({ json: { time, ahead_s: 302_400, rate: 1, moving: false, last_advance: { stops: 38, ms: 1_240 } } }),
  );
  await page.goto(new URL(address, stack.phone_url).href);
  return page;
};

test('on large screens, the chip and the overview show a moved clock', async () => {
  const page = await openMoved(`/?of=${newPhone()}`, { viewport: largeScreens[0] });
  const moved = chip(page, /3 d 12 h ahead$/);
  await moved.click();
  await page.getByRole('button', { name: 'Set…', exact: true }).first().click();
  await page.getByLabel('Duration').first().waitFor();
  await expectUsable(page, largeScreens);
  // Escape closes the panel, and the chip has the focus again.
  await page.keyboard.press('Escape');
  expect(await moved.evaluate((element) => element === document.activeElement)).toBe(true);
});

test('on small screens, each part shows a moved clock', async () => {
  const phone = newPhone();
  const page = await openMoved(`/?user=${phone}&of=${phone}`, { viewport: smallScreens[0] });
  const parts = page.getByRole('navigation', { name: 'Parts of the page' });
  for (const name of ['Activity', 'Phone']) {
    await parts.getByRole('button', { name: new RegExp(`${name}$`) }).click();
    await chip(page, /3 d 12 h ahead$/).waitFor();
    await expectUsable(page, smallScreens);
  }
  await chip(page, /ahead$/).click();
  await page.getByRole('button', { name: '+1 day', exact: true }).waitFor();
  await expectUsable(page, smallScreens);
  await page.keyboard.press('Escape');
  await parts.getByRole('button', { name: 'Stack' }).click();
  await section(page).getByText('3 d 12 h ahead').waitFor();
  await section(page).getByText('Work was due at 38 times, and took 1.2 s').waitFor();
  await section(page).getByRole('button', { name: 'Set…' }).click();
  await expectUsable(page, smallScreens);
});

test('if the server cannot be reached, the page says why the clock was not set', async () => {
  const page = await openPage('/', { ...WIDE, expectedErrors: /ERR_FAILED/ });
  await chip(page, /Real time$/).waitFor();
  await page.route('**/clock', (route) => route.abort());
  await section(page).getByRole('button', { name: '+1 hour' }).click();
  await section(page).getByRole('alert').filter({ hasText: 'cannot be reached' }).waitFor();
  await chip(page, /Real time$/).waitFor();
});
