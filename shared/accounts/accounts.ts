/** Accounts of businesses and vendors. Only operators write them. */
import type { SendingHours } from '../core/sending-hours.ts';
import { getConsistent } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { accountKey, numberKey } from './entities.ts';

export interface Account {
  id: string;
  name: string;
  /** Another name that the business has asked for, until an operator decides. */
  pending_name?: string;
  /** The latest decisions about such names, the newest last. */
  name_decisions?: NameDecision[];
  /** The chat platform that receives its users' messages, if it has one. */
  platform?: string;
  /** Its endpoints, by number, if it manages them itself. */
  endpoints?: Record<string, KnownEndpoint>;
  /** The phone number of its bot, if it has one. */
  bot_number?: string;
  /** Requests per second and requests at once, if they are not the default of the deployment. */
  rate?: number;
  burst?: number;
  /** The image that users see, by the id in its URL; with its media type, and the SHA-256 of its bytes. */
  avatar?: { id: string; type: string; sha256: string };
  /** What follows when a user writes an opt-out keyword to its bot. Default: nothing. */
  opt_out_keywords?: OptOutKeywords;
  /** Between which times of the day its messages are sent, unless a request says otherwise. */
  sending_hours?: SendingHours;
  /** Since when its tokens are rejected and nothing is sent to users; missing if it works. */
  suspended?: string;
  created: string;
}

/** What is known of an endpoint without its secrets. */
export interface KnownEndpoint {
  id: string;
  /** When it was changed last. */
  updated: string;
  /** Set if it was the webhook that an operator had set: earlier deliveries of the account were made for it. */
  adopted?: true | undefined;
}

/** What follows when a user writes STOP, or another opt-out keyword. */
export interface OptOutKeywords {
  /** `tell`: the platform is notified. `opt_out`: the user is opted out as well. */
  action: 'tell' | 'opt_out';
  /** The text that confirms an opt-out to the user. */
  confirmation?: string | undefined;
}

/** What an operator has decided about a name. */
export interface NameDecision {
  name: string;
  decision: 'approved' | 'rejected';
  time: string;
}

export interface AccountItem extends Key, Account {
  /** Set if the app network was notified of the name or the avatar. */
  announced?: true;
  /** Counts changes of the account, its platform's settings and its number. Missing before the first change. */
  version?: number;
}

/** The owner of a bot's number. */
export interface NumberItem extends Key {
  account: string;
  /** When the account got the number. */
  claimed: string;
}

/**
 * The account with this id, by a consistent read: callers make permanent decisions by its platform. 1 read unit.
 */
export const findAccount = async (id: string): Promise<Account | undefined> => {
  const item = await getConsistent<AccountItem>(accountKey(id));
  return item && toAccount(item);
};

/** The id of the account that owns a bot's number. A consistent read, because numbers can move. 1 read unit. */
export const accountOfBot = async (number: string): Promise<string | undefined> =>
  (await getConsistent<NumberItem>(numberKey(number)))?.account;
export const toAccount = ({
  pk: _pk,
  sk: _sk,
  version: _version,
  announced: _announced,
  ...account
}: AccountItem): Account => account;
