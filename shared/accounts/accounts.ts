/** Accounts of businesses and vendors, and the tokens issued to them (spec §5). Written by operators only. */
import { getConsistent } from '../table/client.ts';
import { accountKey, type Key, numberKey } from '../table/keys.ts';
import type { PlatformName } from './platform-settings.ts';

export interface Account {
  id: string;
  name: string;
  /** Which chat platform its users' messages go to, where it has one. */
  platform?: PlatformName;
  /** The phone number of its bot, where it has one (spec §5, rule 2). */
  bot_number?: string;
  created: string;
}

export interface AccountItem extends Key, Account {
  /** Counts changes of the account, its platform's settings and its number. Missing before the first change. */
  version?: number;
}

/** The owner of a bot's number. */
export interface NumberItem extends Key {
  account: string;
}

/**
 * The account with this id, as it is at this moment: who is notified of what is decided by it once, for good. 1 read
 * unit.
 */
export const findAccount = async (id: string): Promise<Account | undefined> => {
  const item = await getConsistent<AccountItem>(accountKey(id));
  return item && toAccount(item);
};

/** The id of the account that a bot's number belongs to at this moment: numbers move. 1 read unit. */
export const accountOfBot = async (number: string): Promise<string | undefined> =>
  (await getConsistent<NumberItem>(numberKey(number)))?.account;
export const toAccount = ({ pk: _pk, sk: _sk, version: _version, ...account }: AccountItem): Account => account;
