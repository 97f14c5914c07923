/** The secret that authenticates requests of an account's chat platform, if the operator has set it. */

import type { HookItem } from '../accounts/platform-settings.ts';
import { getConsistent } from '../table/client.ts';
import { hookKey } from '../table/keys.ts';

/** An account's secret; nothing, if none is set. 1 read unit. */
export const findHook = async (account: string): Promise<object | undefined> =>
  (await getConsistent<HookItem>(hookKey(account)))?.hook;
