/** Traces and the inspector of the phone's page, in a browser. */
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { setFaultRules } from '../support/fault-rules.ts';
import { openPage, openPhone, stack } from './support/browser.ts';
import { newPhone, register, retrieve, sendText, statesOf } from './support/business.ts';

const clipboard = { permissions: ['clipboard-read', 'clipboard-write'] };

const row = (page: Page, text: string): Locator =>
  page.getByRole('region', { name: 'Traces' }).getByRole('listitem').getByRole('button').filter({ hasText: text });

const inspector = (page: Page): Locator => page.locator('article.inspector');

const life = (page: Page): Locator => inspector(page).getByRole('list', { name: 'Life' });

const traceInUrl = (page: Page): string | null => new URL(page.url()).searchParams.get('trace');

/** A text that no other message has. */
const newText = (subject: string): string => `${subject} ${newPhone()}`;

describe('the inspector', () => {
  test('opens by a bubble, and shows each attempt with request and response, the states, and what RapidPro got', async () => {
    const phone = newPhone();
    const page = await openPhone(phone, clipboard);
    await setFaultRules(stack.phone_url, phone, { status: 503, times: 1 });
    await page.getByLabel('Message', { exact: true }).fill('Hello');
    await page.keyboard.press('Enter');
    const reply = page.getByRole('log').getByRole('article').filter({ hasText: 'You wrote: Hello' });
    await reply.hover();
    await reply.getByRole('button', { name: 'Inspect' }).click();
    for (const text of [
      'Accepted',
      'Stored',
      'Queued',
      'Attempt 1',
      'Attempt 2',
      'Delivered to server',
      'Delivered to user',
      'Read',
      'RapidPro notified',
    ]) {
      await life(page).getByText(text, { exact: true }).first().waitFor();
    }
    const failed = life(page).getByRole('listitem').filter({ hasText: 'Attempt 1' });
    await failed.getByText('503').first().waitFor();
    await failed.getByText('Status 503, by a fault rule.').waitFor();
    await failed.getByRole('button', { name: 'Request' }).click();
    await failed.getByText('webhook-signature').waitFor();
    await failed.getByRole('button', { name: 'Timing' }).click();
    await failed.getByText('Took').waitFor();
    // The message of the user has caused it.
    await inspector(page).getByRole('button', { name: 'Open that trace' }).click();
    await inspector(page)
      .getByRole('heading', { name: /^Message from/ })
      .waitFor();
    await page.goBack();
    await inspector(page)
      .getByRole('heading', { name: /^Message to/ })
      .waitFor();
  });

  test('copies the request with $TOKEN, and sends it again once, also by two clicks', async () => {
    const phone = newPhone();
    const page = await openPage(`/?user=${phone}`, clipboard);
    const text = newText('Copied');
    await sendText(phone, text);
    await row(page, text).click();
    // The last stage is open: the first one is closed as soon as there is another.
    await life(page).getByRole('listitem').nth(1).waitFor();
    const accepted = life(page).getByRole('listitem').first();
    await accepted.getByRole('button', { name: /Accepted/ }).click();
    for (const language of ['Python', 'JavaScript', 'cURL']) {
      await accepted.getByRole('button', { name: language }).click();
      await page
        .getByRole('status')
        .filter({ hasText: `Copied as ${language}. It uses $TOKEN` })
        .waitFor();
    }
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toContain('Bearer \'"$TOKEN"');
    expect(copied).not.toContain('bapi_');
    expect(await page.content()).not.toContain(stack.token);
    const sent = async () => (await statesOf(phone)).filter((state) => state === 'sent').length;
    await expect.poll(sent).toBe(1);
    await inspector(page).getByRole('button', { name: 'Send again' }).first().dblclick();
    await expect.poll(sent).toBe(2);
    await expect.poll(() => row(page, text).count()).toBe(2);
  });

  test("sends a user's and a platform's message again", async () => {
    const phone = newPhone();
    const page = await openPhone(phone);
    const text = newText('Repeated');
    await page.getByLabel('Message', { exact: true }).fill(text);
    await page.keyboard.press('Enter');
    const replies = () =>
      page
        .getByRole('log')
        .getByRole('article')
        .filter({ hasText: `You wrote: ${text}` })
        .count();
    await expect.poll(replies).toBe(1);
    for (const [title, expected] of [
      // RapidPro replies to the user's message again.
      [/^Message from/, 2],
      [/^Message to/, 3],
    ] as const) {
      await row(page, text).filter({ hasText: title }).first().click();
      await inspector(page).getByRole('heading', { name: title }).waitFor();
      await inspector(page).getByRole('button', { name: 'Send again' }).first().click();
      await page.getByRole('status').filter({ hasText: 'Sent again.' }).waitFor();
      await expect.poll(replies).toBe(expected);
    }
  });

  test('masks the values of people until they are shown', async () => {
    const phone = newPhone();
    await register(phone, { first_name: 'Nomvula', device_make: 'Nokia' });
    const page = await openPage(`/?of=${phone}&user=${phone}`);
    await retrieve(phone, 'device_make');
    await row(page, 'User data fetched').click();
    await life(page).getByRole('button', { name: 'Response' }).click();
    await life(page).getByText('"••••••"').waitFor();
    expect(await life(page).getByText('Nokia').count()).toBe(0);
    await inspector(page).getByRole('button', { name: 'Show values' }).click();
    await life(page).getByText('"Nokia"').waitFor();
  });

  test('shows a scheduled retry with its scale, and the place in the line of the next message', async () => {
    const phone = newPhone();
    const page = await openPage(`/?of=${phone}&user=${phone}`);
    await setFaultRules(stack.phone_url, phone, { status: 503 });
    const [first, second] = [newText('First'), newText('Second')];
    await sendText(phone, first);
    await row(page, first)
      .getByText(/^Retry in \d:\d\d$/)
      .waitFor();
    await sendText(phone, second);
    await row(page, second).getByText('2nd in line').waitFor();
    await row(page, first).click();
    // Screen readers announce the same words.
    await inspector(page).locator('.chip', { hasText: 'Retry scheduled' }).waitFor();
    await life(page)
      .getByRole('list', { name: /Pauses between attempts; now 1 min/ })
      .waitFor();
    await life(page).getByRole('button', { name: 'Retry now' }).click();
    await page.getByRole('status').filter({ hasText: 'The service retries within a minute.' }).waitFor();
  });
});

describe('the list', () => {
  test('is searched by message id and number, filtered, and keeps its state over a reload', async () => {
    const phone = newPhone();
    const page = await openPage('/');
    const text = newText('Searched');
    const id = await sendText(phone, text);
    await row(page, text).waitFor();
    const search = page.getByRole('searchbox', { name: /^Search by trace/ });
    await page.keyboard.press('/');
    await search.fill(phone.slice(-9));
    await expect.poll(() => row(page, '').count()).toBe(1);
    await search.fill(id);
    await expect.poll(() => row(page, '').count()).toBe(1);
    await search.press('Enter');
    await inspector(page)
      .getByRole('heading', { name: /^Message to/ })
      .waitFor();
    await search.fill('there is no such text');
    await page.getByText('Nothing matches the search and the filters.').waitFor();
    await page.getByRole('button', { name: 'Clear search and filters', exact: true }).click();
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByLabel('Route').selectOption('POST /v1/message');
    await page.locator('.filter-fields').getByLabel('Business').selectOption('Demo');
    await page.keyboard.press('Escape');
    await page.getByRole('list', { name: 'Filters' }).getByText('Route: POST /v1/message').waitFor();
    await page.reload();
    await page.getByRole('list', { name: 'Filters' }).getByText('Route: POST /v1/message').waitFor();
    await inspector(page)
      .getByRole('heading', { name: /^Message to/ })
      .waitFor();
    await page.getByRole('button', { name: /^Route: / }).click();
    await expect.poll(() => page.getByRole('button', { name: /^Route: / }).count()).toBe(0);
  });

  test("hides and counts the page's own calls, pauses, and shows single calls", async () => {
    const phone = newPhone();
    const page = await openPhone(phone);
    await page.goto(`${page.url()}&of=${phone}`);
    const text = newText('Own');
    await sendText(phone, text);
    await row(page, text).getByText('Read', { exact: true }).waitFor();
    expect(await row(page, 'State reported').count()).toBe(0);
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await row(page, 'State reported').first().waitFor();
    await page.getByRole('button', { name: 'Hide', exact: true }).click();
    await expect.poll(() => row(page, 'State reported').count()).toBe(0);
    await page.keyboard.press('p');
    await page.getByRole('button', { name: 'Resume', exact: true }).waitFor();
    const later = newText('Later');
    await sendText(phone, later);
    await page.getByRole('log').getByText(later).waitFor();
    expect(await row(page, later).count()).toBe(0);
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await row(page, later).waitFor();
    await page.getByRole('button', { name: 'Calls', exact: true }).click();
    const calls = page.getByRole('region', { name: 'Calls' });
    await calls
      .getByRole('button', { name: /POST \/app/ })
      .first()
      .click();
    await page.getByRole('heading', { name: 'POST /app' }).waitFor();
    await page.getByRole('button', { name: 'Open its trace', exact: true }).click();
    await inspector(page)
      .getByRole('heading', { name: /^Message to/ })
      .waitFor();
  });

  test('of a trace that is not kept any more leads to a sentence and back', async () => {
    const page = await openPage('/?trace=00000000-0000-4000-8000-000000000000', { expectedErrors: /404/ });
    await page.getByText('This trace is not kept').waitFor();
    await page.getByRole('button', { name: 'Show all traces', exact: true }).click();
    await page.getByText('Messages today').waitFor();
    expect(traceInUrl(page)).toBe(null);
  });
});

describe('keys', () => {
  test('move, inspect, close, write and list all keys; they can be turned off', async () => {
    const phone = newPhone();
    const page = await openPage(`/?of=${phone}&user=${phone}`);
    const text = newText('Keys');
    await sendText(phone, text);
    await row(page, text).waitFor();
    const isFocused = (one: Locator) => one.evaluate((element) => element === document.activeElement);
    await page.getByRole('button', { name: 'Pause', exact: true }).focus();
    await page.keyboard.press('j');
    expect(await isFocused(row(page, text))).toBe(true);
    await page.keyboard.press('Enter');
    await inspector(page).waitFor();
    await expect.poll(() => isFocused(inspector(page).getByRole('heading').first())).toBe(true);
    await page.keyboard.press('Escape');
    await expect.poll(() => isFocused(row(page, text))).toBe(true);
    await page.keyboard.press('b');
    await page.getByRole('heading', { name: 'Message as a business' }).waitFor();
    // Single keys are text while the user types.
    const field = page.getByLabel('Text', { exact: true });
    await expect.poll(() => isFocused(field)).toBe(true);
    await page.keyboard.type('b2?');
    await expect.poll(() => field.inputValue()).toBe('b2?');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page
      .getByRole('dialog', { name: 'Keys' })
      .getByLabel(/Single keys are on/)
      .uncheck();
    await page.keyboard.press('Escape');
    await page.keyboard.press('b');
    expect(await page.getByRole('heading', { name: 'Message as a business' }).count()).toBe(0);
    await page.getByRole('button', { name: '? all keys', exact: true }).click();
    await page
      .getByRole('dialog', { name: 'Keys' })
      .getByLabel(/Single keys are on/)
      .check();
  });

  test('the editor sends a message as the business, and opens its trace', async () => {
    const phone = newPhone();
    const page = await openPage(`/?user=${phone}&write=`);
    const text = newText('Written');
    await page.getByLabel('Text', { exact: true }).fill(text);
    await page.getByLabel('Quick replies, separated by commas').fill('Yes, No');
    await page.getByText('"quick_replies"').waitFor();
    await page.getByLabel('To', { exact: true }).fill('12');
    await page.getByRole('button', { name: 'Send', exact: true }).last().click();
    await page.getByRole('alert').filter({ hasText: 'must be a phone number' }).waitFor();
    await page.getByLabel('To', { exact: true }).fill(`+${phone}`);
    await page.getByRole('button', { name: 'Send', exact: true }).last().click();
    await inspector(page)
      .getByRole('heading', { name: /^Message to/ })
      .waitFor();
    await page.getByRole('button', { name: 'No', exact: true }).waitFor();
  });
});
