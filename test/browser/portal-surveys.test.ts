/** The portal's view Surveys, in a browser. */
import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { expectUsable } from './support/browser.ts';
import { answerSurvey, createSurvey, newPhone } from './support/business.ts';
import { openPortal } from './support/portal.ts';

/** A question that no other survey has. */
const newQuestion = (subject: string): string => `${subject} (${newPhone()})?`;

/** The content of the file that a button saves. */
const save = async (page: Page, button: string): Promise<{ name: string; lines: string[] }> => {
  const begun = page.waitForEvent('download');
  await page.getByRole('button', { name: button, exact: true }).click();
  const file = await begun;
  return { name: file.suggestedFilename(), lines: (await text(await file.createReadStream())).trim().split(/\r?\n/) };
};

test('a survey is created with the keyboard, its answers appear by themselves, are saved, and are lost with it', async () => {
  const question = newQuestion('Which <b>radio</b> do you like <img src=x onerror=alert(1)>');
  const kept = newQuestion('Which one');
  await createSurvey(kept, ['This', 'That']);
  const page = await openPortal('/surveys/new');
  const name = (option: string) => ({ name: option, exact: true });
  await page.getByRole('button', name('Create the survey')).click();
  await page.getByText('Enter a question.').waitFor();
  await page.getByLabel('Question', { exact: true }).fill(question);
  await page.getByLabel('Option 1', { exact: true }).focus();
  // A key at a time, as people type: the next option has the focus at once.
  await page.keyboard.type('Metro');
  await page.keyboard.press('Enter');
  await page.keyboard.type('METRO');
  await page.getByText('The same as option 1: people would see it once.').waitFor();
  await page.getByRole('button', name('Create the survey')).click();
  await page.getByText('Enter at least two options that differ in more than capital letters.').waitFor();
  await page.getByLabel('Option 2', { exact: true }).fill('Jazz');
  await page.keyboard.press('Alt+ArrowUp');
  await expect.poll(() => page.getByLabel('Option 1', { exact: true }).inputValue()).toBe('Jazz');
  await page.getByRole('button', name('Move Metro up')).focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => page.getByLabel('Option 1', { exact: true }).inputValue()).toBe('Metro');
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('title'))).toBe('Move Metro down');
  await page.getByRole('button', name('Remove Option 3')).click();
  await page.getByRole('button', name('Create the survey')).click();

  await page.getByRole('heading', { name: question, level: 1, exact: true }).waitFor();
  await page.getByText('No answers yet.').waitFor();
  expect(await page.getByRole('main').locator('img, b').count()).toBe(0);
  const survey = /surveys\/([\da-f-]{36})$/.exec(page.url())?.[1] ?? '';
  await page.locator('summary').click();
  const ids = await page
    .getByRole('table', { name: 'Ids of the 2 options', exact: true })
    .locator('code')
    .allTextContents();
  await answerSurvey(survey, ids[0]);
  await answerSurvey(survey, ids[0]);
  await answerSurvey(survey, ids[1]);
  const results = page.getByRole('region', name('Results'));
  await results.getByText('3 answers').waitFor();
  await results.getByRole('row', { name: 'metro 2 67 %', exact: true }).waitFor();
  await page.getByRole('button', name('Refresh')).click();
  await page.getByRole('table', name('Answers, by phone number')).getByRole('row').nth(3).waitFor();

  const answers = await save(page, 'Answers as CSV');
  expect(answers.name).toMatch(/^which-b-radio-b-.*-answers\.csv$/);
  expect(answers.lines).toHaveLength(4);
  expect((await save(page, 'Results as CSV')).lines).toEqual([
    'option_id,option,count',
    `${ids[0]},metro,2`,
    `${ids[1]},jazz,1`,
  ]);

  await page.getByRole('button', name('Delete')).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('is deleted with its 3 answers').waitFor();
  await dialog.getByRole('button', name('Keep it')).click();
  await page.getByRole('button', name('Delete')).click();
  await dialog.getByRole('button', name('Delete the survey')).click();
  await page.getByText('The survey is deleted.').waitFor();
  await page.getByRole('heading', { name: 'Surveys', level: 1, exact: true }).waitFor();
  await page.getByRole('link', name(kept)).waitFor();
  expect(await page.getByRole('link', name(question)).count()).toBe(0);
});

test('the list shows the number of answers, finds a survey by an option, and keeps the search in the address', async () => {
  const word = `w${newPhone()}`;
  const question = newQuestion('Which day suits you');
  const { profiler_id, options } = await createSurvey(question, ['Monday', word]);
  await answerSurvey(profiler_id, options[word]);
  for (let more = 0; more < 7; more += 1) await createSurvey(newQuestion('Which one'), ['This', 'That']);
  const page = await openPortal('/surveys');
  await page.getByLabel('Find a survey', { exact: true }).fill(word);
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: question, exact: true }) });
  await expect.poll(() => page.getByRole('row').count()).toBe(2);
  // An answer is counted after some two seconds. The search is in the address.
  await expect
    .poll(async () => {
      await page.reload();
      await row.getByText(/^\d+$/).waitFor();
      return row.getByRole('cell').last().textContent();
    })
    .toBe('1');
  await expect.poll(() => page.getByRole('row').count()).toBe(2);
  await page.getByLabel('Find a survey', { exact: true }).fill(`${word}x`);
  await page.getByText(`No survey contains “${word}x”.`).waitFor();
  await page.getByRole('link', { name: 'Show all surveys', exact: true }).click();
  await row.waitFor();
});

test('an export of several pages is saved as one file, and an incomplete one is not saved', async () => {
  const { profiler_id } = await createSurvey(newQuestion('How long is it'), ['Long', 'Short']);
  const page = await openPortal(`/surveys/${profiler_id}`, { expectedErrors: /404/ });
  const pages = ['phone_number,option\r\n1,long\r\n', '2,short\r\n', '3,long\r\n'];
  let isBroken = false;
  await page.route('**/answers.csv*', (route) => {
    const number = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
    const next = `</v1/research_profilers/${profiler_id}/answers.csv?cursor=${number + 1}>; rel="next"`;
    if (isBroken && number === 1) {
      return route.fulfill({
        status: 404,
        json: { code: 'profiler_not_found', detail: 'None of your profilers has this id.' },
      });
    }
    return route.fulfill({
      body: pages[number] ?? '',
      headers: { 'content-type': 'text/csv', ...(number < 2 && { link: next }) },
    });
  });
  expect((await save(page, 'Answers as CSV')).lines).toEqual(['phone_number,option', '1,long', '2,short', '3,long']);
  isBroken = true;
  await page.getByRole('button', { name: 'Answers as CSV', exact: true }).click();
  await page.getByText('The file is not saved. None of your profilers has this id.').waitFor();
});

describe('counting people', () => {
  test('a small group is not counted, the choice is in the address, and the allowance is shown', async () => {
    const [drink, day] = [newQuestion('What do you drink'), newQuestion('Which day')];
    const first = await createSurvey(drink, ['Tea', 'Coffee']);
    await createSurvey(day, ['Monday', 'Friday']);
    const phone = newPhone();
    await answerSurvey(first.profiler_id, first.options.tea, phone);
    const page = await openPortal('/surveys/audience', { expectedErrors: /429/ });
    await page.getByLabel('Question', { exact: true }).selectOption(drink);
    await page.getByRole('button', { name: 'Count people', exact: true }).click();
    await page.getByText('Choose at least one option of each survey.').waitFor();
    await page.getByRole('checkbox', { name: 'tea', exact: true }).check();
    await page.reload();
    await page.getByText(`People who answered tea to ${drink}`).waitFor();
    const left = async () =>
      Number(/: (\d+) (?:is|are) left/.exec((await page.getByRole('main').textContent()) ?? '')?.[1]);
    await expect.poll(left).toBeGreaterThan(0);
    const before = await left();
    await page.getByRole('button', { name: 'Count people', exact: true }).click();
    await page.getByText('Fewer than 10 people', { exact: true }).waitFor();
    await expect.poll(left).toBeLessThan(before);
    // The result is not that of another choice.
    await page.getByRole('checkbox', { name: 'coffee', exact: true }).check();
    await page.getByText(`People who answered tea or coffee to ${drink}`).waitFor();
    expect(await page.getByText('Fewer than 10 people', { exact: true }).count()).toBe(0);

    await page.route('**/v1/audience', (route) =>
      route.fulfill({
        status: 429,
        json: { code: 'allowance_exceeded', detail: 'Your account has counted 100 audiences today.' },
      }),
    );
    await page.getByRole('button', { name: 'Count people', exact: true }).click();
    await page.getByText('Your account has counted 100 audiences today.').waitFor();
    await page.unroute('**/v1/audience');
    await page.route('**/v1/audience', (route) => route.fulfill({ json: { count: 1_230 } }));
    await page
      .getByRole('region', { name: 'And another survey?', exact: true })
      .getByLabel('Question', { exact: true })
      .selectOption(day);
    await page.getByRole('checkbox', { name: 'friday', exact: true }).check();
    await page.getByRole('button', { name: 'Count people', exact: true }).click();
    await page.getByText('1,230 to 1,239').waitFor();
    await page.getByRole('button', { name: 'Remove survey 2', exact: true }).click();
    expect(await page.getByRole('checkbox', { name: 'friday', exact: true }).count()).toBe(0);
  });
});

test('an account without surveys is told how to begin, and an unknown survey is named as such', async () => {
  const page = await openPortal('/surveys/00000000-0000-0000-0000-000000000000', { expectedErrors: /404|500/ });
  await page.getByText('There is no such survey.').waitFor();
  await page.route('**/v1/research_profilers', (route) => route.fulfill({ json: [] }));
  await page.getByRole('link', { name: 'Go to all surveys', exact: true }).click();
  await page.getByText('You have no surveys yet.').waitFor();
  await page.getByRole('link', { name: 'Count people', exact: true }).click();
  await page.getByText('there is nobody to count').waitFor();
  await page.unroute('**/v1/research_profilers');
  await page.route('**/v1/research_profilers', (route) =>
    route.fulfill({ status: 500, json: { code: 'internal_error', detail: 'Something failed.', trace_id: 'trace-1' } }),
  );
  await page.getByRole('link', { name: 'Surveys', exact: true }).first().click();
  await page.getByText('If you ask your operator about it, name the request trace-1.').waitFor();
  await page.unroute('**/v1/research_profilers');
  await page.getByRole('button', { name: 'Try again', exact: true }).click();
  await page.getByText('This could not be loaded.').waitFor({ state: 'detached' });
});

test('all pages are accessible in both themes, and fit into 320 px', async () => {
  const question = newQuestion(`What do you think of ${'Llanfairpwllgwyngyllgogerychwyrndrobwll'.repeat(3)}`);
  const { profiler_id, options } = await createSurvey(question, ['x'.repeat(120), 'Nothing']);
  await answerSurvey(profiler_id, options.nothing);
  const page = await openPortal('/surveys');
  await page.getByRole('link', { name: question, exact: true }).waitFor();
  await expectUsable(page);
  await page.getByRole('link', { name: question, exact: true }).click();
  await page.getByRole('table', { name: 'Answers, by phone number', exact: true }).waitFor();
  await page.locator('summary').click();
  await expectUsable(page);
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await expectUsable(page);
  for (const address of ['new', `audience?${profiler_id}=0`]) {
    await page.goto(`${page.url().split('#')[0]}#/surveys/${address}`);
    await page.getByRole('main').getByLabel('Question', { exact: true }).first().waitFor();
    await expectUsable(page);
  }
});
