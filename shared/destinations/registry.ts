/** The chat platforms by name, and the platform of an account. */

import { consentWebhookKey, platformKey } from '../accounts/entities.ts';
import type { EndpointNumber } from '../outbox/entities.ts';
import { getConsistent } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { type Destination, destinationNameOf } from './destination.ts';
import { ENDPOINTS, type Endpoint, type EndpointSettings } from './endpoint-settings.ts';
import { endpointDestination } from './endpoints.ts';
import type { Platform } from './platform.ts';
import { rapidpro, rapidproSetup } from './rapidpro.ts';
import type { AnySetup } from './setup.ts';
import type { PreviousSecret } from './signing-secrets.ts';
import { turn, turnSetup } from './turn.ts';
import { webhook, webhookSetup } from './webhook.ts';

const platforms = { rapidpro, turn, webhook } satisfies Record<string, Platform>;

/** The names of the chat platforms that operators set. */
export type PlatformName = keyof typeof platforms;

/** How operators connect each of them. */
export const setups: Record<PlatformName, AnySetup> = {
  rapidpro: rapidproSetup,
  turn: turnSetup,
  webhook: webhookSetup,
};

/** When the row was set. */
interface Updated {
  updated: string;
}

/** Contains secrets: only `deliver`, `claimDeliveries`, the functions of endpoints and operators read it. */
export type PlatformItem = OperatedItem | EndpointsItem;

interface EndpointsItem extends Key, Updated {
  platform: typeof ENDPOINTS;
  settings: EndpointSettings;
}

interface OperatedItem extends Key, Updated {
  platform: PlatformName;
  settings: object;
  previous_secrets?: PreviousSecret[];
  /**
   * Since when the events of a webhook wait for listeners, which claim them, instead of being posted to its URL. Then
   * the settings may lack a URL.
   */
  listening?: string;
}

/**
 * The webhook of an account that is notified when consent ends, in addition to its chat platform. Contains secrets: only
 * `deliver` and operators read it.
 */
export interface ConsentWebhookItem extends Key, Updated {
  settings: object;
  previous_secrets?: PreviousSecret[];
}

/** The destination of an account's conversations: its platform, by a consistent read. 1 read unit for 4 KB of its settings. */
export const platformOf = async (account: string): Promise<Destination> => {
  const name = destinationNameOf({ direction: 'platform', account });
  const item = await getConsistent<PlatformItem>(platformKey(account));
  return { name, ...(item ? destinationOf(item) : MISSING) };
};

/** The destination of the copies for an endpoint, as `platformOf`. What is left of a deleted one is dropped. */
export const copiesOf = async (account: string, endpoint: EndpointNumber): Promise<Destination> => {
  const name = destinationNameOf({ direction: 'platform', account, endpoint });
  const item = await getConsistent<PlatformItem>(platformKey(account));
  const found = item && endpointsIn(item).find(({ number }) => number === endpoint);
  return { name, ...(found ? endpointDestination(found) : SKIPPING) };
};

/** The endpoints of an account. */
export const endpointsIn = (item: PlatformItem): Endpoint[] =>
  item.platform === ENDPOINTS ? item.settings.endpoints : [];

const SKIPPING: Omit<Destination, 'name'> = { buildRequest: () => undefined };

/** In place of a destination that is not set up: entries wait for it. */
const MISSING: Omit<Destination, 'name'> = { ...SKIPPING, isMissing: true };

const destinationOf = (item: PlatformItem): Omit<Destination, 'name'> => {
  if (item.platform === ENDPOINTS) {
    const endpoints = endpointsIn(item);
    return endpoints.length === 0 ? MISSING : { ...SKIPPING, endpoints };
  }
  const { platform, settings, previous_secrets, listening, updated } = item;
  if (listening !== undefined)
    return { ...webhook({ url: LISTENER_URL, ...settings }, previous_secrets), isPull: true };
  return {
    ...platforms[platform](settings, previous_secrets),
    ...(platform === 'webhook' && { version: updated }),
  };
};

/** For requests of a webhook without a URL. Listeners send them elsewhere anyway. */
const LISTENER_URL = 'https://listener.invalid/';

/**
 * The webhook that is notified when consent ends: the account's own one for consent, else its plain webhook or its endpoints,
 * by consistent reads. 1 read unit, or 2. An account on a chat platform without such a webhook has a destination that skips every entry:
 * operators see what the account has to delete.
 */
export const consentWebhookOf = async (account: string): Promise<Destination> => {
  const name = destinationNameOf({ direction: 'consent', account });
  const own = await getConsistent<ConsentWebhookItem>(consentWebhookKey(account));
  if (own !== undefined) {
    // The history is for accounts whose platform is a webhook.
    const { hasHistory: _, ...destination } = webhook(own.settings, own.previous_secrets);
    return { name, ...destination, version: own.updated };
  }
  const item = await getConsistent<PlatformItem>(platformKey(account));
  if (item === undefined) return { name, ...MISSING };
  const { platform } = item;
  return { name, ...(platform === 'webhook' || platform === ENDPOINTS ? destinationOf(item) : SKIPPING) };
};
