/**
 * The phone's page in a browser. With SCREENSHOTS=1, `npm run test:browser -- phone -t pictures` updates the README's
 * pictures in infra/local/phone/screenshots.
 */
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { png } from '../stack/support/files.ts';
import { expectAccessible, expectUsable, openChat, openPage, openPhone, openScreen, stack } from './support/browser.ts';
import { askFor, newPhone, read, register, retrieve, sendMedia, sendText, statesOf } from './support/business.ts';
import { largeScreens, smallScreens } from './support/screens.ts';

const log = (page: Page): Locator => page.getByRole('log');

const write = async (page: Page, text: string): Promise<void> => {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
};

/** The bubble with this text. */
const message = (page: Page, text: string): Locator => log(page).getByRole('article').filter({ hasText: text });

/** The tab of a part of a small page; its name may begin with a number, such as `3 new`. */
const part = (page: Page, name: string): Locator =>
  page
    .getByRole('navigation', { name: 'Parts of the page' })
    .getByRole('button', { name: new RegExp(`(^| )${name}$`) });

const go = (page: Page, name: string): Promise<void> => part(page, name).click();

describe('a conversation', () => {
  test('the page opens with the demo user and a field for a message', async () => {
    const page = await openPage('/');
    await page
      .getByRole('navigation', { name: 'Users' })
      .getByRole('button', { name: `+${stack.panelist}` })
      .waitFor();
    await page.getByRole('heading', { name: 'Demo', exact: true }).waitFor();
    await page.getByLabel('Message', { exact: true }).waitFor();
  });

  test.each(['Demo', 'Demo on Turn'])('%s replies to a message of the user, in its own chat', async (bot) => {
    const page = await openPhone(newPhone());
    await openChat(page, bot);
    await write(page, 'Hello');
    await message(page, 'You wrote: Hello').waitFor();
    await message(page, 'Hello').getByRole('img', { name: 'on the platform' }).first().waitFor();
    await page.getByRole('button', { name: 'Chats', exact: true }).click();
    await expect.poll(() => page.getByRole('main').getByText('You wrote: Hello').count()).toBe(1);
  });

  test('quick replies are buttons, and a click sends the reply', async () => {
    const page = await openPhone(newPhone());
    await write(page, 'Hello');
    await page.getByRole('button', { name: 'Again', exact: true }).click();
    await message(page, 'You wrote: Again').waitFor();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await message(page, 'Bye.').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Stop', exact: true }).count()).toBe(0);
  });

  test('the user can open another number, which is validated as the API does', async () => {
    const phone = newPhone();
    const page = await openPage('/');
    await page.getByRole('button', { name: 'Add a user', exact: true }).click();
    const number = page.getByLabel('Open any number');
    const open = page.getByRole('button', { name: 'Open', exact: true });
    await number.fill('2782 12x 4567');
    await open.click();
    await page.getByRole('alert').filter({ hasText: 'must be a phone number' }).waitFor();
    await number.fill(`+${phone.slice(0, 2)} ${phone.slice(2, 4)}-${phone.slice(4)}`);
    await open.click();
    await page.getByText('Say hello').waitFor();
    expect(new URL(page.url()).searchParams.get('user')).toBe(phone);
    await openScreen(page, 'Profile');
    await page.getByText('Not registered', { exact: true }).waitFor();
  });

  test('buttons of the page make the business send a question, a picture, a file and a consent request', async () => {
    const phone = newPhone();
    await register(phone, { first_name: 'Thandi' });
    const page = await openPhone(phone);
    await page.getByRole('button', { name: 'Question', exact: true }).click();
    await page.getByRole('button', { name: 'Not today', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Picture', exact: true }).click();
    await log(page)
      .getByRole('img', { name: /Sent by the business/ })
      .waitFor();
    await page.getByRole('button', { name: 'File', exact: true }).click();
    await log(page).getByRole('link', { name: 'Open the file' }).waitFor();
    await page.getByRole('button', { name: 'Consent request', exact: true }).click();
    await page.getByRole('button', { name: 'Approve all', exact: true }).waitFor();
  });

  test('the page displays an image and a link to a file, with their captions', async () => {
    const phone = newPhone();
    const page = await openPhone(phone);
    const image = await sendMedia(phone, 'image', 'Our new clinic');
    await message(page, 'Our new clinic').getByRole('img').waitFor();
    await expectPicture(page);
    await expect.poll(() => log(page).getByRole('img').first().getAttribute('src')).toBe(image);
    const file = await sendMedia(phone, 'file', 'Please read');
    const link = message(page, 'Please read').getByRole('link', { name: 'Open the file' });
    await expect.poll(() => link.getAttribute('href')).toBe(file);
  });

  test('the user sends a picture with a caption, and a location', async () => {
    const page = await openPhone(newPhone());
    await page.getByLabel('Message', { exact: true }).fill('My cow');
    const picture = { name: 'cow.png', mimeType: 'image/png', buffer: Buffer.from(png) };
    await page.getByLabel('Send a picture').setInputFiles(picture);
    await message(page, 'My cow').getByRole('img', { name: 'Sent by you' }).waitFor();
    await message(page, 'You wrote: My cow').waitFor();
    await page.getByRole('button', { name: 'Send a location', exact: true }).click();
    await message(page, 'You wrote: Cape Town').waitFor();
    await expectAccessible(page);
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
    const again = page.getByRole('button', { name: 'Again', exact: true });
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
  test('the app network reports delivery while no page is open, and an open page reports that the user read it', async () => {
    const phone = newPhone();
    await sendText(phone, 'Good morning');
    await expect.poll(() => statesOf(phone)).toContain('delivered_to_user');
    expect(await statesOf(phone)).not.toContain('read');
    const page = await openPhone(phone);
    await message(page, 'Good morning').waitFor();
    await expect.poll(() => statesOf(phone)).toContain('read');
  });

  test('with automatic reports off, this page reports only what the user reports', async () => {
    const phone = newPhone();
    const page = await openPhone(phone);
    await openScreen(page, 'Profile');
    await page.getByLabel('Report reading', { exact: true }).uncheck();
    await openScreen(page, 'Chats');
    const reported: unknown[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/states')) reported.push(request.postDataJSON().state);
    });
    await sendText(phone, 'Good morning');
    await page.getByRole('main').getByText('Good morning').click();
    const sent = message(page, 'Good morning');
    await sent.getByText('Reported as delivered', { exact: true }).waitFor();
    expect(reported).toEqual([]);
    await sent.getByRole('button', { name: 'Report failed' }).click();
    await sent.getByText('Reported as delivered, failed', { exact: true }).waitFor();
    expect(reported).toEqual(['delivery_failed']);
    expect(await statesOf(phone)).not.toContain('read');
  });

  test('the page shows states that another program has reported', async () => {
    const phone = newPhone();
    const page = await openPhone(phone);
    await openScreen(page, 'Profile');
    await page.getByLabel('Report reading', { exact: true }).uncheck();
    await openScreen(page, 'Chats');
    const id = await sendText(phone, 'Good morning');
    await page.getByRole('main').getByText('Good morning').click();
    const event = { id: crypto.randomUUID(), timestamp: new Date().toISOString(), type: 'message.state' };
    const response = await fetch(`${stack.bridge_url}/v1/app/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.app_token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...event, data: { id, state: 'read' } }),
    });
    expect(response.status).toBe(204);
    await message(page, 'Good morning').getByText('Reported as delivered, read', { exact: true }).waitFor();
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
    await card.getByText('Thandi · Your name').waitFor();
    await card.getByRole('button', { name: 'Approve First name' }).click();
    await card.getByRole('button', { name: 'Deny Last name' }).click();
    expect(await fetched).toMatchObject({
      status: 'completed',
      results: { first_name: { status: 'approved', value: 'Thandi' }, last_name: { status: 'denied' } },
    });
    await card.getByText('Approved', { exact: true }).waitFor();
    await card.getByText('Denied', { exact: true }).waitFor();
  });

  test('denying a required property shows a warning, which the user can confirm', async () => {
    const phone = newPhone();
    await register(phone, {});
    const page = await openPhone(phone);
    const request = await askFor(phone, asked);
    await page.getByRole('button', { name: 'Deny all', exact: true }).click();
    await page.getByText('requires First name').waitFor();
    await page.getByRole('button', { name: 'Back', exact: true }).click();
    await page.getByRole('button', { name: 'Deny all', exact: true }).click();
    await page.getByRole('button', { name: 'Deny anyway', exact: true }).click();
    await page.getByText('Answered.').waitFor();
    expect(await read(`/v1/user_data/fetch/${request}`)).toMatchObject({
      results: { first_name: { status: 'denied' } },
    });
  });
});

describe('when the network drops and comes back', () => {
  const expectedErrors = /ERR_INTERNET_DISCONNECTED|ERR_FAILED/;

  test('after an offline period, new messages appear; meanwhile nothing can be sent, and the text stays', async () => {
    const phone = newPhone();
    const page = await openPhone(phone, { expectedErrors });
    await page.getByLabel('Message', { exact: true }).fill('Are you there?');
    await page.context().setOffline(true);
    // The browser reports it a moment before it applies to new connections.
    await page.evaluate(() => dispatchEvent(new Event('offline')));
    await page.getByText(/^Offline, retrying in \d s$/).waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Send', exact: true }).isDisabled()).toBe(true);
    await page.getByLabel('Message', { exact: true }).press('Enter');
    await expect.poll(() => page.getByRole('button', { name: 'Question', exact: true }).isDisabled()).toBe(true);
    await sendText(phone, 'While you were away');
    await expect.poll(() => statesOf(phone)).toContain('delivered_to_server');
    await page.context().setOffline(false);
    await message(page, 'While you were away').waitFor();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
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
    await Promise.all([
      page.waitForResponse('**/phones/*/messages'),
      message(page, 'Not sent').getByRole('button', { name: 'Retry', exact: true }).click(),
    ]);
    await page.unroute('**/view/phones/*');
    await page.reload();
    await message(page, 'You wrote: Hello').waitFor();
    await expect.poll(() => log(page).getByRole('article').count()).toBe(2);
    expect((await statesOf(phone)).filter((state) => state === 'received')).toHaveLength(1);
  });
});

describe('the profile', () => {
  test('edits of the profile, and the removal of the user, are reported to the service', async () => {
    const phone = newPhone();
    const page = await openPhone(phone);
    await openScreen(page, 'Profile');
    await page.getByLabel('Device make').fill('Nokia');
    await page.getByLabel('Panelist').check();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved').waitFor();
    expect(await retrieve(phone, 'device_make')).toMatchObject({ results: { device_make: { value: 'Nokia' } } });

    await page.reload();
    await page.getByText('Registered', { exact: true }).waitFor();
    await expect.poll(() => page.getByLabel('Device make').inputValue()).toBe('Nokia');
    await expect.poll(() => page.getByLabel('Panelist').isChecked()).toBe(true);
    await page.getByRole('button', { name: 'Remove the user …', exact: true }).click();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('Removed: the service deletes').waitFor();
    await expect(retrieve(phone, 'device_make')).rejects.toThrow('404');
  });
});

describe('the overview', () => {
  test('the funnel shows the counts of the API', async () => {
    const phone = newPhone();
    const page = await openPhone(phone);
    await sendText(phone, 'Good morning');
    await page.getByLabel('Messages today').selectOption({ label: 'Demo: sent over the API' });
    const today = new Date().toISOString().slice(0, 10);
    const shown = async (name: string) => Number(await page.getByRole('row', { name }).locator('.count').textContent());
    await expect.poll(() => shown('Read')).toBeGreaterThan(0);
    await expect
      .poll(async () => {
        const jobs: { state: string; job_id: string; count: number }[] = await read(
          `/v1/stats/jobs?start_date=${today}&end_date=${today}`,
        );
        const chosen = await page.getByLabel('Messages today').inputValue();
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

/** Creates a conversation with every kind of content. On a small screen, the buttons of the business are in Activity. */
const createFullConversation = async (phone: string, page: Page): Promise<void> => {
  const small = (page.viewportSize()?.width ?? 0) < 1024;
  const sendAsBusiness = async (name: string): Promise<void> => {
    if (small) await go(page, 'Activity');
    await page.getByRole('button', { name, exact: true }).click();
    if (small) await go(page, 'Phone');
  };
  await register(phone, { first_name: 'Thandi', citizenship: 'South Africa' });
  await write(page, 'Good morning!');
  await message(page, 'You wrote: Good morning!').waitFor();
  await sendAsBusiness('Picture');
  await expectPicture(page);
  await sendAsBusiness('Consent request');
  const card = page.getByRole('article', { name: 'Demo asks for your data' });
  await card.getByRole('button', { name: 'Approve First name' }).click();
  await card.getByText('Approved', { exact: true }).waitFor();
  await sendAsBusiness('Question');
  await message(page, 'short survey').waitFor();
};

test('on a small screen, a badge counts the traces that have come since Activity was shown', async () => {
  const phone = newPhone();
  const page = await openPhone(phone, { viewport: { width: 390, height: 844 } });
  const tab = page
    .getByRole('navigation', { name: 'Parts of the page' })
    .getByRole('button', { name: /^\d* ?.*Activity/ });
  await sendText(phone, 'Counted');
  await expect.poll(() => tab.textContent()).toMatch(/^[1-9]\d* newActivity$/);
  await go(page, 'Activity');
  await expect.poll(() => tab.textContent()).toBe('Activity');
});

describe('accessibility', () => {
  test('with reduced motion, nothing is animated', async () => {
    const page = await openPhone(newPhone(), { reducedMotion: 'reduce' });
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    const moving = await page.evaluate(() =>
      [...document.querySelectorAll('*')]
        .filter((element) => {
          const { transitionDuration, animationName } = getComputedStyle(element);
          return animationName !== 'none' || transitionDuration.split(', ').some((duration) => duration !== '0s');
        })
        .map((element) => element.outerHTML.slice(0, 80)),
    );
    expect(moving).toEqual([]);
  });

  test('a message is announced, and the log itself announces nothing', async () => {
    const phone = newPhone();
    const page = await openPhone(phone);
    await sendText(phone, 'Four');
    await page.getByRole('status').filter({ hasText: 'Demo: Four' }).waitFor({ state: 'attached' });
    await expect.poll(() => log(page).getAttribute('aria-live')).toBe('off');
  });

  test.each([
    ['large', largeScreens],
    ['small', smallScreens],
  ] as const)(
    'on %s screens, in both themes, nothing overflows, and axe finds no serious violation',
    async (size, sizes) => {
      const phone = newPhone();
      const page = await openPhone(phone, { viewport: sizes[0] });
      // Only the traces of this user: axe takes long for hundreds of rows.
      await page.goto(`${page.url()}&of=${phone}`);
      const look = () => expectUsable(page, sizes);
      await createFullConversation(phone, page);
      await write(page, `A-long-word-${'x'.repeat(200)}`);
      await message(page, 'You wrote: A-long-word').waitFor();
      await look();
      await message(page, 'short survey').getByRole('button', { name: 'Inspect' }).click();
      await page.getByRole('article', { name: 'Message to Thandi' }).getByText('Delivered to server').waitFor();
      await look();
      await page.getByRole('button', { name: 'Close', exact: true }).first().click();
      await page.getByRole('button', { name: 'Calls', exact: true }).click();
      await page.getByRole('region', { name: 'Calls' }).getByText('POST /v1/message').first().waitFor();
      await look();
      await page.keyboard.press('b');
      await page.getByRole('heading', { name: 'Message as a business' }).waitFor();
      await look();
      await page.keyboard.press('Escape');
      // The part Stack is in destinations.test.ts, and the screen Consents in consents.test.ts.
      if (size === 'small') await go(page, 'Phone');
      for (const name of ['Chats', 'Profile']) {
        await openScreen(page, name);
        await look();
      }
    },
  );
});

test.runIf(process.env.SCREENSHOTS)('pictures for the README', async () => {
  const folder = 'infra/local/phone/screenshots';
  const phone = stack.panelist;
  const page = await openPhone(phone, { viewport: { width: 1440, height: 900 } });
  await sendText('447700900002', 'Your survey is ready.', ['Open it']);
  await sendText('447700900003', 'Thank you for your answers!');
  await write(page, 'Good morning!');
  await message(page, 'You wrote: Good morning!').waitFor();
  await page.getByRole('button', { name: 'Picture', exact: true }).click();
  await expectPicture(page);
  await page.getByRole('button', { name: 'Consent request', exact: true }).click();
  await page.getByRole('button', { name: 'Approve First name', exact: true }).click();
  await page.getByText('Approved', { exact: true }).waitFor();
  await expect
    .poll(async () => Number(await page.getByRole('row', { name: 'Read' }).locator('.count').textContent()))
    .toBeGreaterThanOrEqual(2);
  await page.screenshot({ path: `${folder}/conversation.png` });
  const small = await openPhone(phone, { colorScheme: 'dark', viewport: { width: 390, height: 844 } });
  await expectPicture(small);
  await small.screenshot({ path: `${folder}/small-dark.png` });
});
