/** The portal's view Campaigns: writing, checking, sending, watching and stopping a campaign. */
import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import type { Page, Route } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { setFaultRules } from '../support/fault-rules.ts';
import { newAccount } from './support/account.ts';
import { expectAccessible, expectUsable, stack } from './support/browser.ts';
import { newPhone, newToken, post, read, register, send } from './support/business.ts';
import { openPortal } from './support/portal.ts';

/** A name that no other campaign has. */
const newName = (subject: string): string => `${subject} ${newPhone()}`;

/** Simulated users, who report what they get. */
const simulated = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `999${String(index + 1).padStart(8, '0')}`);

const chooseFile = (page: Page, content: string | Uint8Array, name = 'people.csv') =>
  page
    .getByLabel('CSV file', { exact: true })
    .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(content) });

const type = async (page: Page, numbers: string): Promise<void> => {
  await page.getByText('Type or paste', { exact: true }).click();
  await page.getByLabel('Phone numbers', { exact: true }).fill(numbers);
};

const write = (page: Page, message: string) => page.getByLabel('Message', { exact: true }).fill(message);

const name = (page: Page, title: string) => page.getByLabel('Name of the campaign', { exact: true }).fill(title);

const check = (page: Page) => page.getByRole('button', { name: 'See what will happen', exact: true }).click();

const preview = (page: Page) => page.getByRole('complementary', { name: 'Preview', exact: true });

/** Chooses tomorrow as the start. */
const postpone = (page: Page) => chooseStart(page, Date.now() + 86_400_000);

const chooseStart = async (page: Page, time: number): Promise<void> => {
  await page.getByLabel('At a date and time', { exact: true }).check();
  // The field has local time, without a zone.
  const local = new Date(time - new Date().getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
  await page.getByLabel('Date and time', { exact: true }).fill(local);
};

/** The id of the campaign that is open. */
const openCampaign = async (page: Page, title: string): Promise<string> => {
  await page.getByRole('heading', { name: title, exact: true, level: 1 }).waitFor();
  await page.getByRole('heading', { name: 'Progress', exact: true }).waitFor();
  return new URL(page.url()).hash.split('/').at(-1) ?? '';
};

/** Answers a request with a problem. */
const fail = (route: Route, status: number, detail: string) =>
  route.fulfill({
    status,
    contentType: 'application/problem+json',
    body: JSON.stringify({ status, detail, code: 'x' }),
  });

const open = (address: string, options: Parameters<typeof openPortal>[1] = {}): Promise<Page> =>
  openPortal(address, options).then((page) => {
    // On a busy machine, campaigns take their time.
    page.setDefaultTimeout(100_000);
    return page;
  });

test('a campaign from a CSV file is written, checked, sent, watched and reported', async () => {
  const [first = '', second = '', third = '', ...others] = simulated(12);
  await register(first, { first_name: 'Thandi' });
  const page = await open('/campaigns/new');
  let alerts = 0;
  page.on('dialog', (dialog) => {
    alerts += 1;
    void dialog.dismiss();
  });
  const evil = '<img src=x onerror=alert(1)>';
  await chooseFile(
    page,
    [
      '\ufeffname;Mobile;town',
      `Thandi;+${first.slice(0, 3)} ${first.slice(3)};${evil}`,
      `"Mokoena; ""Sipho""";${second};Langa`,
      `;00${third};Langa`,
      `Again;${first};Langa`,
      'Nobody;none;Langa',
      'Local;0821234567;Langa',
      ...others.map((phone, index) => `Person ${index};${phone};"two\r\nlines"`),
    ].join('\r\n'),
  );
  await page.getByText('12 people', { exact: true }).waitFor();
  await expect.poll(() => page.getByLabel('Column with the phone numbers', { exact: true }).inputValue()).toBe('1');
  await page.getByText('1 number removed, because it was there before', { exact: true }).waitFor();
  await page.getByText('2 entries are no phone number, and will get nothing', { exact: true }).click();
  await page.getByRole('row', { name: '6 none It contains letters', exact: true }).waitFor();
  await page.getByRole('row', { name: '7 0821234567 It has no country code', exact: true }).waitFor();
  await page.getByLabel('Country code for numbers that begin with 0', { exact: true }).fill('27');
  await page.getByText('13 people', { exact: true }).waitFor();
  await page.getByLabel('Country code for numbers that begin with 0', { exact: true }).fill('');

  await write(page, 'Molo {Name}! The clinic in ');
  await page.getByRole('button', { name: '{town}', exact: true }).click();
  await page.locator('textarea:focus').waitFor();
  await page.keyboard.type(' is open.');
  await page.getByRole('button', { name: 'Add a quick reply', exact: true }).click();
  await page.getByLabel('Quick reply 1', { exact: true }).fill('I come, {name}');
  await preview(page).getByText(`Molo Thandi! The clinic in ${evil} is open.`, { exact: true }).waitFor();
  await preview(page).getByText('I come, Thandi', { exact: true }).waitFor();
  await preview(page).getByRole('button', { name: 'Next person', exact: true }).click();
  await preview(page).getByText('Molo Mokoena; "Sipho"! The clinic in Langa is open.', { exact: true }).waitFor();
  await page.getByText('1 person has no value in {name}: the message has a gap there.', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Show the first one', exact: true }).click();
  await preview(page).getByText('Person 3 of 12', { exact: true }).waitFor();

  // What is written stays while another page is open.
  await page.getByRole('link', { name: 'All campaigns', exact: true }).click();
  await page.getByRole('link', { name: 'Continue your draft', exact: true }).click();
  await preview(page).getByText('Person 1 of 12', { exact: true }).waitFor();

  const title = newName('Clinic day');
  await name(page, title);
  await check(page);
  await page.getByRole('heading', { name: 'What will happen', exact: true }).waitFor();
  await page.getByText(/^\d+ (person uses|people use) the app and will get it\.$/).waitFor();
  await page.getByText(/Starts as soon as you send it\. Ends: today/).waitFor();
  await page.getByLabel('Your phone number', { exact: true }).fill(`+${stack.panelist}`);
  await page.getByRole('button', { name: 'Send a test', exact: true }).click();
  // It may be on the phone before the page looks.
  await page.getByText(/^The test to .* (?:has reached the server|is on the phone|was read)/).waitFor();
  await page.getByRole('button', { name: 'Send to 12 people', exact: true }).click();

  const id = await openCampaign(page, title);
  await page.getByText('Completed', { exact: true }).waitFor();
  await page.getByText('Of 12 people, ', { exact: false }).waitFor();
  expect((await read(`/v1/jobs/${id}`)).reference).toBe(title);
  await expect.poll(async () => (await read(`/v1/jobs/${id}`)).states.read ?? 0).toBeGreaterThan(0);
  await expect.poll(() => page.getByRole('row', { name: /^Read [1-9]/ }).count()).toBe(1);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download the report', exact: true }).click(),
  ]);
  expect(download.suggestedFilename()).toBe(`${title}.csv`);
  const lines = (await text(await download.createReadStream())).trim().split(/\r?\n/);
  expect(lines).toHaveLength(13);
  expect(lines[0]).toMatch(/^Phone number,Result,Cause,Sent \(/);
  const reported = lines.slice(1).map((line) => line.split(',')[0]);
  expect(reported.sort()).toEqual([first, second, third, ...others].sort());
  await expect
    .poll(() => page.getByRole('link', { name: 'Its messages', exact: true }).getAttribute('href'))
    .toBe(`#/messages?job_id=${id}`);
  await page.getByRole('link', { name: 'All campaigns', exact: true }).click();
  await page.getByRole('listitem').filter({ hasText: title }).filter({ hasText: '12 people' }).waitFor();
  // The draft is gone.
  await page.getByRole('link', { name: 'New campaign', exact: true }).click();
  await page.getByText('No phone number yet', { exact: true }).waitFor();
  expect(alerts).toBe(0);
  const received = await (await fetch(`${stack.phone_url}/phones/${first}/messages`)).text();
  expect(received).toContain(`Molo Thandi! The clinic in ${evil} is open.`);
});

test('a scheduled campaign is in the list of a colleague, who stops it before it starts', async () => {
  let page = await open('/campaigns/new');
  await type(page, simulated(30).join(' '));
  await page.getByText('30 people', { exact: true }).waitFor();
  await write(page, 'Last day of the survey');
  await chooseStart(page, Date.now() - 60_000);
  await page.getByText('This is too soon', { exact: false }).waitFor();
  await postpone(page);
  await page.getByText(/^Your time zone: .+, UTC[+−]\d\d:\d\d$/).waitFor();
  await page.getByLabel('Only within these hours', { exact: true }).check();
  await page.getByLabel('From', { exact: true }).fill('09:00');
  await page.getByLabel('To', { exact: true }).fill('09:00');
  await page.getByText('Choose two different times.', { exact: true }).waitFor();
  await page.getByLabel('To', { exact: true }).fill('17:30');
  await page.getByLabel('By the clock of', { exact: true }).selectOption({ index: 1 });
  const title = newName('Last day');
  await name(page, title);
  await check(page);
  await page.getByRole('button', { name: 'Schedule for 30 people', exact: true }).click();
  const id = await openCampaign(page, title);
  // The button that had the focus is gone, and so is the form.
  const heading = () => page.getByRole('heading', { name: title, exact: true, level: 1 }).and(page.locator(':focus'));
  await heading().waitFor();
  await page.getByText('of 30 sent', { exact: false }).waitFor();
  expect((await read(`/v1/jobs/${id}`)).status).toBe('scheduled');
  page = await open('/campaigns');
  const row = page.getByRole('listitem').filter({ hasText: title });
  await row.getByText('Scheduled', { exact: true }).waitFor();
  await row.getByText(/^Starts .+ · 30 people$/).waitFor();
  await page.getByRole('link', { name: new RegExp(title) }).click();
  await heading().waitFor();
  await page.getByRole('region', { name: 'Progress', exact: true }).getByText('It starts', { exact: false }).waitFor();
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Stop this campaign?', exact: true });
  await dialog.getByText('30 people will not get it.', { exact: true }).waitFor();
  await dialog.getByRole('button', { name: 'Keep it', exact: true }).click();
  await page.getByRole('button', { name: 'Stop', exact: true }).and(page.locator(':focus')).press('Enter');
  await dialog.getByRole('button', { name: 'Stop it', exact: true }).click();
  await page.getByText('You stopped it before it began: 30 people will not get it.', { exact: true }).waitFor();
  await heading().waitFor();
  expect((await read(`/v1/jobs/${id}`)).status).toBe('cancelled');
  expect(await page.getByRole('button', { name: 'Stop', exact: true }).count()).toBe(0);
  await page.getByRole('link', { name: 'All campaigns', exact: true }).click();
  await row.getByText('Stopped', { exact: true }).waitFor();
});

test('the list has all campaigns, page by page, and no messages of no campaign', async () => {
  const { token } = await newAccount('messages', 'stats');
  const message = {
    to: simulated(2),
    type: 'text',
    text: { body: 'Molo' },
    send_at: Math.floor(Date.now() / 1_000) + 86_400,
  };
  const schedule = (title: string) =>
    post(`/v1/message?${new URLSearchParams({ job_id: randomUUID(), job_reference: title })}`, message, token);
  await schedule('First');
  await Promise.all(Array.from({ length: 20 }, (_, index) => schedule(`Page ${index}`)));
  const single = await send({ to: newPhone(), type: 'text', text: { body: 'Not a campaign' } }, token);
  const { job_id } = await read(`/v1/message/${single}`, token);
  const page = await open('/campaigns', { token });
  await expect.poll(() => page.getByRole('listitem').filter({ hasText: 'Page ' }).count()).toBe(20);
  const found = page.getByRole('listitem').filter({ hasText: 'First' });
  expect(await found.count()).toBe(0);
  const more = page.getByRole('button', { name: 'Show more', exact: true });
  await more.click();
  await found.waitFor();
  expect(await page.getByRole('listitem').filter({ hasText: 'Page ' }).count()).toBe(20);
  expect(await more.count()).toBe(0);
  expect(await page.locator(`a[href="#/campaigns/${job_id}"]`).count()).toBe(0);
  await page.goto(`${stack.base_url}/portal#/campaigns/${job_id}`);
  await page.getByRole('heading', { name: /^Single messages of / }).waitFor();
  expect(await page.getByRole('button', { name: 'Stop', exact: true }).count()).toBe(0);
});

test.each([390, 1280])('at %i px, nothing moves while a campaign runs and completes', async (width) => {
  const job_id = randomUUID();
  const all = {
    job_id,
    reference: 'Autumn',
    created: '2026-01-02T03:04:05.000006',
    start: '2026-01-02T03:04:05.000006',
  };
  const counts = [
    { sent: 10 },
    { sent: 600, delivered_to_server: 500, delivered_to_user: 300, read: 80, sending_failed: 3 },
    { sent: 1_000, delivered_to_server: 990, delivered_to_user: 900, read: 500, sending_failed: 10 },
    { sent: 1_000, delivered_to_server: 990, delivered_to_user: 990, read: 600, sending_failed: 10 },
  ];
  const answers = counts.map((states, index) => ({
    ...{ ...all, recipients: 1_000, expanded: states.sent, pending: index < 2 ? 1_000 - states.sent : 0, states },
    ...(index < 2
      ? { status: 'running', pace: 24.5, estimated_end: '2026-01-02T03:06:05.000006' }
      : { status: 'completed' }),
  }));
  const page = await openPortal('/home', { viewport: { width, height: 844 } });
  await page.route(`**/v1/jobs/${job_id}`, (route) => {
    const next = answers.length > 1 ? answers.shift() : answers[0];
    return route.fulfill({ json: next });
  });
  await page.route('**/v1/stats/logs?*', (route) => route.fulfill({ json: [] }));
  await page.evaluate((address) => {
    location.hash = address;
  }, `/campaigns/${job_id}`);
  await page.getByText('10 of 1,000 sent').waitFor();
  await page.evaluate(() => {
    const shifts: unknown[] = [];
    Object.assign(window, { shifts });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) shifts.push(entry.toJSON());
    }).observe({ type: 'layout-shift' });
  });
  await page.getByText('All phones have reported.').waitFor();
  const shifts = await page.evaluate(() => Reflect.get(window, 'shifts') as { value: number }[]);
  expect(
    shifts.reduce((sum, { value }) => sum + value, 0),
    JSON.stringify(shifts),
  ).toBeLessThan(0.05);
});

test('after an error in the middle, a campaign is continued, and nobody gets it twice', async () => {
  const page = await open('/campaigns/new', { expectedErrors: /500|ERR_FAILED/ });
  const people = simulated(1_200);
  await chooseFile(page, ['phone,name', ...people.map((phone, index) => `${phone},Person ${index}`)].join('\n'));
  await page.getByText('1,200 people', { exact: true }).waitFor();
  await write(page, 'Molo {name}');
  // It must not begin before the test is over.
  await postpone(page);
  const title = newName('In two parts');
  await name(page, title);
  await check(page);
  const keys: string[] = [];
  await page.route('**/v1/messages?*', async (route) => {
    keys.push(route.request().headers()['idempotency-key'] ?? '');
    if (keys.length === 2) {
      // The service accepts it, and its response is lost.
      await route.fetch();
      await route.abort();
    } else if (keys.length === 3 || keys.length === 4) await fail(route, 500, 'The service failed.');
    else await route.continue();
  });
  await page.getByRole('button', { name: 'Schedule for 1,200 people', exact: true }).click();
  await page.getByText('The campaign is not complete.', { exact: true }).waitFor();
  await page
    .getByText('1,000 of 1,200 people were handed over. Continue with the others: nobody gets it twice.', {
      exact: true,
    })
    .waitFor();
  await page.getByText('The service failed.', { exact: true }).waitFor();
  // It waits while another page is open.
  await page.getByRole('link', { name: 'All campaigns', exact: true }).click();
  await page.getByRole('link', { name: 'Continue your draft', exact: true }).click();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  const id = await openCampaign(page, title);
  expect((await read(`/v1/jobs/${id}`)).recipients).toBe(1_200);
  expect(keys).toEqual([`${id} 0`, ...keys.slice(1).map(() => `${id} 1`)]);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByRole('button', { name: 'Stop it', exact: true }).click();
  await page.getByText('Stopped', { exact: true }).first().waitFor();
});

/** A campaign of tomorrow for these people, with a name that no other campaign has, ready to be sent. */
const prepare = async (page: Page, people: string[], subject: string): Promise<string> => {
  await chooseFile(page, ['phone,name', ...people.map((phone, index) => `${phone},Person ${index}`)].join('\n'));
  await write(page, 'Molo {name}');
  await postpone(page);
  const title = newName(subject);
  await name(page, title);
  await check(page);
  return title;
};

test('a campaign that is rejected after a lost response may have been accepted, so it keeps its keys', async () => {
  const page = await open('/campaigns/new', { expectedErrors: /422|ERR_FAILED/ });
  const title = await prepare(page, simulated(3), 'Lost');
  const keys: string[] = [];
  await page.route('**/v1/messages?*', async (route) => {
    keys.push(route.request().headers()['idempotency-key'] ?? '');
    if (keys.length === 1) {
      await route.fetch();
      await route.abort();
    } else if (keys.length < 4) await fail(route, 422, 'The start is too soon.');
    else await route.continue();
  });
  await page.getByRole('button', { name: 'Schedule for 3 people', exact: true }).click();
  const proceed = page.getByRole('button', { name: 'Continue', exact: true });
  await page.getByText('The start is too soon.', { exact: true }).waitFor();
  await proceed.dblclick();
  await expect.poll(() => keys.length).toBe(3);
  await page.getByText('The start is too soon.', { exact: true }).waitFor();
  await proceed.click();
  const id = await openCampaign(page, title);
  expect(new Set(keys)).toEqual(new Set([`${id} 0`]));
  expect((await read(`/v1/jobs/${id}`)).recipients).toBe(3);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByRole('button', { name: 'Stop it', exact: true }).click();
  await page.getByText('Stopped', { exact: true }).first().waitFor();
});

test('who signs out while a campaign is handed over is asked, and nothing more is sent or kept', async () => {
  const page = await open('/campaigns/new', { expectedErrors: /403/ });
  await prepare(page, simulated(1_200), 'Handed over');
  const tokens: string[] = [];
  let answer = async (): Promise<void> => undefined;
  await page.route('**/v1/messages?*', (route) => {
    tokens.push(route.request().headers().authorization ?? '');
    answer = () => fail(route, 422, 'Not accepted.').catch(() => undefined);
  });
  await page.getByRole('button', { name: 'Schedule for 1,200 people', exact: true }).dblclick();
  await expect.poll(() => tokens.length).toBe(1);
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Sign out now?', exact: true });
  await dialog.getByText('A campaign that is being handed over stops where it is.', { exact: false }).waitFor();
  await dialog.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.getByText('You are signed out.', { exact: true }).waitFor();
  await page.getByLabel('API token', { exact: true }).fill(stack.token);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await answer();
  await page.getByText('No phone number yet', { exact: true }).waitFor();
  expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('');
  expect(tokens).toHaveLength(1);
  const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  expect(stored).not.toMatch(/99900000|Person|Molo/);
});

test('a test whose response was lost is sent once, and a further test is sent again', async () => {
  const page = await open('/campaigns/new', { expectedErrors: /ERR_FAILED/ });
  await write(page, 'Molo');
  const keys: string[] = [];
  await page.route('**/v1/message', async (route) => {
    keys.push(route.request().headers()['idempotency-key'] ?? '');
    if (keys.length <= 3) await route.abort();
    else await route.continue();
  });
  await page.getByLabel('Your phone number', { exact: true }).fill(`+${stack.panelist}`);
  const send = page.getByRole('button', { name: 'Send a test', exact: true });
  await send.click();
  await page.getByText('The service cannot be reached. Check your connection', { exact: false }).waitFor();
  await send.click();
  await page.getByText(/^The test to /).waitFor();
  await send.click();
  await expect.poll(() => keys.length).toBe(5);
  expect(new Set(keys.slice(0, 4)).size).toBe(1);
  expect(keys[4]).not.toBe(keys[3]);
});

test('a campaign that the service rejects stays in the form, with the reason as a text', async () => {
  const page = await open('/campaigns/new', { expectedErrors: /422|429/ });
  await type(page, '+999 00000001, +999 00000002');
  await write(page, 'Molo');
  await name(page, newName('Rejected'));
  await page.route('**/v1/message', (route) =>
    route.fulfill({
      status: 429,
      contentType: 'application/problem+json',
      body: JSON.stringify({ status: 429, code: 'allowance_exceeded', detail: 'Too many numbers today.' }),
    }),
  );
  await check(page);
  await page.getByText('You have used up your checks of today.', { exact: false }).waitFor();
  await page.route('**/v1/message?*', (route) => fail(route, 422, '<b>Not</b> that.'));
  await page.getByRole('button', { name: 'Send to 2 people', exact: true }).click();
  await page.getByText('Nothing was sent.', { exact: true }).waitFor();
  await page.getByText('<b>Not</b> that.', { exact: true }).waitFor();
  await expect.poll(() => page.getByLabel('Message', { exact: true }).inputValue()).toBe('Molo');
  await page.getByRole('button', { name: 'Discard', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Discard', exact: true }).click();
  await expect.poll(() => page.getByLabel('Message', { exact: true }).inputValue()).toBe('');
});

describe('the form says what is wrong', () => {
  test('with a file', async () => {
    const page = await open('/campaigns/new');
    await chooseFile(page, new Uint8Array([0x50, 0x4b, 3, 4, 0, 0]), 'people.xlsx');
    await page.getByText('This is a workbook of Excel.', { exact: false }).waitFor();
    await chooseFile(page, new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 0]), 'people.png');
    await page.getByText('This file is no table.', { exact: false }).waitFor();
    await chooseFile(page, '');
    await page.getByText('This file is empty.', { exact: true }).waitFor();
    await chooseFile(page, 'phone,name\n1,"a');
    await page.getByText('A quotation mark begins in line 2', { exact: false }).waitFor();
    await chooseFile(page, 'name,town\nThandi,Langa');
    await page.getByText('1 entry is no phone number, and will get nothing', { exact: true }).waitFor();
    await expect.poll(() => page.getByText('quotation mark').count()).toBe(0);
  });

  test('with the message, and what is missing', async () => {
    const page = await open('/campaigns/new');
    await check(page);
    const missing = page.getByRole('alert').filter({ hasText: 'Something is missing:' });
    for (const part of ['Who gets it?', 'What do they get?', 'Name of the campaign']) {
      await missing.getByText(part, { exact: true }).waitFor();
    }
    await page.getByText('Give the campaign a name.', { exact: true }).waitFor();
    await write(page, 'Molo {name}');
    await page.getByText('{name}: there is no such column. Only a CSV file has columns', { exact: false }).waitFor();
    await chooseFile(page, `phone,text\n99900000001,${'x'.repeat(4_100)}\n99900000002,\n99900000003,ok`);
    await page.getByText('The columns are {phone}, {text}.', { exact: false }).waitFor();
    await write(page, '{text}');
    await page.getByText('For 1 person, the message would be too long.', { exact: false }).waitFor();
    await page.getByText('For 1 person, the message would be empty.', { exact: true }).waitFor();
    await name(page, 'x'.repeat(65));
    await page.getByText('The name is too long: at most 64 characters.', { exact: true }).waitFor();
    await missing.getByText('Who gets it?', { exact: true }).waitFor({ state: 'detached' });
    await page.getByLabel('Your phone number', { exact: true }).fill('12');
    await page.getByRole('button', { name: 'Send a test', exact: true }).click();
    await page.getByText('Enter a phone number with its country code', { exact: false }).waitFor();
  });
});

test('a campaign shows why some did not get it, in plain words', async () => {
  const [taken, rejected] = [newPhone(), newPhone()];
  await setFaultRules(stack.phone_url, rejected, { status: 404 });
  const page = await open('/campaigns/new');
  await type(page, `${taken}; ${rejected}`);
  await write(page, 'Your survey is open');
  const title = newName('With a failure');
  await name(page, title);
  await check(page);
  await page.getByRole('button', { name: 'Send to 2 people', exact: true }).click();
  const id = await openCampaign(page, title);
  await page.getByText('Completed', { exact: true }).waitFor();
  await page.getByText(/^Of 2 people, .* 1 failed\.$/).waitFor();
  const failures = page.getByRole('region', { name: 'Why some did not get it', exact: true });
  await failures.getByText('The app rejected it.', { exact: true }).waitFor();
  expect(
    await failures
      .getByRole('link', { name: 'Show the messages that could not be sent', exact: true })
      .getAttribute('href'),
  ).toBe(`#/messages?job_id=${id}&state=sending_failed`);
});

test('a picture is uploaded, previewed and sent', async () => {
  const page = await open('/campaigns/new', { expectedErrors: /413|422/ });
  const picture = page.getByLabel('Attached file', { exact: true });
  await picture.setInputFiles({ name: 'large.png', mimeType: 'image/png', buffer: Buffer.alloc(4_194_305) });
  await page.getByText('This file is too large: it may have at most 4 MB.', { exact: true }).waitFor();
  const { png } = await import('../stack/support/files.ts');
  await picture.setInputFiles({ name: 'clinic.png', mimeType: 'image/png', buffer: Buffer.from(png) });
  await preview(page).getByRole('img', { name: 'clinic.png', exact: true }).waitFor();
  await page.getByLabel('Text below it', { exact: true }).fill('Our new clinic');
  await type(page, '99900000001');
  const title = newName('Picture');
  await name(page, title);
  await check(page);
  await page.getByRole('button', { name: 'Send to 1 person', exact: true }).click();
  const id = await openCampaign(page, title);
  await page.getByText('Of 1 person, ', { exact: false }).waitFor();
  await expect
    .poll(async () =>
      (await read(`/v1/stats/logs?job_id=${id}`)).map((entry: { payload_type: string }) => entry.payload_type),
    )
    .toContain('image');
});

describe('a token', () => {
  test('that may only count shows campaigns without their names, and no form', async () => {
    const page = await open('/campaigns/new', { token: await newToken('stats') });
    await page.getByText('Your token may not send messages.', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'All campaigns', exact: true }).click();
    await page
      .getByRole('link', { name: /^Campaign / })
      .first()
      .click();
    await page.getByRole('heading', { name: 'How far it got', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Download the report', exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Stop', exact: true }).count()).toBe(0);
  });

  test('that may only send lists the campaigns, and reads what became of them', async () => {
    const page = await open('/campaigns', { token: await newToken('messages') });
    await page.getByRole('link', { name: 'New campaign', exact: true }).click();
    await type(page, simulated(2).join());
    await write(page, 'Molo');
    await postpone(page);
    const title = newName('Only sent');
    await name(page, title);
    await check(page);
    await page.getByRole('button', { name: 'Schedule for 2 people', exact: true }).click();
    await openCampaign(page, title);
    expect(await page.getByRole('button', { name: 'Download the report', exact: true }).count()).toBe(0);
    await page.getByRole('link', { name: 'All campaigns', exact: true }).click();
    await page.getByRole('listitem').filter({ hasText: title }).getByText('Scheduled', { exact: true }).waitFor();
  });
});

test('without campaigns, the list has a sentence and an action; after an error, it can be read again', async () => {
  const page = await open('/campaigns', { expectedErrors: /403/ });
  await page.route('**/v1/jobs?*', (route) => route.fulfill({ status: 204 }));
  await page.reload();
  await page.getByText('There is no campaign yet.', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'New campaign', exact: true }).waitFor();
  await page.unrouteAll();
  await page.route('**/v1/jobs?*', (route) => fail(route, 403, 'Not <i>now</i>.'));
  await page.reload();
  await page.getByText('Not <i>now</i>.', { exact: true }).waitFor();
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Try again', exact: true }).click();
  await page.getByText('Not <i>now</i>.', { exact: true }).waitFor({ state: 'detached' });
});

test('a campaign that does not exist leads back to the list', async () => {
  const page = await open('/campaigns/00000000-0000-4000-8000-000000000000', { expectedErrors: /404/ });
  await page.getByText('There is no such campaign', { exact: false }).waitFor();
  await page.getByRole('link', { name: 'All campaigns', exact: true }).first().click();
  await page.getByRole('heading', { name: 'Campaigns', exact: true }).waitFor();
});

test('in both themes, nothing overflows, and axe finds no serious violation', async () => {
  const page = await open('/campaigns/new');
  const look = () => expectUsable(page);
  const long = 'x'.repeat(80);
  await chooseFile(page, `phone,${long}\n27820000001,${long}\n27820000002,\n27820000002,\n${long},`, `${long}.csv`);
  await page.getByText('2 people', { exact: true }).waitFor();
  await page.getByText('is no phone number', { exact: false }).click();
  await write(page, `{${long}} ${long}`);
  await page.getByRole('button', { name: 'Add a quick reply', exact: true }).click();
  await page.getByLabel('Quick reply 1', { exact: true }).fill(long.slice(0, 60));
  await page.getByLabel('Only within these hours', { exact: true }).check();
  await check(page);
  await page.getByText('Something is missing:', { exact: true }).waitFor();
  await look();
  await postpone(page);
  const title = newName(long.slice(0, 40));
  await name(page, title);
  await check(page);
  await page.getByRole('button', { name: 'Schedule for 2 people', exact: true }).waitFor();
  await look();
  await page.getByRole('button', { name: 'Schedule for 2 people', exact: true }).click();
  await openCampaign(page, title);
  await look();
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByRole('dialog').waitFor();
  await look();
  await page.getByRole('button', { name: 'Stop it', exact: true }).click();
  await page.getByText('You stopped it', { exact: false }).waitFor();
  await page.getByRole('link', { name: 'All campaigns', exact: true }).click();
  await page.getByRole('listitem').filter({ hasText: title }).waitFor();
  await look();
});
