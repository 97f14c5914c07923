/** What the page shows after a campaign over the API, in a browser. A stack of its own: others share their users. */
import { expect, test } from 'vitest';
import { openPage } from './support/browser.ts';
import { newPhone } from './support/business.ts';
import { serveOwnStack } from './support/own-stack.ts';

test('a campaign to 150 users removes no name, message or trace of another user', { timeout: 300_000 }, async () => {
  const own = await serveOwnStack();
  const headers = { authorization: `Bearer ${own.token}`, 'content-type': 'application/json' };
  const send = async (to: string | string[], body: string) => {
    const message = JSON.stringify({ to, type: 'text', text: { body } });
    const response = await fetch(`${own.base_url}/v1/message`, { method: 'POST', headers, body: message });
    expect(response.status).toBe(200);
    return response.json();
  };
  const page = await openPage(own.phone_url, { viewport: { width: 1440, height: 900 } });
  const log = page.getByRole('log');
  await page.getByLabel('Message', { exact: true }).fill('Before the campaign');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await log.getByText('You wrote: Before the campaign').waitFor();
  await log.getByRole('img', { name: 'on the platform' }).waitFor();

  // An open page draws each message, which takes processor time. It draws the last ones.
  await page.goto('about:blank');
  // More than the page shows. The numbers of real users, unlike those of the simulated ones.
  const receivers = [...new Set(Array.from({ length: 150 }, newPhone))];
  const { job_id } = await send(receivers, 'To everybody');
  const job = async () => (await fetch(`${own.base_url}/v1/jobs/${job_id}`, { headers })).json();
  await expect
    .poll(async () => (await job()).states, { timeout: 200_000, interval: 1_000 })
    .toMatchObject({ delivered_to_server: receivers.length, delivered_to_user: receivers.length });
  for (let index = 0; index < 260; index += 1) {
    if (index === 200) await page.goto(own.phone_url);
    await send(receivers[index % receivers.length] ?? '', 'And one message more');
  }

  await page.reload();
  await page.getByText('Phone of Thandi Example').waitFor();
  await log.getByText('You wrote: Before the campaign').waitFor();
  await log.getByRole('img', { name: 'on the platform' }).waitFor();
  const traces = page.getByRole('region', { name: 'Traces' });
  await traces.getByText(/^The last 250 of 2\d\d\./).waitFor();
  await page.getByRole('searchbox', { name: /^Search by trace/ }).fill(own.panelist);
  await traces.getByRole('listitem').filter({ hasText: 'Message from Thandi' }).waitFor();
  await traces.getByRole('listitem').filter({ hasText: 'Message to Thandi' }).waitFor();
  await page.getByRole('searchbox', { name: /^Search by trace/ }).fill(job_id);
  await traces
    .getByRole('listitem')
    .filter({ hasText: `Job of ${receivers.length} messages` })
    .getByRole('button')
    .click();
  const inPortal = page.locator('.inspector').getByRole('link', { name: 'Open in the portal' });
  await expect.poll(() => inPortal.getAttribute('href')).toBe(`/portal-link?to=/campaigns/${job_id}`);
  await page.locator('.inspector').getByRole('button', { name: 'Close', exact: true }).click();
  // Each destination has the bars of its own last calls.
  for (const calls of ['30 calls, 0 failed', /^[1-9] calls, 0 failed$/])
    await page.getByRole('img', { name: calls }).waitFor();
  await page.getByText('median', { exact: true }).waitFor();
  const users = page.getByRole('navigation', { name: 'Users' });
  await users.getByText('Thandi').waitFor();
  await expect.poll(() => users.getByRole('listitem').count()).toBe(51);
});
