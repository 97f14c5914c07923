/** Opt-outs: users who have stopped a business. Nothing of this business is delivered to them. */
import type { OptOutState } from '../../outbox/event.ts';
import { getConsistent, getManyEventual } from '../../table/client.ts';
import type { Key } from '../../table/keys.ts';
import { optOutKey } from '../entities.ts';

/** The latest change of a user's opt-out from an account. */
export interface OptOutItem extends Key {
  state: OptOutState;
  /** When the user made the change, as the app network reports it. Older reports change nothing. */
  updated: string;
  /** Set if the user wrote a keyword to the business, and did not stop it in the app. */
  by?: 'message';
  /** Set after a start, in seconds since 1970: older reports, and a restore of the table, do not stop it again. */
  expires_at?: number;
  gsi2pk: string;
  gsi2sk: string;
}

/** Whether a user has stopped an account, by the opt-out. */
export const hasStopped = (item: Pick<OptOutItem, 'state'> | undefined): boolean => item?.state === 'stopped';

/** Whether a user has stopped an account, by a consistent read. 1 read unit. */
export const hasOptedOut = async (account: string, phone: string): Promise<boolean> =>
  hasStopped(await getConsistent<OptOutItem>(optOutKey(account, phone)));

/**
 * The users among these who have stopped an account, by eventually consistent reads: one who did so a moment ago may be
 * missing, and is found before the attempt. 0.5 read units for each user.
 */
export const optedOutAmong = async (account: string, phones: string[]): Promise<Set<string>> => {
  const items = await getManyEventual<OptOutItem[]>(phones.map((phone) => optOutKey(account, phone)));
  return new Set(phones.filter((_, index) => hasStopped(items[index])));
};
