/** Opens the portal, signed in. */
import type { Page } from 'playwright-core';
import { openPage, stack } from './browser.ts';

type Options = Omit<NonNullable<Parameters<typeof openPage>[1]>, 'firstScript'> & { token?: string };

/**
 * Opens a view, signed in with a token.
 *
 * @param address - `/messages/12?state=failed`
 * @param options - of `openPage`; `token`: by default that of the demo account, which has all permissions
 */
export const openPortal = async (address: string, { token = stack.token, ...options }: Options = {}): Promise<Page> => {
  const session = JSON.stringify(JSON.stringify({ token, own: false }));
  // Only at first: the test may sign out, or sign in with another token.
  const firstScript = `window.name ||= (sessionStorage.setItem('session', ${session}), 'signed in');`;
  const page = await openPage(`${stack.base_url}/portal#${address}`, { ...options, firstScript });
  await page
    .getByRole('navigation', { name: 'Views', exact: true, includeHidden: true })
    .waitFor({ state: 'attached' });
  return page;
};
