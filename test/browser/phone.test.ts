/**
 * The phone's page in a browser. With SCREENSHOTS=1, `npm run test:browser -- phone -t pictures` updates the README's
 * pictures in infra/local/phone/screenshots.
 */
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { expectAccessible, expectNoOverflow, openPage, stack } from './support/browser.ts';
import { askFor, newPhone, read, register, retrieve, sendMedia, sendText, statesOf } from './support/business.ts';

const openPhone = async (phone: string, options: Parameters<typeof openPage>[1] = {}): Promise<Page> => {
  const page = await openPage(`/?phone=${phone}`, options);
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByLabel('Message', { exact: true }).waitFor();
  return page;
};

const log = (page: Page): Locator => page.getByRole('log');

const write = async (page: Page, text: string): Promise<void> => {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
};

/** The bubble with this text. */
const message = (page: Page, text: string): Locator => log(page).getByRole('article').filter({ hasText: text });

const go = (page: Page, pane: string): Promise<void> =>
  page.getByRole('navigation', { name: 'Parts of the page' }).getByRole('button', { name: pane }).click();

describe('a conversation', () => {
  test('the page opens with the demo user and a field for a message', async () => {
    const page = await openPage('/');
    await page.getByRole('button', { name: `+${stack.panelist}` }).waitFor();
    await page.getByRole('heading', { name: `+${stack.panelist}` }).waitFor();
    await page.getByLabel('Message', { exact: true }).waitFor();
  });

  test.each(['Demo (RapidPro)', 'Demo on Turn (Turn)'])('%s replies to a message of the user', async (bot) => {
    const page = await openPhone(newPhone());
    await page.getByLabel('To', { exact: true }).selectOption(bot);
    await write(page, 'Hello');
    await message(page, 'You wrote: Hello').waitFor();
    await message(page, 'Hello').getByRole('img', { name: 'accepted by the service' }).first().waitFor();
  });

  test('quick replies are buttons, and a click sends the reply', async () => {
    const page = await openPhone(newPhone());
    await write(page, 'Hello');
    await page.getByRole('button', { name: 'Again' }).click();
    await message(page, 'You wrote: Again').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await message(page, 'Bye.').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Stop' }).count()).toBe(0);
  });

  test('the page displays an image, and a link to a file', async () => {
    const phone = newPhone();
    const page = await openPhone(phone);
    await sendMedia(phone, 'image');
    await expectPicture(page);
    const url = await sendMedia(phone, 'file');
    expect(await log(page).getByRole('link', { name: 'Open the file' }).getAttribute('href')).toBe(url);
  });

  test('the user can open another number, which then is in the list of phones', async () => {
    const phone = newPhone();
    const page = await openPage('/');
    await page.getByLabel('Open any number').fill(phone);
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await page.getByText('Say hello').waitFor();
    await sendText(phone, 'Good morning');
    await page.getByRole('navigation', { name: 'Phones' }).getByText('Good morning').waitFor();
  });

  test('buttons of the page make the business send a question, a picture, a file and a consent request', async () => {
    const phone = newPhone();
    await register(phone, { first_name: 'Thandi' });
    const page = await openPhone(phone);
    await page.getByRole('button', { name: 'Question' }).click();
    await page.getByRole('button', { name: 'Not today' }).waitFor();
    await page.getByRole('button', { name: 'Picture' }).click();
    await log(page)
      .getByRole('img', { name: /Sent by the business/ })
      .waitFor();
    await page.getByRole('button', { name: 'File', exact: true }).click();
    await log(page).getByRole('link', { name: 'Open the file' }).waitFor();
    await page.getByRole('button', { name: 'Consent request' }).click();
    await page.getByRole('button', { name: 'Approve all' }).waitFor();
  });

  test('a reload keeps the messages of both sides', async () => {
    const page = await openPhone(newPhone());
    await write(page, 'Hello');
    await message(page, 'You wrote: Hello').waitFor();
    await page.reload();
    await message(page, 'You wrote: Hello').waitFor();
    expect(await log(page).getByRole('article').count()).toBe(2);
  });

  test('a conversation is possible with the keyboard alone', async () => {
    const page = await openPhone(newPhone());
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('#message:focus').waitFor();
    await page.keyboard.type('Two');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('lines');
    await page.keyboard.press('Enter');
    await message(page, 'You wrote: Two lines').waitFor();
    const again = page.getByRole('button', { name: 'Again' });
    await again.waitFor();
    for (;;) {
      await page.keyboard.press('Shift+Tab');
      if (await again.evaluate((button) => button === document.activeElement)) break;
    }
    await page.keyboard.press('Enter');
    await message(page, 'You wrote: Again').waitFor();
    // The focus is in the field for the next message.
    await page.keyboard.type('Thanks');
    await page.keyboard.press('Enter');
    await message(page, 'You wrote: Thanks').waitFor();
  });
});

describe('ticks', () => {
  test('ticks show the states that the phone reports, and the service logs them', async () => {
    const phone = newPhone();
    const page = await openPhone(phone);
    await sendText(phone, 'Good morning');
    await message(page, 'Good morning').getByRole('img', { name: 'reported as read' }).waitFor();
    await expect.poll(() => statesOf(phone)).toEqual(expect.arrayContaining(['delivered_to_user', 'read']));
  });

  test('with automatic reports off, ticks show only states that the user reports', async () => {
    const phone = newPhone();
    const page = await openPhone(phone);
    await page.getByLabel('Report delivery and reading').uncheck();
    await sendText(phone, 'Good morning');
    const sent = message(page, 'Good morning');
    await sent.getByRole('img', { name: 'nothing reported yet' }).waitFor();
    await sent.getByRole('button', { name: 'delivered' }).click();
    await sent.getByRole('img', { name: 'reported as delivered' }).waitFor();
    await sent.getByRole('button', { name: 'failed' }).click();
    await sent.getByRole('img', { name: 'reported as failed' }).waitFor();
    expect(await statesOf(phone)).not.toContain('read');
  });
});

/** Long-polls until the user data request is completed. */
const whenCompleted = async (request: string): Promise<unknown> => {
  for (;;) {
    const data = await read(`/v1/user_data/fetch/${request}?long_poll=30`);
    if (data.status !== 'pending') return data;
  }
};

describe('a request for consent', () => {
  const asked = [{ property: 'first_name', reason: 'Your name', required: true }, { property: 'last_name' }];

  test('the user can approve one property and deny another, and the long poll returns the values', async () => {
    const phone = newPhone();
    await register(phone, { first_name: 'Thandi', last_name: 'Example' });
    const page = await openPhone(phone);
    const request = await askFor(phone, asked);
    const fetched = whenCompleted(request);
    const card = page.getByRole('article', { name: 'Demo asks for your data' });
    await card.getByText('To greet you').waitFor();
    await card.getByText('Your profile says: Thandi').waitFor();
    await card.getByRole('button', { name: 'Approve First name' }).click();
    await card.getByRole('button', { name: 'Deny Last name' }).click();
    expect(await fetched).toMatchObject({
      status: 'completed',
      results: { first_name: { status: 'approved', value: 'Thandi' }, last_name: { status: 'denied' } },
    });
    await card.getByText('✓ Approved').waitFor();
    await card.getByText('✕ Denied').waitFor();
  });

  test('the user can approve all properties with one button', async () => {
    const phone = newPhone();
    await register(phone, { first_name: 'Thandi' });
    const page = await openPhone(phone);
    const request = await askFor(phone, asked);
    await page.getByRole('button', { name: 'Approve all' }).click();
    await page.getByText('Answered.').waitFor();
    expect(await read(`/v1/user_data/fetch/${request}`)).toMatchObject({
      results: { first_name: { value: 'Thandi' }, last_name: { status: 'unavailable' } },
    });
  });

  test('denying a required property shows a warning, which the user can confirm', async () => {
    const phone = newPhone();
    await register(phone, {});
    const page = await openPhone(phone);
    const request = await askFor(phone, asked);
    await page.getByRole('button', { name: 'Deny all' }).click();
    await page.getByText('requires First name').waitFor();
    await page.getByRole('button', { name: 'Back' }).click();
    await page.getByRole('button', { name: 'Deny all' }).click();
    await page.getByRole('button', { name: 'Deny anyway' }).click();
    await page.getByText('Answered.').waitFor();
    expect(await read(`/v1/user_data/fetch/${request}`)).toMatchObject({
      results: { first_name: { status: 'denied' } },
    });
  });
});

describe('when the network drops and comes back', () => {
  const expectedErrors = /ERR_INTERNET_DISCONNECTED|ERR_FAILED/;

  test('after an offline period, new messages appear, and an unsent message can be sent once', async () => {
    const phone = newPhone();
    const page = await openPhone(phone, { expectedErrors });
    await page.context().setOffline(true);
    await page.getByText('Offline').waitFor();
    await write(page, 'Are you there?');
    await message(page, 'Not sent').waitFor();
    await sendText(phone, 'While you were away');
    await expect.poll(() => statesOf(phone)).toContain('delivered_to_server');
    await page.context().setOffline(false);
    await message(page, 'While you were away').waitFor();
    await page.getByRole('button', { name: 'Send again' }).click();
    await message(page, 'You wrote: Are you there?').waitFor();
    expect((await statesOf(phone)).filter((state) => state === 'received')).toHaveLength(1);
  });

  test('a message with a lost response is in the page after a reload, and a repeat does not duplicate it', async () => {
    const phone = newPhone();
    const page = await openPhone(phone, { expectedErrors });
    await page.route('**/phones/*/messages', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await page.route('**/view/phones/*', (route) => route.abort());
    await write(page, 'Hello');
    await message(page, 'Not sent').waitFor();
    await page.unroute('**/phones/*/messages');
    const answered = page.waitForResponse('**/phones/*/messages');
    await page.getByRole('button', { name: 'Send again' }).click();
    await answered;
    await page.unroute('**/view/phones/*');
    await page.reload();
    await message(page, 'You wrote: Hello').waitFor();
    expect(await log(page).getByRole('article').count()).toBe(2);
    expect((await statesOf(phone)).filter((state) => state === 'received')).toHaveLength(1);
  });
});

describe('the profile', () => {
  test('edits of the profile, and the removal of the user, are reported to the service', async () => {
    const phone = newPhone();
    const page = await openPhone(phone);
    await page.getByRole('button', { name: 'Profile' }).first().click();
    await page.getByLabel('Device make').fill('Nokia');
    await page.getByLabel('Panelist').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved').waitFor();
    expect(await retrieve(phone, 'device_make')).toMatchObject({ results: { device_make: { value: 'Nokia' } } });

    await page.reload();
    await page.getByRole('button', { name: 'Profile' }).first().click();
    expect(await page.getByLabel('Device make').inputValue()).toBe('Nokia');
    expect(await page.getByLabel('Panelist').isChecked()).toBe(true);
    await page.getByRole('button', { name: 'Remove the user …' }).click();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('Removed').waitFor();
    await expect(retrieve(phone, 'device_make')).rejects.toThrow('404');
  });
});

describe('the activity of the service', () => {
  test('the page shows requests, deliveries with their attempts, and messages of RapidPro', async () => {
    const phone = newPhone();
    const page = await openPhone(phone);
    await fetch(`${stack.phone_url}/behaviour`, {
      method: 'PUT',
      body: JSON.stringify({ status: 503, times: 1, phone }),
    });
    await write(page, 'Hello');
    await message(page, 'You wrote: Hello').waitFor();
    const panel = page.getByRole('tabpanel');
    await panel.getByText('POST /v1/app/events').first().waitFor();
    await page.getByRole('tab', { name: 'Requests' }).press('ArrowRight');
    const delivery = panel.getByRole('listitem').filter({ hasText: phone });
    await delivery.getByText('503').waitFor();
    await delivery.getByText('204').waitFor();
    await page.getByRole('tab', { name: 'Deliveries' }).press('End');
    await panel.getByText(`${phone} You wrote: Hello`).waitFor();
  });

  test('the funnel shows the counts of the API', async () => {
    const phone = newPhone();
    const page = await openPhone(phone);
    await sendText(phone, 'Good morning');
    await page.getByLabel("Today's messages").selectOption({ label: 'Demo: sent over the API' });
    const today = new Date().toISOString().slice(0, 10);
    const shown = async (name: string) => Number(await page.getByRole('row', { name }).locator('.count').textContent());
    await expect.poll(() => shown('Read')).toBeGreaterThan(0);
    await expect
      .poll(async () => {
        const jobs: { state: string; job_id: string; count: number }[] = await read(
          `/v1/stats/jobs?start_date=${today}&end_date=${today}`,
        );
        const chosen = await page.getByLabel("Today's messages").inputValue();
        const counted = jobs.filter(({ state, job_id }) => state === 'sent' && job_id === chosen);
        return counted.reduce((sum, { count }) => sum + count, 0) - (await shown('Sent'));
      })
      .toBe(0);
  });
});

/** Waits until the picture has loaded. */
const expectPicture = async (page: Page): Promise<void> => {
  const image = log(page).getByRole('img', { name: /Sent by the business/ });
  await expect.poll(() => image.evaluate((it) => it instanceof HTMLImageElement && it.naturalWidth)).toBeGreaterThan(0);
};

/** Creates a conversation with every kind of content. */
const createFullConversation = async (phone: string, page: Page): Promise<void> => {
  await register(phone, { first_name: 'Thandi', citizenship: 'South Africa' });
  await write(page, 'Good morning!');
  await message(page, 'You wrote: Good morning!').waitFor();
  await page.getByRole('button', { name: 'Picture' }).click();
  await expectPicture(page);
  await page.getByRole('button', { name: 'Consent request' }).click();
  const card = page.getByRole('article', { name: 'Demo asks for your data' });
  await card.getByRole('button', { name: 'Approve First name' }).click();
  await card.getByText('✓ Approved').waitFor();
  await page.getByRole('button', { name: 'Question' }).click();
  await message(page, 'short survey').getByRole('img', { name: 'reported as read' }).waitFor();
};

describe('accessibility', () => {
  test.each(['light', 'dark'] as const)('axe finds no serious violation on a wide screen: %s', async (colorScheme) => {
    const phone = newPhone();
    const page = await openPhone(phone, { colorScheme });
    await createFullConversation(phone, page);
    await expectAccessible(page);
    for (const tab of ['Deliveries', 'Platforms']) {
      await page.getByRole('tab', { name: tab }).click();
      await expectAccessible(page);
    }
    await page.getByRole('button', { name: 'Profile' }).first().click();
    await expectAccessible(page);
  });

  test.each(['light', 'dark'] as const)(
    'no element overflows at 360 px, and axe finds no serious violation: %s',
    async (colorScheme) => {
      const phone = newPhone();
      const page = await openPhone(phone, { colorScheme, viewport: { width: 360, height: 740 } });
      await createFullConversation(phone, page);
      await write(page, `A-long-word-${'x'.repeat(200)}`);
      await message(page, 'You wrote: A-long-word').waitFor();
      for (const pane of ['Chat', 'Phones', 'Profile', 'Service']) {
        await go(page, pane);
        await expectNoOverflow(page);
        await expectAccessible(page);
      }
    },
  );
});

test.runIf(process.env.SCREENSHOTS)('pictures for the README', async () => {
  const folder = 'infra/local/phone/screenshots';
  const phone = stack.panelist;
  const page = await openPhone(phone);
  await sendText('447700900002', 'Your survey is ready.', ['Open it']);
  await sendText('447700900003', 'Thank you for your answers!');
  await write(page, 'Good morning!');
  await message(page, 'You wrote: Good morning!').waitFor();
  await page.getByRole('button', { name: 'Picture' }).click();
  await expectPicture(page);
  await page.getByRole('button', { name: 'Consent request' }).click();
  await page.getByRole('button', { name: 'Approve First name' }).click();
  await page.getByText('✓ Approved').waitFor();
  await expect
    .poll(async () => Number(await page.getByRole('row', { name: 'Read' }).locator('.count').textContent()))
    .toBeGreaterThanOrEqual(2);
  await page.getByRole('tab', { name: 'Platforms' }).click();
  await page.screenshot({ path: `${folder}/conversation.png` });
  const small = await openPhone(phone, { colorScheme: 'dark', viewport: { width: 390, height: 844 } });
  await expectPicture(small);
  await small.screenshot({ path: `${folder}/small-dark.png` });
});
