/** The chat platforms by name, and the platform of an account. */

import type { ConsentWebhookItem, PlatformItem, PlatformName } from '../accounts/platform-settings.ts';
import { type Destination, destinationNameOf } from '../outbound/destination.ts';
import { getConsistent } from '../table/client.ts';
import { platformKey } from '../table/keys.ts';
import { consentWebhookKey } from '../table/people-keys.ts';
import type { Platform } from './platform.ts';
import { rapidpro } from './rapidpro.ts';
import { turn } from './turn.ts';
import { webhook } from './webhook.ts';

export const platforms = { rapidpro, turn, webhook } satisfies Record<PlatformName, Platform>;

/** The destination of an account's conversations: its platform, by a consistent read. 1 read unit. */
export const platformOf = async (account: string): Promise<Destination> => {
  const name = destinationNameOf({ direction: 'platform', account });
  const item = await getConsistent<PlatformItem>(platformKey(account));
  // Without a platform, all entries are skipped.
  const platform = item
    ? platforms[item.platform].destination(item.settings, item.previous_secrets)
    : { buildRequest: () => undefined };
  return { name, ...platform };
};

/**
 * The webhook that is notified when consent ends: the account's own one for consent, else its plain webhook, by consistent
 * reads. 1 read unit, or 2. Without either, all entries are skipped: operators see what the account has to delete.
 */
export const consentWebhookOf = async (account: string): Promise<Destination> => {
  const name = destinationNameOf({ direction: 'consent', account });
  const own = await getConsistent<ConsentWebhookItem>(consentWebhookKey(account));
  if (own !== undefined) {
    // The history is for accounts whose platform is a webhook.
    const { hasHistory: _, ...destination } = webhook.destination(own.settings, own.previous_secrets);
    return { name, ...destination };
  }
  const item = await getConsistent<PlatformItem>(platformKey(account));
  return item?.platform === 'webhook'
    ? { name, ...webhook.destination(item.settings, item.previous_secrets) }
    : { name, buildRequest: () => undefined };
};
