/**
 * The portal's frame: signing in and out, what a token may see, addresses, small screens, and a lost connection. With
 * SCREENSHOTS=1, `npm run test:browser -- portal.test -t pictures` updates the README's pictures in infra/portal/pictures.
 */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { expectAccessible, expectNoOverflow, openPage, stack } from './support/browser.ts';
import { post, read } from './support/business.ts';
import { openPortal } from './support/portal.ts';
import { screens, zoomedScreens } from './support/screens.ts';

const PORTAL = `${stack.base_url}/portal`;

/** API Gateway's rejection of a token is an error in the console. */
const REJECTED = { expectedErrors: /403/ };

const signIn = async (page: Page, token: string): Promise<void> => {
  await page.getByLabel('API token', { exact: true }).fill(token);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
};

const viewsOf = (page: Page) => page.getByRole('navigation', { name: 'Views', exact: true });

const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true });

/** A token of the demo account. */
const newToken = (...permissions: string[]): Promise<{ token: string }> =>
  post('/v1/tokens', { label: `portal ${permissions}`, permissions });

/** Everything that a browser keeps of this page, except the storage of its tab. */
const kept = async (page: Page): Promise<string> =>
  JSON.stringify([
    page.url(),
    await page.evaluate(() => [{ ...localStorage }, document.cookie]),
    await page.context().cookies(),
  ]);

describe('signing in with a token', () => {
  test('says what is wrong, then shows the first view; the token stays in the tab, and works after signing out', async () => {
    const page = await openPage(PORTAL, REJECTED);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('Enter a token.', { exact: true }).waitFor();
    await signIn(page, 'bapi_wrong');
    await page.getByText('This token is unknown, has expired, or was revoked.').waitFor();
    await signIn(page, ` ${stack.token} `);
    await title(page, 'Home').waitFor();
    expect(await kept(page)).not.toContain(stack.token);
    await page.reload();
    await title(page, 'Home').waitFor();

    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByText('You are signed out.', { exact: true }).waitFor();
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
    const headers = { authorization: `Bearer ${stack.token}` };
    expect((await fetch(`${stack.base_url}/v1/token/info`, { headers })).status).toBe(200);
  });

  test('shows only what the token may see', async () => {
    const { token } = await newToken('stats');
    const page = await openPortal('/', { token });
    await title(page, 'Home').waitFor();
    expect(await viewsOf(page).getByRole('link').allTextContents()).toEqual(['Home', 'Messages', 'Campaigns']);
    await page.goto(`${PORTAL}#/webhooks`);
    await page.getByText('There is no such page, or your token has no permission for it.', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Go to the first page', exact: true }).click();
    await title(page, 'Home').waitFor();
  });

  test('ends when the token is rejected', async () => {
    const page = await openPortal('/messages', REJECTED);
    await title(page, 'Messages').waitFor();
    // What API Gateway returns once its cache has forgotten a token that was revoked.
    await page.route('**/v1/**', (route) => route.fulfill({ status: 403, json: { message: 'Forbidden' } }));
    await viewsOf(page).getByRole('link', { name: 'Surveys', exact: true }).click();
    await title(page, 'Sign in').waitFor();
    await page.getByText('Your session has ended: its token has expired or was revoked.').waitFor();
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  });
});

describe('signing in with a link', () => {
  /** A link of the operator. */
  const newLink = async (): Promise<string> =>
    (await fetch(`${stack.phone_url}/portal-link`, { redirect: 'manual' })).headers.get('location') ?? '';

  test('works once, leaves no code behind, and ends with signing out', async () => {
    const link = await newLink();
    const code = new URL(link).hash.slice('#code='.length);
    const page = await openPage(link, { expectedErrors: /404/ });
    await title(page, 'Home').waitFor();
    expect(await kept(page)).not.toContain(code);
    const { token } = JSON.parse(await page.evaluate(() => sessionStorage.getItem('session') ?? ''));
    expect(await kept(page)).not.toContain(token);
    const sessions = async () =>
      ((await read('/v1/tokens')) as { label: string; last_four: string; revoked?: string }[]).filter(
        ({ last_four, revoked }) => revoked === undefined && token.endsWith(last_four),
      );
    expect(await sessions()).toHaveLength(1);
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByText('You are signed out.', { exact: true }).waitFor();
    expect(await sessions()).toEqual([]);

    await page.goto('about:blank');
    await page.goto(link);
    await page.getByText('This link does not work any more.').waitFor();
    expect(page.url()).not.toContain(code);
  });
});

test('views have addresses: reload and Back keep them, and the title names the view', async () => {
  const page = await openPortal('/surveys');
  await title(page, 'Surveys').waitFor();
  await viewsOf(page).getByRole('link', { name: 'Settings', exact: true }).click();
  await title(page, 'Settings').waitFor();
  expect(await page.title()).toBe('Settings · Business portal');
  await page.reload();
  await title(page, 'Settings').waitFor();
  await page.goBack();
  await title(page, 'Surveys').waitFor();
});

test('works by keyboard alone', async () => {
  const page = await openPortal('/home');
  await title(page, 'Home').waitFor();
  await page.keyboard.press('Tab');
  await page.getByRole('button', { name: 'Skip to the content', exact: true }).and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Enter');
  await page.locator('main:focus').waitFor();

  await viewsOf(page).getByRole('link', { name: 'Messages', exact: true }).focus();
  await page.keyboard.press('Enter');
  // Screen readers announce the new view.
  await page.locator('h1:focus').and(title(page, 'Messages')).waitFor();
});

test('says that the service cannot be reached, and goes on when it can be', async () => {
  const page = await openPortal('/home', { expectedErrors: /ERR_INTERNET_DISCONNECTED|Failed to fetch/ });
  await title(page, 'Home').waitFor();
  await page.context().setOffline(true);
  await viewsOf(page).getByRole('link', { name: 'Settings', exact: true }).click();
  await page
    .getByText('The service cannot be reached. What you see may be out of date')
    .or(page.getByText('This page could not be loaded: the portal may have been updated.'))
    .first()
    .waitFor();
  await page.context().setOffline(false);
  await page.reload();
  await title(page, 'Settings').waitFor();
  expect(await page.getByText('The service cannot be reached.').count()).toBe(0);
});

test.each([...screens.slice(0, 2), ...zoomedScreens.slice(2)])(
  'the page for signing in fits, and is accessible, at $viewport.width px, $colorScheme',
  async (screen) => {
    const page = await openPage(PORTAL, screen);
    await page.getByLabel('API token', { exact: true }).waitFor();
    await expectAccessible(page);
    await expectNoOverflow(page);
  },
);

test('on a small screen, the views are in a menu', async () => {
  const page = await openPortal('/home', { viewport: { width: 320, height: 640 } });
  await title(page, 'Home').waitFor();
  expect(await viewsOf(page).isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Menu', exact: true }).click();
  await expectAccessible(page);
  await viewsOf(page).getByRole('link', { name: 'Settings', exact: true }).click();
  await title(page, 'Settings').waitFor();
  expect(await viewsOf(page).isVisible()).toBe(false);
});

test.runIf(process.env.SCREENSHOTS)('pictures for the README', async () => {
  const folder = 'infra/portal/pictures';
  const to = Array.from({ length: 1_000 }, (_, index) => `9990${String(index).padStart(7, '0')}`);
  const text = { body: 'The clinic is open on Saturday, from 9 to 14. Will you come?' };
  const { job_id } = await post('/v1/message?job_reference=Clinic on Saturday', { to, type: 'text', text });
  const page = await openPortal(`/campaigns/${job_id}`, { viewport: { width: 1280, height: 860 } });
  await page.getByText('Completed', { exact: true }).waitFor();
  await page.screenshot({ path: `${folder}/campaign.png` });
  const home = await openPortal('/home', { viewport: { width: 1280, height: 860 } });
  await home.getByText(/^Measured with the/).waitFor();
  await home.getByRole('link', { name: 'Clinic on Saturday', exact: true }).waitFor();
  await home.screenshot({ path: `${folder}/home.png` });
});
