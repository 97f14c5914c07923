/**
 * The portal's frame: signing in and out, what a token may see, addresses, small screens, and a lost connection. With
 * SCREENSHOTS=1, `npm run test:browser -- portal.test -t pictures` updates the README's pictures in infra/portal/pictures.
 */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { newAccount, newCode } from './support/account.ts';
import { expectAccessible, expectUsable, openPage, stack } from './support/browser.ts';
import { newToken, post } from './support/business.ts';
import { openPortal } from './support/portal.ts';

const PORTAL = `${stack.base_url}/portal`;

/** API Gateway's rejection of a token is an error in the console. */
const REJECTED = { expectedErrors: /403/ };

const signIn = async (page: Page, token: string): Promise<void> => {
  await page.getByLabel('API token', { exact: true }).fill(token);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
};

const viewsOf = (page: Page) => page.getByRole('navigation', { name: 'Views', exact: true });

const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true });

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

    // As the documentation does, which has the same origin.
    await page.evaluate(() => sessionStorage.setItem('token-of-requests', 'bapi_other'));
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByText('You are signed out.', { exact: true }).waitFor();
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
    const headers = { authorization: `Bearer ${stack.token}` };
    expect((await fetch(`${stack.base_url}/v1/token/info`, { headers })).status).toBe(200);
  });

  test('shows only what the token may see', async () => {
    const page = await openPortal('/', { token: await newToken('stats') });
    await title(page, 'Home').waitFor();
    await expect
      .poll(() => viewsOf(page).getByRole('link').allTextContents())
      .toEqual(['Home', 'Messages', 'Campaigns']);
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

/** Whether the service accepts a token. A header with another number of spaces has another key in the gateway's cache. */
const isAccepted = async (token: string): Promise<boolean> => {
  spaces += 1;
  const headers = { authorization: `Bearer${' '.repeat(spaces)}${token}` };
  return (await fetch(`${stack.base_url}/v1/token/info`, { headers })).ok;
};
let spaces = 1;

/** The token of the session of a tab. */
const tokenIn = (page: Page): Promise<string> =>
  page.evaluate(() => JSON.parse(sessionStorage.getItem('session') ?? '{}').token);

describe('signing in with a link', () => {
  test('opens the view of the link, keeps nothing of the code, and signing out ends the session', async () => {
    const { id } = await newAccount('stats');
    const code = await newCode(id, 'stats', 'messages');
    const page = await openPage(`${PORTAL}#code=${code}&to=/messages?state=read`, { expectedErrors: /404/ });
    await title(page, 'Messages').waitFor();
    expect(page.url()).toBe(`${PORTAL}#/messages?state=read`);
    const token = await tokenIn(page);
    expect(await kept(page)).not.toMatch(new RegExp(`${code}|${token}`));
    expect(await page.content()).not.toContain(token);
    expect(await isAccepted(token)).toBe(true);
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByText('You are signed out.', { exact: true }).waitFor();
    await expect.poll(() => isAccepted(token)).toBe(false);

    // A link that is entered where the portal is open changes only what follows #.
    await page.goto(`${PORTAL}#code=${code}&to=//evil.example/`);
    await page.getByText('This link does not work any more.', { exact: false }).waitFor();
    expect(page.url()).toBe(`${PORTAL}#//evil.example/`);
    const second = await newCode(id, 'stats');
    await page.goto(`${PORTAL}#code=${second}`);
    await title(page, 'Home').waitFor();
    expect(await kept(page)).not.toContain(second);

    // Another link replaces the session, and ends it. One that does not work leaves it alone.
    const before = await tokenIn(page);
    await page.goto(`${PORTAL}#code=${await newCode(id, 'stats')}`);
    await expect.poll(() => isAccepted(before)).toBe(false);
    await title(page, 'Home').waitFor();
    const after = await tokenIn(page);
    await page.goto(`${PORTAL}#code=wrong`);
    await page.getByText('The link does not work:', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'Try again', exact: true }).click();
    await title(page, 'Home').waitFor();
    expect(await tokenIn(page)).toBe(after);
  });

  test('goes on when the service can be reached again, though the code is used up', async () => {
    const { id } = await newAccount('stats');
    const page = await openPage(PORTAL, { expectedErrors: /503/ });
    await page.route('**/v1/token/info', (route) => route.fulfill({ status: 503, headers: { 'retry-after': '0' } }));
    await page.goto(`${PORTAL}#code=${await newCode(id, 'stats')}`);
    await page.getByText('The service did not handle this request (503).', { exact: false }).waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again', exact: true }).click();
    await title(page, 'Home').waitFor();
  });

  test('is found if it is opened while the portal starts', async () => {
    const { id } = await newAccount('stats');
    // Effects that wait for an animation frame begin later, as on a busy machine.
    const firstScript = `
      const [timeout, frame] = [setTimeout, requestAnimationFrame];
      setTimeout = (work, ms, ...args) => timeout(work, ms > 0 && ms < 100 ? 3_000 : ms, ...args);
      requestAnimationFrame = (work) => timeout(() => frame(work), 3_000);`;
    const page = await openPage(PORTAL, { firstScript });
    await page.goto(`${PORTAL}#code=${await newCode(id, 'stats')}`);
    await title(page, 'Home').waitFor();
  });

  test('who signs out while the service cannot be reached is told that the session may go on', async () => {
    const { id } = await newAccount('stats');
    const page = await openPage(`${PORTAL}#code=${await newCode(id, 'stats')}`, { expectedErrors: /ERR_FAILED/ });
    await title(page, 'Home').waitFor();
    await page.route('**/v1/sessions/current', (route) => route.abort());
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByText('the session may go on for up to twelve hours', { exact: false }).waitFor();
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  });
});

test('a response to a request of a former session does not end the next session', async () => {
  const page = await openPortal('/home', REJECTED);
  await title(page, 'Home').waitFor();
  const answers: (() => Promise<void>)[] = [];
  await page.route('**/v1/stats/logs*', (route) => {
    answers.push(() => route.fulfill({ status: 403, json: { message: 'Forbidden' } }));
  });
  await viewsOf(page).getByRole('link', { name: 'Messages', exact: true }).click();
  await expect.poll(() => answers.length).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.unroute('**/v1/stats/logs*');
  await signIn(page, stack.token);
  await title(page, 'Messages').waitFor();
  for (const answer of answers) await answer().catch(() => undefined);
  await viewsOf(page).getByRole('link', { name: 'Settings', exact: true }).click();
  await page.getByRole('region', { name: 'Limits', exact: true }).waitFor();
});

describe('a response that is not of the API', () => {
  test('is an error, and the other views still work', async () => {
    const page = await openPortal('/messages');
    await title(page, 'Messages').waitFor();
    await page.route('**/v1/research_profilers*', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<script>alert(1)</script>' }),
    );
    await viewsOf(page).getByRole('link', { name: 'Surveys', exact: true }).click();
    await page.getByText('The service cannot be reached. Check your connection', { exact: false }).waitFor();
    await page.route('**/v1/configuration', (route) => route.fulfill({ json: { configuration: { name: 1 } } }));
    await viewsOf(page).getByRole('link', { name: 'Settings', exact: true }).click();
    await page.getByText('Something went wrong in this page. Load it again.', { exact: true }).waitFor();
    await page.unrouteAll();
    await viewsOf(page).getByRole('link', { name: 'Surveys', exact: true }).click();
    await title(page, 'Surveys').waitFor();
  });

  test('is not saved as a file', async () => {
    const { profiler_id } = await post('/v1/research_profilers', { question: 'Tea?', options: ['yes', 'no'] });
    const page = await openPortal(`/surveys/${profiler_id}`);
    let downloads = 0;
    page.on('download', () => {
      downloads += 1;
    });
    await page.route('**/answers.csv', (route) => route.fulfill({ contentType: 'text/html', body: '<p>Sign in' }));
    await page.getByRole('button', { name: /answers/i }).click();
    await page.getByText('The file is not saved. The service cannot be reached.', { exact: false }).waitFor();
    expect(downloads).toBe(0);
  });

  test('with wrong problems and dates is shown as far as it is understood', async () => {
    const page = await openPortal('/messages', { expectedErrors: /422/ });
    const evil = '<img src=x onerror=alert(1)>';
    await page.route('**/v1/stats/logs*', (route) =>
      route.fulfill({
        status: 422,
        headers: { date: 'never' },
        json: { code: 1, detail: evil, errors: [null, 1, { detail: {} }, { detail: evil, pointer: {} }], trace_id: {} },
      }),
    );
    await page.reload();
    await page.getByText(evil, { exact: true }).first().waitFor();
    expect(await page.locator('img[src=x]').count()).toBe(0);
  });

  test('cannot lead the token to another host', async () => {
    const page = await openPortal('/messages');
    await page.route('**/v1/stats/logs*', async (route) => {
      const response = await route.fetch();
      const headers = { link: '<https://evil.example/v1>; rel="next"' };
      await route.fulfill({ response, status: 200, headers, json: [] });
    });
    await page.reload();
    await page.getByRole('button', { name: 'Show more', exact: true }).click();
    await page.getByText('Something went wrong in this page.', { exact: false }).waitFor();
  });
});

test.each([
  '/messages/..',
  '/surveys/.',
  '/people/%2e%2e?asked=x',
  '/campaigns/..',
  '/webhooks/deliveries/..',
  '/messages?state=constructor&__proto__=1&start=5',
  '/surveys/audience?__proto__=0&constructor=1',
  '/people?from=9999-99-99&to=x',
  '/__proto__/%E0%A4%A/%?%',
  '//evil.example/',
])('an address that nobody made leads to no other endpoint, and breaks nothing: %s', async (address) => {
  const page = await openPortal('/developers', { expectedErrors: /404|422/ });
  await title(page, 'Developers').waitFor();
  const paths: string[] = [];
  page.on('request', (request) => paths.push(new URL(request.url()).pathname));
  await page.evaluate((hash) => {
    location.hash = hash;
  }, address);
  const unknown = page.getByText('There is no such page', { exact: false });
  await page.locator('h1', { hasNotText: 'Developers' }).or(unknown).first().waitFor();
  await page.waitForLoadState('networkidle');
  expect(
    paths.filter((path) => path.startsWith('/v1/') && /\/$|\/(?:results|answers)$/.test(path) && !/%252E/.test(path)),
  ).toEqual([]);
  expect(await page.getByText(/Something went wrong|undefined/).count()).toBe(0);
  await viewsOf(page).getByRole('link', { name: 'Developers', exact: true }).click();
  await title(page, 'Developers').waitFor();
});

test('a token calls nothing that it may not call, in any view', async () => {
  // A rejection would be an error in the console.
  const page = await openPortal('/home', { token: await newToken('stats') });
  const called = new Set<string>();
  page.on('request', (request) => called.add(new URL(request.url()).pathname));
  for (const [view, heading] of [
    ['messages', 'Messages'],
    ['campaigns', 'Campaigns'],
    ['campaigns/x', 'Campaign x'],
    ['messages/x', 'Messages'],
    ['campaigns/new', 'New campaign'],
    ['home?period=month', 'Home'],
  ] as const) {
    await page.evaluate((hash) => {
      location.hash = hash;
    }, `/${view}`);
    await title(page, heading).waitFor();
    await expect.poll(() => page.locator('.skeleton').count()).toBe(0);
  }
  const paths = [...called].filter((path) => path.startsWith('/v1/'));
  expect(paths.sort()).toEqual(['/v1/stats/jobs', '/v1/stats/logs']);
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

test('the page for signing in fits on all screens, and is accessible', async () => {
  const page = await openPage(PORTAL);
  await page.getByLabel('API token', { exact: true }).waitFor();
  await expectUsable(page);
});

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
