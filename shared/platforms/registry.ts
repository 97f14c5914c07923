/** The chat platforms that an account can have, by name, and which one it has. */
import type { Receiver } from '../outbound/destination.ts';
import { findLatest } from '../table/client.ts';
import { type Key, platformKey } from '../table/keys.ts';
import type { Platform } from './platform.ts';
import { rapidpro } from './rapidpro.ts';
import { turn } from './turn.ts';
import { webhook } from './webhook.ts';

export const platforms = { rapidpro, turn, webhook } satisfies Record<string, Platform>;

export type PlatformName = keyof typeof platforms;

/** The row that only `deliver` and operators read: it holds secrets. */
export interface PlatformItem extends Key {
  platform: PlatformName;
  settings: object;
}

/** An account's platform as it is at this moment, as the receiver of its conversations. 1 read unit. */
export const platformOf = async (account: string): Promise<Receiver> => {
  const item = await findLatest<PlatformItem>(platformKey(account));
  // Without one there is nobody to tell.
  const platform = item ? platforms[item.platform].receiver(item.settings) : { posting: () => undefined };
  return { name: `platform#${account}`, ...platform };
};
