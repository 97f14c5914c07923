/** The settings of an account, as its customer sees them. */

import type { SendingHours } from '../core/sending-hours.ts';
import { waitsPerAccount } from '../core/settings.ts';
import { urlOf } from '../media/media.ts';
import { type Account, findAccount, type OptOutKeywords } from './accounts.ts';
import { allowancesOf } from './allowances.ts';

interface Configuration<Health> {
  name: string;
  pending_name?: string;
  bot_number: string | null;
  /** The URL of the avatar. */
  avatar: string | null;
  /** The default of its messages. */
  sending_hours?: SendingHours;
  opt_out_keywords?: OptOutKeywords;
  platform: ({ name: string } & Health) | null;
  limits: { requests_per_second?: number; requests_at_once?: number; long_polls: number };
  allowances: Awaited<ReturnType<typeof allowancesOf>>;
}

/**
 * The configuration of an account. 1.5 read units, besides those of the platform's health.
 *
 * @param limit - the account's limit of requests, if it has one
 * @param healthOf - reads how the platform works: `delivery/platform-health.ts`
 */
export const readConfiguration = async <Health>(
  account: string,
  limit: { rate: number; burst: number } | undefined,
  healthOf: (account: Account) => Promise<Health>,
): Promise<Configuration<Health>> => {
  const [found, allowances] = await Promise.all([findAccount(account), allowancesOf(account)]);
  if (found === undefined) throw new Error('The account does not exist.');
  const { name, pending_name, bot_number = null, platform, avatar, sending_hours, opt_out_keywords } = found;
  return {
    name,
    ...(pending_name !== undefined && { pending_name }),
    bot_number,
    avatar: avatar === undefined ? null : urlOf(avatar.id),
    ...(sending_hours && { sending_hours }),
    ...(opt_out_keywords && { opt_out_keywords }),
    platform: platform === undefined ? null : { name: platform, ...(await healthOf(found)) },
    limits: {
      ...(limit && { requests_per_second: limit.rate, requests_at_once: limit.burst }),
      long_polls: waitsPerAccount(),
    },
    allowances,
  };
};
