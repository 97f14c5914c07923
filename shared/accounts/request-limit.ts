/** How many requests an account may make: a token bucket that fills with `rate` tokens a second, up to `burst`. */
import { accountBurst, accountRate } from '../core/settings.ts';
import { get } from '../table/client.ts';
import type { Account, AccountItem } from './accounts.ts';
import { accountKey } from './entities.ts';

export interface RequestLimit {
  /** Requests per second, sustained. */
  rate: number;
  /** Requests at once, after a pause; at least the rate. */
  burst: number;
}

/** The limit of an account: its own, or the default of the deployment. An own rate without a burst allows twice as many. */
const limitOf = ({ rate, burst }: Pick<Account, 'rate' | 'burst'>): RequestLimit =>
  rate === undefined ? { rate: accountRate(), burst: accountBurst() } : { rate, burst: burst ?? 2 * rate };

/** The limit of the account with this id; undefined if the account is suspended. 0.5 read units. */
export const findRequestLimit = async (account: string): Promise<RequestLimit | undefined> => {
  const item: Partial<AccountItem> = (await get<AccountItem>(accountKey(account))) ?? {};
  return item.suspended === undefined ? limitOf(item) : undefined;
};
