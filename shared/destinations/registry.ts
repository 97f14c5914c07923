/** The chat platforms by name, and the platform of an account. */

import { consentWebhookKey, platformKey } from '../accounts/entities.ts';
import type { ConsentWebhookItem, PlatformItem, PlatformName } from '../accounts/platform-settings.ts';
import { getConsistent } from '../table/client.ts';
import { type Destination, destinationNameOf } from './destination.ts';
import type { Platform } from './platform.ts';
import { rapidpro } from './rapidpro.ts';
import { turn } from './turn.ts';
import { webhook } from './webhook.ts';

export const platforms = { rapidpro, turn, webhook } satisfies Record<PlatformName, Platform>;

/** The destination of an account's conversations: its platform, by a consistent read. 1 read unit. */
export const platformOf = async (account: string): Promise<Destination> => {
  const name = destinationNameOf({ direction: 'platform', account });
  const item = await getConsistent<PlatformItem>(platformKey(account));
  return { name, ...(item ? destinationOf(item) : MISSING) };
};

/** In place of a destination that is not set up: entries wait for it. */
const MISSING: Omit<Destination, 'name'> = { buildRequest: () => undefined, isMissing: true };

const destinationOf = ({
  platform,
  settings,
  previous_secrets,
  listening,
  updated,
}: PlatformItem): Omit<Destination, 'name'> =>
  listening === undefined
    ? {
        ...platforms[platform].destination(settings, previous_secrets),
        ...(platform === 'webhook' && { version: updated }),
      }
    : { ...webhook.destination({ url: LISTENER_URL, ...settings }, previous_secrets), isPulled: true };

/** For requests of a webhook without a URL. Listeners send them elsewhere anyway. */
const LISTENER_URL = 'https://listener.invalid/';

/**
 * The webhook that is notified when consent ends: the account's own one for consent, else its plain webhook, by consistent
 * reads. 1 read unit, or 2. An account on a chat platform without such a webhook has a destination that skips every entry:
 * operators see what the account has to delete.
 */
export const consentWebhookOf = async (account: string): Promise<Destination> => {
  const name = destinationNameOf({ direction: 'consent', account });
  const own = await getConsistent<ConsentWebhookItem>(consentWebhookKey(account));
  if (own !== undefined) {
    // The history is for accounts whose platform is a webhook.
    const { hasHistory: _, ...destination } = webhook.destination(own.settings, own.previous_secrets);
    return { name, ...destination, version: own.updated };
  }
  const item = await getConsistent<PlatformItem>(platformKey(account));
  if (item === undefined) return { name, ...MISSING };
  return item.platform === 'webhook' ? { name, ...destinationOf(item) } : { name, buildRequest: () => undefined };
};
