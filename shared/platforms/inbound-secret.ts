/** What tells whether a request of an account's chat platform is its own, where the operator has set it. */

import type { HookItem } from '../accounts/platform-settings.ts';
import { getConsistent } from '../table/client.ts';
import { hookKey } from '../table/keys.ts';

/** What is set for an account; nothing, where nothing is. 1 read unit. */
export const findHook = async (account: string): Promise<object | undefined> =>
  (await getConsistent<HookItem>(hookKey(account)))?.hook;
