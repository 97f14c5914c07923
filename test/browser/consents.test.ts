/** The consent centre of the phone's page, and the cards of user data requests, in a browser. */
import { json } from 'node:stream/consumers';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { expectUsable, openChat, openPhone, openScreen } from './support/browser.ts';
import { acknowledge, askFor, newPhone, read, register, sendText, statesOf } from './support/business.ts';
import { largeScreens, smallScreens } from './support/screens.ts';

/** The card of the demo's business. */
const demo = (page: Page): Locator => page.getByRole('article', { name: 'Demo', exact: true });

const row = (page: Page, property: string): Locator => demo(page).getByRole('listitem').filter({ hasText: property });

const withdraw = (page: Page, property: string): Locator =>
  demo(page).getByRole('button', { name: `Withdraw ${property}` });

const asked = ['first_name', 'last_name', 'device_platform'].map((property) => ({ property }));

/** A user who has approved what the business asked for, with the consents open. Returns the request. */
const withConsent = async (options: Parameters<typeof openPhone>[1] = {}, valid_days?: number) => {
  const phone = newPhone();
  await register(phone, { first_name: 'Thandi', last_name: 'Mokoena', device_platform: 'android' });
  const page = await openPhone(phone, options);
  const request = await askFor(phone, asked, valid_days === undefined ? {} : { valid_days });
  await page.getByRole('button', { name: 'Approve all', exact: true }).click();
  await page.getByText('Answered.').waitFor();
  await openScreen(page, 'Consents');
  await withdraw(page, 'First name').waitFor();
  return { phone, page, request };
};

describe('what each business knows', () => {
  test('each business is shown with what it got, and the user can stop a business and start it again', async () => {
    const phone = newPhone();
    await register(phone, { first_name: 'Thandi', device_platform: 'android' });
    const page = await openPhone(phone);
    await askFor(phone, [{ property: 'first_name', reason: 'Your name' }, { property: 'device_platform' }]);
    await openScreen(page, 'Consents');
    const demo = page.getByRole('article', { name: 'Demo', exact: true });
    // The service releases automatic properties with the request.
    await demo.getByText('Knows 1 thing').waitFor();
    await page.getByRole('article', { name: 'Demo on Turn' }).getByText('Knows nothing but your number').waitFor();
    await page.getByRole('button', { name: 'Answer', exact: true }).click();
    await page.getByRole('button', { name: 'Approve First name', exact: true }).click();
    await page.getByRole('log').getByText('Approved', { exact: true }).waitFor();
    await openScreen(page, 'Consents');
    await demo
      .getByRole('listitem')
      .filter({ hasText: 'Thandi' })
      .getByRole('button', { name: 'Withdraw First name' })
      .waitFor();
    await demo.getByRole('listitem').filter({ hasText: 'android' }).getByText('Automatic').waitFor();

    const receive = demo.getByRole('switch', { name: 'Receive messages of Demo' });
    await receive.click();
    await demo.getByText('You stopped this business').waitFor();
    await page.reload();
    await demo.getByText('You stopped this business').waitFor();
    expect(await receive.isChecked()).toBe(false);
    await sendText(phone, 'Not wanted');
    await expect.poll(() => statesOf(phone)).toContain('sending_failed');
    await expect(askFor(phone, [{ property: 'last_name' }])).rejects.toThrow('403');

    await receive.click();
    await demo.getByText('Knows 2 things, until you withdraw them').waitFor();
    await sendText(phone, 'Good to see you');
    await openChat(page, 'Demo');
    await page.getByRole('log').getByText('Good to see you').waitFor();
    expect(await page.getByRole('log').getByText('Not wanted').count()).toBe(0);
  });

  test('if the service cannot be reached, the switch stays as it is, and says why', async () => {
    const phone = newPhone();
    const page = await openPhone(phone, { expectedErrors: /ERR_FAILED/ });
    await openScreen(page, 'Consents');
    await page.route('**/stops/*', (route) => route.abort());
    const receive = page.getByRole('switch', { name: 'Receive messages of Demo', exact: true });
    await receive.click();
    await page.getByRole('alert').filter({ hasText: 'cannot be reached' }).waitFor();
    await expect.poll(() => receive.isChecked()).toBe(true);
  });
});

describe('the withdrawal of consent', () => {
  test('works with the keyboard, is sent once and announced, and shows the deletion until it is acknowledged', async () => {
    const { page, request } = await withConsent({}, 30);
    await demo(page)
      .getByText(/^Knows 3 things, until \d+ \w+ \d{4}$/)
      .waitFor();
    expect(await row(page, 'Device platform').getByRole('button').count()).toBe(0);
    let sent = 0;
    const held = Promise.withResolvers<void>();
    await page.route('**/withdrawals', async (route) => {
      sent += 1;
      await held.promise;
      await route.continue();
    });
    const button = withdraw(page, 'Last name');
    await withdraw(page, 'First name').focus();
    await page.keyboard.press('Tab');
    expect(await button.evaluate((it) => [it === document.activeElement, getComputedStyle(it).outlineStyle])).toEqual([
      true,
      'solid',
    ]);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await button.click({ force: true });
    held.resolve();
    const ended = row(page, 'Last name');
    await ended.getByText(/^Withdrawn today, /).waitFor();
    await ended.getByText('Deleting').waitFor();
    expect(sent).toBe(1);
    await page.getByRole('status').filter({ hasText: 'Last name withdrawn. Demo must delete its copy.' }).waitFor();
    expect(await ended.evaluate((it) => it === document.activeElement)).toBe(true);
    expect(await ended.getByText('Mokoena').count()).toBe(0);
    await demo(page).getByText('Knows 2 things, until').waitFor();
    expect(await read(`/v1/user_data/fetch/${request}`)).toMatchObject({
      results: { first_name: { status: 'approved' }, last_name: { status: 'withdrawn' } },
    });

    expect(await acknowledge(request)).toBe(204);
    await ended.getByText('Deleted').waitFor();
    await openChat(page, 'Demo');
    const card = page.getByRole('article', { name: 'Demo asks for your data' });
    await card.getByText('valid for 30 days').waitFor();
    await card.getByText('Withdrawn', { exact: true }).waitFor();
    await card.getByText('Approved', { exact: true }).waitFor();
  });

  test('ends the consents of all requests that released the property', async () => {
    const { phone, page, request } = await withConsent();
    await demo(page).getByText('Knows 3 things, until you withdraw them').waitFor();
    const again = await askFor(phone, [{ property: 'first_name' }]);
    await page.getByText('asks for your first name').waitFor();
    await page.getByRole('button', { name: 'Answer', exact: true }).click();
    await page.getByRole('button', { name: 'Approve First name', exact: true }).click();
    await expect.poll(() => page.getByText('Answered.').count()).toBe(2);
    await openScreen(page, 'Consents');
    await withdraw(page, 'First name').click();
    await row(page, 'First name').getByText('Deleting').waitFor();
    for (const id of [request, again]) {
      expect(await read(`/v1/user_data/fetch/${id}`)).toMatchObject({
        results: { first_name: { status: 'withdrawn' } },
      });
    }
    await acknowledge(request);
    await row(page, 'Last name').waitFor();
    await expect.poll(() => row(page, 'First name').getByText('Deleting').count()).toBe(1);
    await acknowledge(again);
    await row(page, 'First name').getByText('Deleted').waitFor();
  });

  test('shows an error if the service cannot be reached, and can be repeated', async () => {
    const { page } = await withConsent({ expectedErrors: /ERR_FAILED/ });
    await page.route('**/withdrawals', (route) => route.abort());
    await withdraw(page, 'First name').click();
    const alert = page.getByRole('alert').filter({ hasText: 'First name is not withdrawn. The local stack cannot be' });
    await alert.waitFor();
    await page.unroute('**/withdrawals');
    await withdraw(page, 'First name').click();
    await row(page, 'First name').getByText('Deleting').waitFor();
    expect(await alert.count()).toBe(0);
  });
});

test('the business asks for consent for some days, from 1 to 365, or without an end', async () => {
  const phone = newPhone();
  await register(phone, { first_name: 'Thandi' });
  const page = await openPhone(phone);
  const days = page.getByLabel('Valid days');
  const request = page.getByRole('button', { name: 'Consent request', exact: true });
  const openDays = () => page.getByRole('button', { name: 'Validity of the consent', exact: true }).click();
  await openDays();
  await days.fill('366');
  await request.click();
  await page.getByRole('alert').filter({ hasText: 'must be valid for 1 to 365 days' }).waitFor();
  await openDays();
  await days.fill('1');
  await request.click();
  await page.getByText('valid for 1 day, or').waitFor();
  await openDays();
  await days.fill('');
  await request.click();
  await page.getByText('valid until you withdraw it').waitFor();
  await expect.poll(() => page.getByRole('article', { name: 'Demo asks for your data' }).count()).toBe(2);
});

test('the business confirms a deletion on the page, and the receipts can be exported', async () => {
  const { phone, page } = await withConsent();
  await withdraw(page, 'Last name').click();
  await row(page, 'Last name').getByText('Deleting').waitFor();
  await page.goto(`${page.url()}&of=${phone}`);
  await page.getByRole('region', { name: 'Traces' }).getByRole('button').filter({ hasText: 'withdrawn' }).click();
  await page.getByRole('button', { name: 'Confirm as Demo', exact: true }).click();
  await page.getByRole('status').filter({ hasText: 'Demo confirmed that its copy is deleted.' }).waitFor();
  await row(page, 'Last name').getByText('Deleted').waitFor();

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.locator('.inspector').getByRole('link', { name: 'Export receipts' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('consent-receipts.jsonld');
  const records = Object(await json(await download.createReadStream()));
  expect(records['@graph']).toMatchObject([{ '@type': 'dpv:ConsentRecord' }]);
});

describe('accessibility', () => {
  test.each([
    ['large', largeScreens],
    ['small', smallScreens],
  ] as const)(
    'on %s screens, in both themes, axe finds no serious violation in any state of consent, and nothing overflows',
    async (_, sizes) => {
      const { phone, page, request } = await withConsent({ viewport: sizes[0] });
      // No consent of a local stack expires while a browser waits: the shortest is valid for a day.
      await page.route('**/view/phones/*/consents', async (route) => {
        const response = await route.fetch();
        const expired = JSON.parse(await response.text(), (_, value) =>
          value?.property === 'device_platform'
            ? { ...value, state: 'expired', ended: '2026-01-02T10:00:00.000Z', deletion: 'owed', value: null }
            : value,
        );
        await route.fulfill({ response, json: expired });
      });
      // Only the traces of this user: axe takes long for hundreds of rows.
      await page.goto(`${page.url()}&of=${phone}`);
      await openScreen(page, 'Consents');
      await withdraw(page, 'Last name').click();
      await row(page, 'Last name').getByText('Deleting').waitFor();
      await row(page, 'Device platform').getByText('Expired on').waitFor();
      await expectUsable(page, sizes);
      await acknowledge(request);
      await row(page, 'Last name').getByText('Deleted').waitFor();
      await askFor(phone, [{ property: 'citizenship' }], { valid_days: 30 });
      await page.getByText('asks for your citizenship').waitFor();
      await expectUsable(page, sizes);
      await page.getByRole('button', { name: 'Answer', exact: true }).click();
      await page.getByText('valid for 30 days').waitFor();
      await expectUsable(page, sizes);
    },
  );
});
