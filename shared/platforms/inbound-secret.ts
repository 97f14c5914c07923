/** What tells whether a request of an account's chat platform is its own, where the operator has set it. */
import { findLatest } from '../table/client.ts';
import { hookKey, type Key } from '../table/keys.ts';

/** The row that only the endpoint of the account's platform reads. */
export interface HookItem extends Key {
  hook: object;
}

/** What is set for an account; nothing, where nothing is. 1 read unit. */
export const findHook = async (account: string): Promise<object | undefined> =>
  (await findLatest<HookItem>(hookKey(account)))?.hook;
