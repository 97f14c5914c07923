/** The Jobs view of the phone's page, in a browser. With SCREENSHOTS=1, it updates the README's picture of a campaign. */
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { expectAccessible, expectNoOverflow, openPage } from './support/browser.ts';
import { disturb, newPhone, read, sendText, sendToMany } from './support/business.ts';
import { screens } from './support/screens.ts';

const WIDE = { width: 1440, height: 900 };

const openJobs = async (search = '', options: Parameters<typeof openPage>[1] = {}): Promise<Page> => {
  const page = await openPage(`/?tab=jobs${search}`, { viewport: WIDE, ...options });
  await page.locator('.status.live').waitFor({ state: 'attached' });
  // On a busy machine, campaigns take their time.
  page.setDefaultTimeout(100_000);
  return page;
};

/** A text that no other job has. */
const newText = (subject: string): string => `${subject} ${newPhone()}`;

const row = (page: Page, text: string): Locator =>
  page.getByRole('region', { name: 'Jobs', exact: true }).getByRole('listitem').getByRole('button', { name: text });

const detail = (page: Page, text: string): Locator => page.getByRole('article', { name: text });

const jobInUrl = (page: Page): string | null => new URL(page.url()).searchParams.get('job');

interface Draft {
  text: string;
  numbers?: string[];
  madeUp?: number;
  sendAt?: Date;
}

/** Fills the editor of a new job, and sends it. */
const sendJob = async (page: Page, { text, numbers, madeUp, sendAt }: Draft): Promise<void> => {
  await page.getByRole('button', { name: 'New job', exact: true }).first().click();
  const editor = page.getByRole('form', { name: 'New job' });
  await editor.getByLabel('Message', { exact: true }).fill(text);
  if (numbers !== undefined) {
    await editor.getByLabel('Phone numbers').check();
    await editor.getByLabel('Numbers, separated').fill(numbers.join('\n'));
  }
  if (madeUp !== undefined) await editor.getByLabel('How many').fill(String(madeUp));
  if (sendAt !== undefined) {
    // The field has local time, without a zone.
    const local = new Date(sendAt.getTime() - sendAt.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
    await editor.getByLabel('Start').fill(local);
  }
  await editor.getByRole('button', { name: /^Send to/ }).click();
  await detail(page, text).waitFor();
};

/** Confirms the question in the dialog. If the service is busy, the dialog says so, and the user tries again. */
const confirmStop = async (page: Page): Promise<void> => {
  const dialog = page.getByRole('dialog');
  const stop = dialog.getByRole('button', { name: 'Stop job' });
  await expect
    .poll(async () => {
      const ready = await stop.isEnabled({ timeout: 1_000 }).catch(() => false);
      if (ready) await stop.click({ timeout: 1_000 }).catch(() => undefined);
      return dialog.isVisible();
    })
    .toBe(false);
};

describe('a campaign', { timeout: 240_000 }, () => {
  test('can be started on the page, which shows it until all messages are delivered and reported', async () => {
    const text = newText('Clinic day');
    const page = await openJobs();
    await sendJob(page, { text, madeUp: 40 });
    const job = detail(page, text);
    await job.getByText('40 of 40 sent').waitFor();
    await job.getByRole('status').filter({ hasText: 'Completed' }).waitFor();
    await row(page, text).filter({ hasText: '40 people' }).filter({ hasText: 'Completed' }).waitFor();
    await job.getByText('POST /v1/message').waitFor();
    await job.getByText('medium priority').waitFor();
    const id = jobInUrl(page);
    // Most of the made-up users get it, and more than half read it.
    const reported = async () => Number((await read(`/v1/jobs/${id}`)).states.read);
    await expect.poll(reported).toBeGreaterThan(10);
    await expect
      .poll(
        async () =>
          (await job.getByRole('row', { name: 'Read' }).locator('.count').textContent()) === String(await reported()),
      )
      .toBe(true);
    // Their phones are not in the list of phones.
    expect(await page.getByRole('navigation', { name: 'Users' }).getByText('+999').count()).toBe(0);
  });

  test('that is stopped half-way delivers no further message, and the page shows what was sent', async () => {
    await disturb({ delay_ms: 1_500 });
    const text = newText('Bring your card');
    const page = await openJobs('', { expectedErrors: /502/ });
    await sendJob(page, { text, madeUp: 600 });
    const job = detail(page, text);
    await expect.poll(async () => Number(await job.locator('.hero-count strong').textContent())).toBeGreaterThan(0);
    await job.getByText('App network slow, 1.5 s a call').waitFor();
    await job.getByRole('button', { name: 'Stop job' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/^Stop\? [\d,]+ people will not get it\.$/).waitFor();
    await dialog.getByRole('button', { name: 'Keep it' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await job.getByRole('button', { name: 'Stop job' }).click();
    await confirmStop(page);
    await job.getByRole('status').filter({ hasText: 'Stopped' }).waitFor();
    await row(page, text).filter({ hasText: 'of 600 people' }).filter({ hasText: 'Stopped' }).waitFor();
    expect(await job.getByRole('button', { name: 'Stop job' }).count()).toBe(0);
    expect((await read(`/v1/jobs/${jobInUrl(page)}`)).status).toBe('cancelled');
  });

  test('for later shows its time, and can be stopped before it starts', async () => {
    const text = newText('Last day');
    const page = await openJobs('', { expectedErrors: /502/ });
    await sendJob(page, { text, madeUp: 300, sendAt: new Date(Date.now() + 86_400_000) });
    const job = detail(page, text);
    await job.getByRole('status').filter({ hasText: 'Scheduled' }).waitFor();
    await job.getByText('0 of 300 sent').waitFor();
    await row(page, text)
      .getByText(/^[A-Z][a-z]{2} \d+ [A-Z][a-z]{2}, \d\d:\d\d$/)
      .waitFor();
    await page.getByRole('button', { name: 'Scheduled', exact: true }).click();
    await row(page, text).waitFor();
    await job.getByRole('button', { name: 'Stop job' }).click();
    await page.getByRole('dialog').getByText('Stop? 300 people will not get it.').waitFor();
    await confirmStop(page);
    await job.getByRole('status').filter({ hasText: 'Stopped' }).waitFor();
    await expect.poll(() => row(page, text).count()).toBe(0);
  });

  test('shows its failures by reason, with the attempts to deliver them', async () => {
    const [taken, rejected] = [newPhone(), newPhone()];
    await disturb({ status: 404, phone: rejected });
    const text = newText('Your survey');
    const page = await openJobs();
    await sendJob(page, { text, numbers: [taken, `+${rejected}`, taken] });
    const job = detail(page, text);
    await job.getByText('2 of 2 sent').waitFor();
    const failure = job.getByRole('listitem').filter({ hasText: 'refused' }).first();
    await failure.getByText('The app network rejected the message').waitFor();
    await failure.getByRole('button', { name: 'Show traces of refused' }).click();
    await failure.getByText(`+${rejected}`).waitFor();
    await failure.getByLabel('Attempts').getByText('404').waitFor();
    await failure.getByRole('button', { name: 'Hide traces of refused' }).click();
    expect(await failure.getByLabel('Attempts').count()).toBe(0);
  });

  test('that the service rejects shows the reason, and its text stays in the editor', async () => {
    const page = await openJobs('&new=', { expectedErrors: /502/ });
    await page.getByLabel('Message', { exact: true }).last().fill('Too soon');
    const soon = new Date(Date.now() - new Date().getTimezoneOffset() * 60_000 - 3_600_000).toISOString().slice(0, 16);
    await page.getByLabel('Start').fill(soon);
    await page.getByRole('button', { name: 'Send to 250 people', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'must be one minute to 35 days ahead' }).waitFor();
    expect(await page.getByLabel('Message', { exact: true }).last().inputValue()).toBe('Too soon');
  });

  test('cannot be sent to a text that is no number', async () => {
    const page = await openJobs('&new=');
    await page.getByLabel('Message', { exact: true }).last().fill('Hello');
    await page.getByLabel('Phone numbers').check();
    await page.getByLabel('Numbers, separated').fill('27 82 123-4567, 12');
    await page.getByText('12 is not a phone number').waitFor();
    expect(await page.getByRole('button', { name: 'Send to 1 person', exact: true }).isDisabled()).toBe(true);
  });
});

describe('the list of jobs', () => {
  test('shows jobs of other programs, and the messages without a job', async () => {
    const text = newText('From a program');
    const page = await openJobs();
    await sendToMany([newPhone(), newPhone()], text);
    await row(page, text).filter({ hasText: '2 people' }).waitFor();
    await sendText(newPhone(), 'Good morning');
    const open = row(page, 'Messages without a job').filter({ hasText: 'sent over the API' });
    await open.click();
    const job = detail(page, 'Messages without a job');
    await job.getByRole('status').filter({ hasText: 'Open' }).waitFor();
    expect(await job.getByRole('button', { name: 'Stop job' }).count()).toBe(0);
  });

  test('is empty with a sentence and an action, if no job matches the filter', async () => {
    const page = await openJobs();
    await page.route('**/view/jobs', (route) => route.fulfill({ json: { day: '2026-11-22', jobs: [] } }));
    await page.reload();
    await page.getByText('A job is one message to many people').waitFor();
    await page.getByRole('button', { name: 'Running', exact: true }).click();
    await page.getByText('No job is running.').waitFor();
    await page.getByRole('button', { name: 'Show all jobs', exact: true }).click();
    await page.getByText('A job is one message to many people').waitFor();
  });

  test('shows shapes while it loads', async () => {
    const page = await openJobs();
    const { promise, resolve } = Promise.withResolvers<void>();
    await page.route('**/view/jobs', async (route) => {
      await promise;
      await route.continue();
    });
    await page.reload();
    await page.getByRole('region', { name: 'Jobs', exact: true }).getByText('Loading').waitFor();
    resolve();
    await expect.poll(() => page.getByRole('status').filter({ hasText: 'Loading' }).count()).toBe(0);
  });
});

describe('the URL', () => {
  test('keeps tab, job and filter over a reload, and Back returns to what was open before', async () => {
    const [first, second] = [newText('First'), newText('Second')];
    await sendToMany([newPhone(), newPhone()], first);
    await sendToMany([newPhone(), newPhone()], second);
    const page = await openPage('/', { viewport: WIDE });
    await page.getByRole('tab', { name: 'Jobs', exact: true }).click();
    await row(page, first).click();
    await detail(page, first).waitFor();
    await row(page, second).click();
    await detail(page, second).waitFor();
    await page.getByRole('button', { name: 'Completed', exact: true }).click();
    await page.reload();
    await detail(page, second).waitFor();
    expect(await page.getByRole('button', { name: 'Completed', exact: true }).getAttribute('aria-pressed')).toBe(
      'true',
    );
    await page.goBack();
    await detail(page, first).waitFor();
    await page.goBack();
    await page.getByText('Select a job').waitFor();
    await page.goBack();
    await page.getByRole('tab', { name: 'Activity', exact: true, selected: true }).waitFor();
    await page.goForward();
    await page.goForward();
    await detail(page, first).waitFor();
  });

  test('and the id of a job can be copied', async () => {
    const text = newText('To copy');
    const id = await sendToMany([newPhone(), newPhone()], text);
    const page = await openJobs(`&job=${id}`, { permissions: ['clipboard-read', 'clipboard-write'] });
    const job = detail(page, text);
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    await job.getByTitle('Copy job id').click();
    await job.getByRole('status').filter({ hasText: 'Copied' }).waitFor();
    expect(await copied()).toBe(id);
    await job.getByTitle('Copy link').click();
    await expect.poll(copied).toBe(page.url());
  });

  test('of a job that does not exist leads to a sentence and back to the list', async () => {
    const page = await openJobs('&job=00000000-0000-4000-8000-000000000000', { expectedErrors: /404/ });
    await page.getByText('There is no such job.').waitFor();
    await page.getByRole('button', { name: 'Show all jobs', exact: true }).click();
    await page.getByText('Select a job').waitFor();
  });
});

test('the keyboard alone opens a job, stops it, and closes it', async () => {
  const text = newText('By keyboard');
  await sendToMany([newPhone(), newPhone()], text, new Date(Date.now() + 86_400_000));
  const page = await openJobs();
  await row(page, text).waitFor();
  await page.getByRole('button', { name: 'New job', exact: true }).focus();
  for (;;) {
    await page.keyboard.press('j');
    if (await row(page, text).evaluate((button) => button === document.activeElement)) break;
  }
  await page.keyboard.press('Enter');
  await detail(page, text).getByText('0 of 2 sent').waitFor();
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('job-title');
  const stop = detail(page, text).getByRole('button', { name: 'Stop job' });
  while (!(await stop.evaluate((button) => button === document.activeElement))) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await detail(page, text).waitFor();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await detail(page, text).getByRole('status').filter({ hasText: 'Stopped' }).waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => row(page, text).evaluate((button) => button === document.activeElement)).toBe(true);
  expect(jobInUrl(page)).toBe(null);
});

test('while the stack is gone, the job stays on the page and cannot be stopped', async () => {
  const text = newText('Offline');
  await sendToMany([newPhone(), newPhone()], text, new Date(Date.now() + 86_400_000));
  const page = await openJobs('', { expectedErrors: /ERR_INTERNET_DISCONNECTED|ERR_FAILED/ });
  await row(page, text).click();
  const stop = detail(page, text).getByRole('button', { name: 'Stop job' });
  await stop.waitFor();
  await page.context().setOffline(true);
  await page.getByText('Offline').first().waitFor();
  await expect.poll(() => stop.isDisabled()).toBe(true);
  await detail(page, text).getByText('0 of 2 sent').waitFor();
  await page.context().setOffline(false);
  await expect.poll(() => stop.isDisabled()).toBe(false);
});

describe('accessibility', () => {
  test.each(screens)(
    'nothing overflows, and axe finds no serious violation: $viewport.width px, $colorScheme',
    async (options) => {
      const rejected = newPhone();
      await disturb({ status: 404, phone: rejected });
      const text = newText('A long title that does not fit beside the other parts of the job');
      await sendToMany([newPhone(), newPhone(), rejected], text);
      const page = await openJobs('', options);
      await row(page, text).waitFor();
      const look = async () => {
        await expectNoOverflow(page);
        await expectAccessible(page);
      };
      await look();
      await row(page, text).click();
      await detail(page, text).getByText('3 of 3 sent').waitFor();
      await detail(page, text).getByRole('button', { name: 'Show traces' }).click();
      await detail(page, text).getByLabel('Attempts').waitFor();
      await look();
      await detail(page, text).getByRole('button', { name: 'Close' }).click();
      await page.getByRole('button', { name: 'New job', exact: true }).first().click();
      await page.getByRole('form', { name: 'New job' }).waitFor();
      await look();
      await page.getByLabel('Phone numbers').check();
      await look();
    },
  );
});

test.runIf(process.env.SCREENSHOTS)('picture of a campaign for the README', { timeout: 300_000 }, async () => {
  const rejected = ['99900000005', '99900000017'];
  await disturb(...rejected.map((phone) => ({ status: 404, phone })));
  await sendToMany([...rejected, newPhone(), newPhone()], 'Clinic day this Saturday in Khayelitsha');
  const text = 'Last day: your survey closes tonight at eight';
  await sendToMany([newPhone(), newPhone(), newPhone()], text, new Date(Date.now() + 86_400_000));
  await sendText('447700900002', 'Your survey is ready.', ['Open it']);
  const page = await openJobs('', { deviceScaleFactor: 1 });
  await sendJob(page, { text: 'Sawubona! Our November survey on data prices', madeUp: 1_000 });
  const sent = async () => Number(await page.locator('.hero-count strong').textContent());
  await expect.poll(sent, { timeout: 200_000 }).toBeGreaterThan(300);
  await page.getByText('refused', { exact: true }).waitFor();
  await page.screenshot({ path: 'infra/local/phone/screenshots/campaign.png' });
});
