/** The portal's view Home, in a browser. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { setFaultRules } from '../support/fault-rules.ts';
import { newAccount } from './support/account.ts';
import { expectAccessible, expectUsable, stack } from './support/browser.ts';
import { newPhone, post, read, send, spaced } from './support/business.ts';
import { openPortal } from './support/portal.ts';

const part = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

/** Answers a request of the page in place of the API. */
const answer = (page: Page, path: string, json: unknown, status = 200) =>
  page.route(`${stack.base_url}${path}`, (route) =>
    json === undefined ? route.fulfill({ status: 204 }) : route.fulfill({ status, json }),
  );

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 23);

const platform = { name: 'rapidpro', status: 'working', pending_messages: 0, more_pending: false };

const configurationWith = (given: object) => ({
  configuration: {
    name: 'Clinic',
    bot_number: null,
    avatar: null,
    limits: { long_polls: 1 },
    allowances: {},
    platform,
    ...given,
  },
});

describe('Home', () => {
  test('counts what became of messages, and leads from a failure to the message that failed', async () => {
    // The account is new: in a shared one, the five newest campaigns can be those of other tests.
    const { token } = await newAccount('messages', 'stats');
    const [rejected, reached] = [newPhone(), newPhone()];
    await setFaultRules(stack.phone_url, rejected, { status: 404 });
    await send({ to: reached, type: 'text', text: { body: 'Hello' } }, token);
    const id = await send({ to: rejected, type: 'text', text: { body: 'Hello' } }, token);
    const later = {
      to: [newPhone(), newPhone()],
      type: 'text',
      text: { body: 'Later' },
      send_at: Math.floor(Date.now() / 1_000) + 86_400,
    };
    const { job_id: campaign } = await post('/v1/message', later, token);
    const today = new Date().toISOString().slice(0, 10);
    const counted = async (state: string) =>
      ((await read(`/v1/stats/jobs?start_date=${today}&end_date=${today}`, token)) as { state: string }[]).some(
        (row) => row.state === state,
      );
    await expect.poll(() => counted('sending_failed')).toBe(true);
    await expect.poll(() => counted('delivered_to_server')).toBe(true);

    const page = await openPortal('/home', { token, timezoneId: 'UTC' });
    await part(page, 'Messages')
      .getByRole('row', { name: /^Sent [\d,]+ 100 %$/ })
      .waitFor();
    await part(page, 'Messages')
      .getByRole('row', { name: /^Reached the server / })
      .waitFor();
    await part(page, 'Delivery times').getByText('To the server', { exact: true }).waitFor();
    await part(page, 'Delivery times')
      .getByText(/^Measured with the/)
      .waitFor();
    const scheduled = part(page, 'Recent campaigns')
      .getByRole('listitem')
      .filter({ has: page.locator(`a[href="#/campaigns/${campaign}"]`) });
    await scheduled.getByText('Scheduled', { exact: true }).waitFor();
    await scheduled.getByText(/^2 messages · Starts /).waitFor();

    await page.getByRole('link', { name: 'Last 30 days', exact: true }).click();
    await expect.poll(() => page.url()).toContain('period=month');
    await page.reload();
    await page.locator('a[aria-current="true"]', { hasText: 'Last 30 days' }).waitFor();
    await page.goBack();
    await expect.poll(() => page.url()).not.toContain('period=month');

    const failure = part(page, 'Needs attention')
      .getByRole('listitem')
      .filter({ hasText: /not sent today/ });
    await failure.getByText('The app rejected it.').first().waitFor();
    await failure.getByRole('link', { name: 'Show messages', exact: true }).click();
    await page.getByRole('link', { name: `To ${spaced(rejected)}`, exact: true }).click();
    await page.getByRole('heading', { name: `Message to ${spaced(rejected)}`, exact: true }).waitFor();
    expect(page.url()).toContain(id);
    await page.getByRole('alert').filter({ hasText: 'Check the number' }).waitFor();
  });

  test('shows what fails with its cause and the way to fix it, as text', async () => {
    const page = await openPortal('/home');
    const name = '<img src=x onerror=alert(1)>';
    const webhook = { url: 'https://example.com/', version: 2, created: inDays(-9), updated: inDays(-9) };
    await answer(
      page,
      '/v1/configuration',
      configurationWith({ platform: { ...platform, name: 'webhooks', status: 'disabled', pending_messages: 7 } }),
    );
    await answer(page, '/v1/webhooks', [
      { ...webhook, id: '1', description: name, status: 'disabled', cause: 'status_410' },
      { ...webhook, id: '2', status: 'failing', cause: 'timeout', failing_since: inDays(-1) },
      { ...webhook, id: '3', status: 'working' },
    ]);
    await answer(page, '/v1/tokens', [
      { id: '1', label: name, permissions: ['stats'], last_four: '1234', created: inDays(-90), expires: inDays(5) },
      { id: '2', label: 'Session', permissions: [], last_four: '1234', created: inDays(-0.1), expires: inDays(0.4) },
      { id: '3', label: 'Old', permissions: [], last_four: '1234', created: inDays(-90), expires: inDays(-1) },
    ]);
    await answer(page, '/v1/stats/jobs?*', [{ job_id: '1', state: 'received', payload_type: 'text', count: 2 }]);
    await page.reload();
    const problems = part(page, 'Needs attention').getByRole('listitem');
    await expect.poll(() => problems.count()).toBe(3);
    const gone = problems.filter({ hasText: `The webhook ${name} is switched off` });
    await gone.getByText('nobody wants these events any more (status 410)').waitFor();
    await problems
      .filter({ hasText: 'The webhook example.com fails' })
      .getByText(/within 10 seconds/)
      .waitFor();
    await problems
      .filter({ hasText: `The token “${name}” expires soon` })
      .getByRole('link')
      .waitFor();
    await expect
      .poll(() => gone.getByRole('link', { name: 'Open webhooks', exact: true }).getAttribute('href'))
      .toBe('#/webhooks');
    await expectUsable(page);
  });

  test('says that nothing fails, what a new account does first, and by itself what happened since', async () => {
    const page = await openPortal('/home');
    await page.clock.install();
    await answer(page, '/v1/configuration', configurationWith({ platform: null }));
    await answer(page, '/v1/webhooks', undefined);
    await answer(page, '/v1/tokens', []);
    await answer(page, '/v1/stats/jobs?*', undefined);
    await page.reload();
    await part(page, 'Needs attention').getByText('Nothing needs your attention.').waitFor();
    await part(page, 'Start here').getByRole('link', { name: 'Write a message', exact: true }).waitFor();
    expect(await part(page, 'Messages').count()).toBe(0);
    await expectAccessible(page);
    await answer(page, '/v1/stats/jobs?*', [{ job_id: '1', state: 'received', payload_type: 'text', count: 2 }]);
    await page.clock.fastForward(30_000);
    await part(page, 'Messages').getByText('2 messages received').waitFor();
    await part(page, 'Needs attention').getByText('Nothing receives the messages of people').waitFor();
  });

  test('says what could not be loaded, and tries again', async () => {
    const page = await openPortal('/home', { expectedErrors: /422/ });
    const problem = { code: 'period_too_large', detail: 'The response would exceed 5 MB.' };
    await answer(page, '/v1/stats/jobs?*', problem, 422);
    await page.reload();
    await page.getByRole('alert').filter({ hasText: problem.detail }).first().waitFor();
    await page.unroute(`${stack.base_url}/v1/stats/jobs?*`);
    await page.getByRole('button', { name: 'Try again', exact: true }).first().click();
    await part(page, 'Messages').waitFor();
  });
});
