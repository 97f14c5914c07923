/** The settings for requests of an account's chat platform: a secret that signs them, or the channel's Max length. */

import { hookKey } from '../accounts/entities.ts';
import { getConsistent } from '../table/client.ts';
import type { Key } from '../table/keys.ts';

/** Only the endpoint of the account's platform, and operators, read it. */
export interface HookItem extends Key {
  hook: object;
  /** When an operator set the row. */
  updated: string;
}

/** The settings of an account; undefined if none are set. 1 read unit. */
export const findHook = async (account: string): Promise<object | undefined> =>
  (await getConsistent<HookItem>(hookKey(account)))?.hook;
