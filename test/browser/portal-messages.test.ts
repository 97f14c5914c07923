/** The portal's view Messages, in a browser. */
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { expectUsable, stack } from './support/browser.ts';
import { newPhone, newToken, post, send, spaced, statesOf } from './support/business.ts';
import { openPortal } from './support/portal.ts';

const search = async (page: Page, text: string): Promise<void> => {
  await page.getByLabel('Search messages', { exact: true }).fill(text);
  await page.getByRole('button', { name: 'Search', exact: true }).click();
};

const report = (id: string, state: string) =>
  fetch(`${stack.phone_url}/messages/${id}/states`, { method: 'POST', body: JSON.stringify({ state }) });

describe('Messages', () => {
  test('finds a message by number, reference and id, and shows its life', async () => {
    const phone = newPhone();
    const reference = `<img src=x onerror=alert(1)> ${phone}`;
    const id = await send({ to: phone, type: 'text', text: { body: 'Hello' }, reference });
    await expect.poll(() => statesOf(phone)).toContain('delivered_to_user');
    const page = await openPortal('/messages');

    await search(page, spaced(phone));
    // The list before the search has the message, too.
    await page.getByRole('link', { name: `Remove the filter Person: ${spaced(phone)}`, exact: true }).waitFor();
    const row = page.getByRole('row').filter({ hasText: `To ${spaced(phone)}` });
    await row.getByText(reference, { exact: true }).waitFor();
    await expect.poll(() => row.count()).toBe(1);
    await row.getByText('Delivered', { exact: true }).waitFor();
    await page.getByRole('link', { name: `Remove the filter Person: ${spaced(phone)}`, exact: true }).click();
    await search(page, reference);
    await page.getByText(`Reference: ${reference}`, { exact: true }).waitFor();
    await page.reload();
    await expectUsable(page);
    await row.getByRole('link').click();

    await page.getByRole('heading', { name: `Message to ${spaced(phone)}`, exact: true }).waitFor();
    const life = page.getByRole('region', { name: 'What happened', exact: true }).getByRole('listitem');
    await life.filter({ hasText: /^Read/ }).getByText('Not yet', { exact: true }).waitFor();
    await report(id, 'read');
    // The page reads a new message again by itself.
    await life.filter({ hasText: /^Read/ }).getByText(/^\+/).waitFor();
    await expectUsable(page);
    await page.getByRole('link', { name: 'Messages', exact: true }).last().click();
    await page.getByText(`Reference: ${reference}`, { exact: true }).waitFor();

    await search(page, id);
    await page.getByRole('heading', { name: `Message to ${spaced(phone)}`, exact: true }).waitFor();
    await page.getByRole('link', { name: 'All messages with this person', exact: true }).click();
    await row.getByText('Read', { exact: true }).waitFor();
  });

  test('finds the messages of a campaign, and narrows them by filters that the address keeps', async () => {
    const phones = [newPhone(), newPhone()];
    const { job_id: job } = await post('/v1/message', { to: phones, type: 'text', text: { body: 'Clinic day' } });
    for (const phone of phones) await expect.poll(() => statesOf(phone)).toContain('delivered_to_server');
    const page = await openPortal('/messages');
    await search(page, job);
    const rows = page.getByRole('row').filter({ hasText: 'To +27' });
    await expect.poll(() => rows.count()).toBe(2);

    await page.getByText('More filters', { exact: true }).click();
    await page.getByLabel('Phone number', { exact: true }).fill('082 123');
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText(/^Enter a number with its country code/).waitFor();
    await page.getByLabel('Phone number', { exact: true }).fill(`+${phones[0]}`);
    await page.getByLabel('From', { exact: true }).fill('2020-01-01T00:00');
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByLabel('Status', { exact: true }).selectOption('Sent');
    await page.getByText(/It may have got further since/).waitFor();
    await page.reload();
    await expect.poll(() => rows.count()).toBe(1);
    await rows.getByText('Sent', { exact: true }).waitFor();

    await page.getByLabel('Status', { exact: true }).selectOption('Not sent');
    await page.getByText(/^No message fits/).waitFor();
    await page.getByRole('link', { name: 'Clear filters', exact: true }).click();
    await page.getByRole('heading', { name: 'Latest messages', exact: true }).waitFor();
  });

  test('says that an id is of no message, and what is wrong with an address', async () => {
    const page = await openPortal(`/messages/${randomUUID()}`, { expectedErrors: /404|422/ });
    await page.getByText(/^There is no message with this id\. It may have expired/).waitFor();
    await page.getByRole('link', { name: 'Go to the list', exact: true }).click();
    await page.getByRole('heading', { name: 'Latest messages', exact: true }).waitFor();
    await page.evaluate(() => {
      location.hash = '#/messages?state=nonsense';
    });
    await page
      .getByRole('alert')
      .getByText(/must be "sent"/)
      .waitFor();
  });

  test('says of an erased person that only the steps are kept', async () => {
    const id = await send({ to: newPhone(), type: 'text', text: { body: 'Hello' }, reference: 'order-1' });
    const page = await openPortal('/messages');
    // An erasure takes a minute.
    await page.route(`${stack.base_url}/v1/message/${id}`, async (route) => {
      const { reference: _, ...message } = await (await route.fetch()).json();
      await route.fulfill({ json: { ...message, contact: `erased-${randomUUID()}@users.example.com` } });
    });
    await search(page, id);
    await page.getByRole('heading', { name: 'Message to an erased person', exact: true }).waitFor();
    await page.getByText(/their data was erased/).waitFor();
    await page.getByRole('listitem').filter({ hasText: /^Sent/ }).waitFor();
  });

  test('shows a token with stats alone the figures and the list, and nothing that it may not call', async () => {
    const phone = newPhone();
    await send({ to: phone, type: 'text', text: { body: 'Hello' } });
    await expect.poll(() => statesOf(phone)).toContain('delivered_to_server');
    const page = await openPortal('/home', { token: await newToken('stats') });
    const calls: number[] = [];
    page.on('response', (response) => calls.push(response.status()));
    await page.reload();
    await page.getByRole('region', { name: 'Recent campaigns', exact: true }).waitFor();
    expect(await page.getByRole('region', { name: 'Delivery times', exact: true }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Write a message', exact: true }).count()).toBe(0);
    await page.getByRole('link', { name: 'Messages', exact: true }).click();
    await search(page, phone);
    const row = page.getByRole('row').filter({ hasText: `To ${spaced(phone)}` });
    await row.waitFor();
    expect(await row.getByRole('link').count()).toBe(0);
    expect(calls.filter((status) => status >= 400)).toEqual([]);
  });
});
