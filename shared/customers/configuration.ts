/** The settings of an account, as its customer sees them. */
import { findAccount } from '../accounts/accounts.ts';
import { allowancesOf } from '../accounts/allowances.ts';
import { waitsPerAccount } from '../core/settings.ts';
import { urlOf } from '../media/media.ts';
import { healthOf, type PlatformHealth } from './platform-health.ts';

interface Configuration {
  name: string;
  pending_name?: string;
  bot_number: string | null;
  /** The URL of the avatar. */
  avatar: string | null;
  platform: ({ name: string } & PlatformHealth) | null;
  limits: { requests_per_second?: number; requests_at_once?: number; long_polls: number };
  allowances: Awaited<ReturnType<typeof allowancesOf>>;
}

/**
 * The configuration of an account. 3 read units; more while the platform fails.
 *
 * @param limit - the account's limit of requests, if it has one
 */
export const readConfiguration = async (
  account: string,
  limit: { rate: number; burst: number } | undefined,
): Promise<Configuration> => {
  const [found, health, allowances] = await Promise.all([
    findAccount(account),
    healthOf(account),
    allowancesOf(account),
  ]);
  if (found === undefined) throw new Error('The account does not exist.');
  const { name, pending_name, bot_number = null, platform, avatar } = found;
  return {
    name,
    ...(pending_name !== undefined && { pending_name }),
    bot_number,
    avatar: avatar === undefined ? null : urlOf(avatar.id),
    platform: platform === undefined ? null : { name: platform, ...health },
    limits: {
      ...(limit && { requests_per_second: limit.rate, requests_at_once: limit.burst }),
      long_polls: waitsPerAccount(),
    },
    allowances,
  };
};
