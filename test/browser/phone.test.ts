/**
 * The phone's page, as a person meets it. With SCREENSHOTS=1, `npm run test:browser -- phone -t pictures` makes the
 * README's pictures in infra/local/phone/screenshots anew.
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
  test('begins with the demo user, who is there at once and may write right away', async () => {
    const page = await openPage('/');
    await page.getByRole('button', { name: `+${stack.panelist}` }).waitFor();
    await page.getByRole('heading', { name: `+${stack.panelist}` }).waitFor();
    await page.getByLabel('Message', { exact: true }).waitFor();
  });

  test.each(['Demo (RapidPro)', 'Demo on Turn (Turn)'])('%s answers what a user writes', async (bot) => {
    const page = await openPhone(newPhone());
    await page.getByLabel('To', { exact: true }).selectOption(bot);
    await write(page, 'Hello');
    await message(page, 'You wrote: Hello').waitFor();
    await message(page, 'Hello').getByRole('img', { name: 'accepted by the service' }).first().waitFor();
  });

  test('quick replies are buttons, and pressing one sends it', async () => {
    const page = await openPhone(newPhone());
    await write(page, 'Hello');
    await page.getByRole('button', { name: 'Again' }).click();
    await message(page, 'You wrote: Again').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await message(page, 'Bye.').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Stop' }).count()).toBe(0);
  });

  test('an image shows, and a file is a link', async () => {
    const phone = newPhone();
    const page = await openPhone(phone);
    await sendMedia(phone, 'image');
    await expectPicture(page);
    const url = await sendMedia(phone, 'file');
    expect(await log(page).getByRole('link', { name: 'Open the file' }).getAttribute('href')).toBe(url);
  });

  test('another number can be opened, and is in the list from then on', async () => {
    const phone = newPhone();
    const page = await openPage('/');
    await page.getByLabel('Open any number').fill(phone);
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await page.getByText('Say hello').waitFor();
    await sendText(phone, 'Good morning');
    await page.getByRole('navigation', { name: 'Phones' }).getByText('Good morning').waitFor();
  });

  test('the business can be had send something, from the page itself', async () => {
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

  test('shows both sides again after a reload', async () => {
    const page = await openPhone(newPhone());
    await write(page, 'Hello');
    await message(page, 'You wrote: Hello').waitFor();
    await page.reload();
    await message(page, 'You wrote: Hello').waitFor();
    expect(await log(page).getByRole('article').count()).toBe(2);
  });

  test('can be had by keyboard alone', async () => {
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
    // The focus is where the next message is written.
    await page.keyboard.type('Thanks');
    await page.keyboard.press('Enter');
    await message(page, 'You wrote: Thanks').waitFor();
  });
});

describe('ticks', () => {
  test('follow what the phone reports, which the service logs', async () => {
    const phone = newPhone();
    const page = await openPhone(phone);
    await sendText(phone, 'Good morning');
    await message(page, 'Good morning').getByRole('img', { name: 'reported as read' }).waitFor();
    await expect.poll(() => statesOf(phone)).toEqual(expect.arrayContaining(['delivered_to_user', 'read']));
  });

  test('wait where nothing is to be reported, and follow what is reported by hand', async () => {
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

/** Waits for a user's answer as businesses do: again, where a wait has ended without one. */
const whenCompleted = async (request: string): Promise<unknown> => {
  for (;;) {
    const data = await read(`/v1/user_data/fetch/${request}?long_poll=30`);
    if (data.status !== 'pending') return data;
  }
};

describe('a request for consent', () => {
  const asked = [{ property: 'first_name', reason: 'Your name', required: true }, { property: 'last_name' }];

  test('is approved in part, and the fetch that waits returns with the values', async () => {
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

  test('is approved as a whole', async () => {
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

  test('warns who denies what is required, and lets them', async () => {
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

  test('what came meanwhile shows, and what was written meanwhile can be sent, once', async () => {
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

  test('what was written is there after a reload, and sent once even where its answer was lost', async () => {
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
  test('is told to the service as it is edited', async () => {
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

describe('what the service does', () => {
  test('shows as it happens: requests, deliveries with their attempts, what RapidPro got and sent', async () => {
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

  test('is counted in the funnel, as the API counts it', async () => {
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

/** Waits for the picture itself. */
const expectPicture = async (page: Page): Promise<void> => {
  const image = log(page).getByRole('img', { name: /Sent by the business/ });
  await expect.poll(() => image.evaluate((it) => it instanceof HTMLImageElement && it.naturalWidth)).toBeGreaterThan(0);
};

/** A conversation with everything in it. */
const lively = async (phone: string, page: Page): Promise<void> => {
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

describe('everybody can use it', () => {
  test.each(['light', 'dark'] as const)('axe finds nothing serious on a wide screen: %s', async (colorScheme) => {
    const phone = newPhone();
    const page = await openPhone(phone, { colorScheme });
    await lively(phone, page);
    await expectAccessible(page);
    for (const tab of ['Deliveries', 'Platforms']) {
      await page.getByRole('tab', { name: tab }).click();
      await expectAccessible(page);
    }
    await page.getByRole('button', { name: 'Profile' }).first().click();
    await expectAccessible(page);
  });

  test.each(['light', 'dark'] as const)(
    'nothing overflows at 360 px, and axe finds nothing serious: %s',
    async (colorScheme) => {
      const phone = newPhone();
      const page = await openPhone(phone, { colorScheme, viewport: { width: 360, height: 740 } });
      await lively(phone, page);
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
