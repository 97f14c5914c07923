/** Opens the portal, signed in. */
import type { Page } from 'playwright-core';
import { openPage, stack } from './browser.ts';

type Options = NonNullable<Parameters<typeof openPage>[1]> & { token?: string };

/**
 * Opens a view, signed in with a token.
 *
 * @param address - `/messages/12?state=failed`
 * @param options - of `openPage`; `token`: by default that of the demo account, which has all permissions
 */
export const openPortal = async (address: string, { token = stack.token, ...options }: Options = {}): Promise<Page> => {
  const page = await openPage(`${stack.base_url}/portal`, options);
  await page.evaluate(
    ([session, hash]) => {
      sessionStorage.setItem('session', session);
      history.replaceState(null, '', hash);
    },
    [JSON.stringify({ token, own: false }), `#${address}`] as const,
  );
  await page.reload();
  await page
    .getByRole('navigation', { name: 'Views', exact: true, includeHidden: true })
    .waitFor({ state: 'attached' });
  return page;
};
