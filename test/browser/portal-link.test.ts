/** How the local page opens the portal, in a browser. */
import { expect, test } from 'vitest';
import { openPage, openPhone, stack } from './support/browser.ts';
import { newPhone } from './support/business.ts';

const linkTo = (query: string): Promise<Response> =>
  fetch(`${stack.phone_url}/portal-link${query}`, { redirect: 'manual' });

test.each([
  ['', ''],
  ['?to=/campaigns/12', '&to=/campaigns/12'],
  ['?to=/messages%26code=1', '&to=/messages%26code%3D1'],
])('/portal-link%s redirects to the portal with a new code, and with the given view', async (query, view) => {
  const [first, second] = [await linkTo(query), await linkTo(query)];
  expect([first.status, first.headers.get('cache-control')]).toEqual([302, 'no-store']);
  const [begin, rest] = [`${stack.base_url}/portal#code=`, first.headers.get('location') ?? ''];
  expect(rest.startsWith(begin) && rest.endsWith(view)).toBe(true);
  expect(rest.slice(begin.length, rest.length - view.length)).toMatch(/^[\w-]{43}$/);
  expect(second.headers.get('location')).not.toBe(rest);
});

test('/portal-link with another URL than a path returns 422', async () => {
  for (const to of ['https://example.org/', 'campaigns', '']) {
    const response = await linkTo(`?to=${encodeURIComponent(to)}`);
    expect([response.status, await response.json()]).toEqual([
      422,
      { message: 'to must be a path of the portal that begins with /, such as /campaigns/ID.' },
    ]);
  }
});

test('the link Portal opens the portal in another tab, signed in as the demo account', async () => {
  const page = await openPhone(newPhone(), { viewport: { width: 1440, height: 900 } });
  const [portal] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('link', { name: 'Portal', exact: true }).click(),
  ]);
  await portal.getByRole('heading', { level: 1, name: 'Home', exact: true }).waitFor();
  expect(portal.url()).not.toContain('code=');
});

test.each([
  ['demo', stack.token],
  ['demo-turn', stack.turn_token],
])('the trace of a campaign of %s leads to its view in the portal', async (_, token) => {
  const response = await fetch(`${stack.base_url}/v1/message`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ to: [newPhone(), newPhone()], type: 'text', text: { body: 'Clinic day' } }),
  });
  const { job_id } = await response.json();
  const page = await openPage(`/?trace=${job_id}`, { viewport: { width: 1440, height: 900 } });
  const [portal] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('link', { name: 'Open in the portal', exact: true }).click(),
  ]);
  await portal.waitForURL(`**/portal#/campaigns/${job_id}`);
  await expect.poll(() => portal.getByRole('heading', { level: 1 }).count()).toBe(1);
});

test('at 390 px, the part Stack has the link Portal', async () => {
  const page = await openPage('/?tab=stack', { viewport: { width: 390, height: 844 } });
  await expect
    .poll(() => page.getByRole('link', { name: 'Portal', exact: true }).last().getAttribute('href'))
    .toBe('/portal-link');
});
