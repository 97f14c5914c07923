/** The settings for requests of an account's chat platform: a secret that signs them, or the channel's Max length. */

import { hookKey } from '../accounts/entities.ts';
import type { HookItem } from '../accounts/platform-settings.ts';
import { getConsistent } from '../table/client.ts';

/** The settings of an account; undefined if none are set. 1 read unit. */
export const findHook = async (account: string): Promise<object | undefined> =>
  (await getConsistent<HookItem>(hookKey(account)))?.hook;
