/** The chat platforms that an account can have, by name, and which one it has. */

import type { PlatformItem, PlatformName } from '../accounts/platform-settings.ts';
import { type Destination, destinationNameOf } from '../outbound/destination.ts';
import { getConsistent } from '../table/client.ts';
import { platformKey } from '../table/keys.ts';
import type { Platform } from './platform.ts';
import { rapidpro } from './rapidpro.ts';
import { turn } from './turn.ts';
import { webhook } from './webhook.ts';

export const platforms = { rapidpro, turn, webhook } satisfies Record<PlatformName, Platform>;
/** An account's platform as it is at this moment, as the destination of its conversations. 1 read unit. */
export const platformOf = async (account: string): Promise<Destination> => {
  const name = destinationNameOf({ direction: 'platform', account });
  const item = await getConsistent<PlatformItem>(platformKey(account));
  // Without a platform there is nobody to notify.
  const platform = item
    ? platforms[item.platform].destination(item.settings, item.previous_secrets)
    : { buildRequest: () => undefined };
  return { name, ...platform };
};
