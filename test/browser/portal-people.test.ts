/** The portal's view People's data, in a browser. */
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { expectAccessible, expectUsable, stack } from './support/browser.ts';
import { askFor, newPhone, read, register, spaced } from './support/business.ts';
import { openPortal } from './support/portal.ts';

type Answer = 'approved' | 'denied';

/** Answers a request on the user's phone, as soon as it is there. */
const answer = (request: string, answers: Record<string, Answer>) =>
  expect
    .poll(async () => {
      const body = JSON.stringify({ answers });
      return (await fetch(`${stack.phone_url}/requests/${request}/answers`, { method: 'POST', body })).ok;
    })
    .toBe(true);

const withdraw = (request: string, properties: string[]) =>
  fetch(`${stack.phone_url}/requests/${request}/withdrawals`, { method: 'POST', body: JSON.stringify({ properties }) });

/** Waits until the list has a request with a status. */
const listed = (request: string, status = 'completed') =>
  expect
    .poll(async () => {
      const all: { requestId: string; status: string }[] = await read('/v1/user_data/requests?limit=100');
      return all.find(({ requestId }) => requestId === request)?.status;
    })
    .toBe(status);

const row = (page: Page, text: string): Locator => page.getByRole('row').filter({ hasText: text });

const button = (page: Page | Locator, name: string): Locator => page.getByRole('button', { name, exact: true });

test('a person is asked and decides, and values are shown only on demand', async () => {
  const phone = newPhone();
  await register(phone, { first_name: 'Thandi <b>M</b>', last_name: 'Mokoena', device_platform: 'android' });
  const page = await openPortal('/people/ask');
  await button(page, 'Ask').click();
  await page.getByText('Enter a phone number.').waitFor();
  await page.getByText('Say why you ask: the person decides by it.').waitFor();
  await page.getByText('Choose at least one.').waitFor();
  const number = page.getByLabel('The person’s phone number', { exact: true });
  await expect.poll(() => number.evaluate((element) => element === document.activeElement)).toBe(true);
  await number.fill('082 123 4567');
  await page.getByText('Enter the number with its country code, without a zero before it').waitFor();
  await number.fill(`00${phone.slice(0, 2)} (${phone.slice(2, 4)}) ${phone.slice(4)}`);
  await page.getByLabel('Your reason', { exact: true }).fill('For <i>your</i> file');
  await page.getByRole('checkbox', { name: /^First name/ }).check();
  await page.getByRole('checkbox', { name: /^Last name/ }).check();
  await page.getByRole('checkbox', { name: /^Operating system/ }).check();
  await page.getByLabel('Why do you ask for the first name? (optional)', { exact: true }).fill('To greet you');
  await page
    .getByRole('checkbox', { name: /^I cannot go on without it/ })
    .first()
    .check();
  await page.getByRole('radio', { name: /^For some days/ }).check();
  await page.getByLabel('Days', { exact: true }).fill('400');
  await page.getByText('Enter a whole number from 1 to 365.').waitFor();
  await page.getByLabel('Days', { exact: true }).fill('25');
  const preview = page.getByRole('region', { name: 'What the person sees', exact: true });
  await preview.getByText('Demo asks for your data').waitFor();
  await preview.getByText('For <i>your</i> file').waitFor();
  await preview.getByRole('listitem').filter({ hasText: 'To greet you' }).getByText('Required').waitFor();
  await preview.getByText('Your approval is valid for 25 days, or until you withdraw it.').waitFor();
  // The person is not asked for what needs no approval.
  await expect.poll(() => preview.getByRole('listitem').count()).toBe(2);
  await button(page, 'Ask').click();

  await page.getByRole('heading', { name: `Request to ${spaced(phone)}`, level: 1, exact: true }).waitFor();
  await page.getByText('Waiting for an answer', { exact: true }).waitFor();
  const request = /people\/([\da-f-]{36})/.exec(page.url())?.[1] ?? '';
  await answer(request, { first_name: 'approved', last_name: 'denied' });
  await page.getByText('Approved in part', { exact: true }).waitFor();
  await row(page, 'Last name').getByText('Denied', { exact: true }).waitFor();
  await row(page, 'First name')
    .getByText(/^until \d+ \w+ \d{4}$/)
    .waitFor();
  await row(page, 'Operating system').getByText('Approved', { exact: true }).waitFor();
  const main = page.getByRole('main');
  expect(await main.textContent()).not.toContain('Thandi');
  await button(page, 'Show values').click();
  await row(page, 'First name').getByText('Thandi <b>M</b>', { exact: true }).waitFor();
  expect(await main.locator('b, i').count()).toBe(0);
  for (const secret of ['Thandi', phone, phone.slice(2)]) expect(page.url()).not.toContain(secret);
  expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))).not.toContain('Thandi');
  await button(page, 'Hide values').click();
  expect(await main.textContent()).not.toContain('Thandi');
});

test('when a consent ends, the person’s value is gone, and the deletion of copies is confirmed', async () => {
  const phone = newPhone();
  await register(phone, { first_name: 'Sipho', last_name: 'Dlamini' });
  const request = await askFor(phone, [{ property: 'first_name' }, { property: 'last_name' }]);
  await answer(request, { first_name: 'approved', last_name: 'approved' });
  await listed(request);
  const page = await openPortal(`/people/${request}`, { expectedErrors: /409/ });
  await row(page, 'First name').getByText('until the person withdraws it').waitFor();
  await withdraw(request, ['last_name']);
  const notice = page.getByText('Consent has ended: Last name');
  await expect
    .poll(async () => {
      await page.reload();
      await page.getByRole('table').waitFor();
      return notice.isVisible();
    })
    .toBe(true);
  await row(page, 'Last name').getByText('Withdrawn', { exact: true }).waitFor();
  await button(page, 'Show values').click();
  await row(page, 'First name').getByText('Sipho').waitFor();
  await row(page, 'Last name').getByText('removed').waitFor();
  expect(await page.getByRole('main').textContent()).not.toContain('Dlamini');

  const dialog = page.getByRole('dialog');
  await button(page, 'Confirm deletion').click();
  await button(dialog, 'Not yet').click();
  await button(page, 'Confirm deletion').click();
  await page.route('**/deleted', (route) =>
    route.fulfill({ status: 409, json: { code: 'consent_not_ended', detail: 'No consent has ended.' } }),
  );
  await button(dialog, 'Yes, all are deleted').click();
  await dialog.getByText('No consent has ended.').waitFor();
  await page.unroute('**/deleted');
  await button(dialog, 'Yes, all are deleted').click();
  await page.getByText('Your confirmation is recorded.').waitFor();
  await page.getByText('You have confirmed the deletion').waitFor();
  expect(await notice.count()).toBe(0);

  const receipts = page.getByRole('region', { name: 'Receipts', exact: true });
  for (const event of ['Deletion confirmed', 'Consent withdrawn', 'Released to you']) {
    await receipts.getByText(event, { exact: true }).waitFor();
  }
  // The receipt says that nothing is left to do.
  await page.reload();
  await receipts.getByText('Deletion confirmed', { exact: true }).waitFor();
  await page.getByText('You have confirmed the deletion').waitFor();
  expect(await notice.count()).toBe(0);
});

test('of a request that is no longer stored, the ended consents are shown, and their deletion can be confirmed', async () => {
  const phone = newPhone();
  await register(phone, { first_name: 'Ayesha' });
  const request = await askFor(phone, [{ property: 'first_name' }]);
  await answer(request, { first_name: 'approved' });
  await listed(request);
  await withdraw(request, ['first_name']);
  await expect
    .poll(async () => (await read(`/v1/user_data/fetch/${request}`)).results.first_name.status)
    .toBe('withdrawn');
  const page = await openPortal('/people');
  await page.route('**/v1/user_data/requests?*', (route) => route.fulfill({ status: 204 }));
  await page.goto(`${page.url().split('#')[0]}#/people/${request}`);
  await page.getByText('This request is no longer stored').waitFor();
  await row(page, 'First name').getByText('Withdrawn', { exact: true }).waitFor();
  await button(page, 'Confirm deletion').click();
  await button(page.getByRole('dialog'), 'Yes, all are deleted').click();
  await page.getByText('You have confirmed the deletion').waitFor();
});

describe('the list', () => {
  test('filters by status and time are in the address, and further pages are shown on demand', async () => {
    const [waiting, denying] = [newPhone(), newPhone()];
    for (const phone of [waiting, denying]) await register(phone, { first_name: 'Lerato' });
    const [first, second] = [
      await askFor(waiting, [{ property: 'first_name' }]),
      await askFor(denying, [{ property: 'first_name' }], { reason: 'To <b>greet</b> you' }),
    ];
    await answer(second, { first_name: 'denied' });
    await Promise.all([listed(first, 'pending'), listed(second)]);
    const page = await openPortal('/people');
    await row(page, spaced(denying)).getByText('Denied', { exact: true }).waitFor();
    await row(page, spaced(denying)).getByText('To <b>greet</b> you').waitFor();
    await row(page, spaced(waiting)).getByText('Waiting for an answer').waitFor();
    await page.getByLabel('Status', { exact: true }).selectOption('Answered');
    await row(page, spaced(waiting)).waitFor({ state: 'detached' });
    await page.reload();
    await row(page, spaced(denying)).waitFor();
    expect(await row(page, spaced(waiting)).count()).toBe(0);
    await page.getByLabel('From', { exact: true }).fill('2020-01-02');
    await page.getByLabel('To', { exact: true }).fill('2020-01-01');
    await page.getByText('The first day is after the last one.').waitFor();
    await page.getByLabel('To', { exact: true }).fill('2020-01-02');
    await page.getByText('No request fits these filters.').waitFor();
    expect(page.url()).toContain('#/people?status=completed&from=2020-01-02&to=2020-01-02');

    await page.route('**/v1/user_data/requests?*', (route) =>
      route.continue({ url: route.request().url().replace('limit=25', 'limit=1') }),
    );
    await page.getByRole('link', { name: 'Clear the filters', exact: true }).first().click();
    await button(page, 'Show more').click();
    await expect.poll(() => page.getByRole('row').count()).toBe(3);
    await page.getByRole('link', { name: /^\+/ }).first().click();
    await page.getByRole('heading', { name: /^Request to \+/, level: 1 }).waitFor();
  });

  test('who has asked nobody is told how to begin, and an unknown request is named as such', async () => {
    const page = await openPortal('/people/00000000-0000-0000-0000-000000000000', { expectedErrors: /404/ });
    await page.getByText('There is no such request.').waitFor();
    await page.route('**/v1/user_data/requests?*', (route) => route.fulfill({ status: 204 }));
    await page.getByRole('link', { name: 'Go to all requests', exact: true }).click();
    await page.getByText('You have asked nobody yet.').waitFor();
  });
});

test('receipts of all people are listed, and those of one person without the number in the address', async () => {
  const [phone, other] = [newPhone(), newPhone()];
  const reason = 'To <b>greet</b> you';
  for (const one of [phone, other]) {
    await register(one, { first_name: 'Thandi' });
    const request = await askFor(one, [{ property: 'first_name' }], { reason });
    await answer(request, { first_name: 'approved' });
    await listed(request);
  }
  const page = await openPortal('/people');
  await page.getByRole('link', { name: 'Receipts', exact: true }).click();
  await row(page, spaced(phone)).getByText('Released to you', { exact: true }).waitFor();
  await row(page, spaced(other)).getByText(reason, { exact: true }).waitFor();
  await page.getByLabel('Phone number', { exact: true }).fill('082');
  await page.getByText('Enter the number with its country code').waitFor();
  await page.getByLabel('Phone number', { exact: true }).fill(spaced(phone));
  await button(page, 'Search').click();
  await row(page, spaced(other)).waitFor({ state: 'detached' });
  await row(page, spaced(phone)).waitFor();
  for (const part of [phone, phone.slice(2)]) expect(page.url()).not.toContain(part);
  await page.getByLabel('From', { exact: true }).fill('2020-01-01');
  await page.getByLabel('To', { exact: true }).fill('2020-01-02');
  await page.getByText('No receipt fits these filters.').waitFor();
  await expectAccessible(page);
  await button(page, 'Clear the filters').click();
  await row(page, spaced(other)).waitFor();
  await expectUsable(page);
  await row(page, spaced(other)).getByRole('link').click();
  await page.getByRole('heading', { name: `Request to ${spaced(other)}`, level: 1 }).waitFor();
});

test('a number that is not registered, and what needs no approval, are explained', async () => {
  const phone = newPhone();
  const page = await openPortal('/people/ask', { expectedErrors: /404/ });
  await page.getByLabel('The person’s phone number', { exact: true }).fill(spaced(phone));
  await page.getByLabel('Your reason', { exact: true }).fill('To test the app');
  await page.getByRole('checkbox', { name: /^App version/ }).check();
  await page.getByText('The person is not asked: what you chose needs no approval.').waitFor();
  await button(page, 'Get the data').click();
  await page.getByText('This number is not registered with the app.').waitFor();
  await register(phone, { app_version: '7.1' });
  await button(page, 'Get the data').click();
  await page.getByRole('heading', { name: `Request to ${spaced(phone)}`, level: 1, exact: true }).waitFor();
  await button(page, 'Show values').click();
  await row(page, 'App version').getByText('7.1', { exact: true }).waitFor();
});

test('all pages are accessible in both themes, and fit into 320 px', async () => {
  const phone = newPhone();
  await register(phone, { first_name: 'A'.repeat(200), last_name: 'Naidoo' });
  const reason = `To greet you ${'o'.repeat(200)}`;
  const request = await askFor(phone, [{ property: 'first_name', reason, required: true }, { property: 'last_name' }], {
    reason,
  });
  await answer(request, { first_name: 'approved', last_name: 'approved' });
  await withdraw(request, ['last_name']);
  await listed(request);
  const page = await openPortal('/people');
  const check = () => expectUsable(page);
  await page.getByRole('link', { name: spaced(phone), exact: true }).waitFor();
  await check();
  await page.getByRole('link', { name: spaced(phone), exact: true }).click();
  await button(page, 'Show values').click();
  await page.getByText('A'.repeat(200)).waitFor();
  await check();
  await button(page, 'Confirm deletion').click();
  await check();
  await page.goto(`${page.url().split('#')[0]}#/people/ask`);
  await page.getByLabel('Your reason', { exact: true }).fill(reason);
  await page.getByRole('checkbox', { name: /^ID number/ }).check();
  await page.getByRole('checkbox', { name: /^I cannot go on without it/ }).check();
  await page.getByRole('radio', { name: /^For some days/ }).check();
  await check();
});
