/** The documentation in a browser, besides the reference: search, colours of code, tables on phones, and missing pages. */
import { describe, expect, test } from 'vitest';
import { expectAccessible, expectNoOverflow, openPage, stack } from './support/browser.ts';

const DOCS = `${stack.base_url}/docs`;
const PHONE = { width: 390, height: 844 };

test('the search of a page leads to its first hit', async () => {
  const page = await openPage(`${DOCS}/glossary.html`);
  await page.keyboard.press('/');
  await page.keyboard.type('pagination');
  await page.getByRole('option').first().waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(`${DOCS}/messages.html#logs-and-jobs`);
});

test('the top entry Command line lists commands', async () => {
  const page = await openPage(`${DOCS}/`);
  await page.getByRole('navigation', { name: 'Documentation' }).getByText('Command line').click();
  await page.getByRole('row', { name: /^account create <name> Creates an account\.$/ }).waitFor();
});

describe.each(['light', 'dark'] as const)('%s', (colorScheme) => {
  test('code has colours with enough contrast, and long lines break', async () => {
    const page = await openPage(`${DOCS}/listen.html`, { colorScheme, viewport: PHONE });
    const colours = await page
      .locator('pre [class^="code-"]')
      .evaluateAll((parts) => parts.map((part) => getComputedStyle(part).color));
    expect(new Set(colours).size).toBeGreaterThan(2);
    const cut = await page
      .locator('pre')
      .evaluateAll((blocks) => blocks.filter((block) => block.scrollWidth > block.clientWidth).length);
    expect(cut).toBe(0);
    await expectAccessible(page);
  });

  test('at 390 px, rows of tables are cards, and cells have the names of their columns', async () => {
    const page = await openPage(`${DOCS}/errors.html`, { colorScheme, viewport: PHONE });
    const row = page.locator('#rate_limited');
    const cells = await row.getByRole('cell').evaluateAll((all) =>
      all.map((cell) => ({
        name: getComputedStyle(cell, '::before').content,
        top: Math.round(cell.getBoundingClientRect().top),
      })),
    );
    expect(cells.map(({ name }) => name)).toEqual(['"status" / ""', '"code" / ""', '"what to do" / ""']);
    // One is below the other.
    expect(new Set(cells.map(({ top }) => top)).size).toBe(3);
    // Screen readers still find a table.
    await expect.poll(() => page.getByRole('columnheader', { name: 'what to do' }).count()).toBeGreaterThan(0);
    await expectNoOverflow(page);
    await expectAccessible(page);
  });

  test('the page for missing addresses has the design of the site', async () => {
    const page = await openPage(`${DOCS}/404.html`, { colorScheme });
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('main').getByText('Overview').click();
    await page.waitForURL(`${DOCS}/index.html`);
  });
});

test('the type of a problem leads to its section', async () => {
  const { status, type } = await (
    await fetch(`${stack.bridge_url}/v1/nothing`, { headers: { authorization: `Bearer ${stack.token}` } })
  ).json();
  expect(status).toBe(404);
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await openPage(type, { colorScheme });
    await page.locator(':target').getByText('404 address_not_found').waitFor();
    await expectAccessible(page);
  }
});
