/** The chat platform of an account: its name, its settings, and their items in the table. */
import type { Key } from '../table/keys.ts';

export interface PlatformSettings {
  /** For requests to the platform. Contains secrets. */
  settings: object;
  /** For requests of the platform: the secret that signs them, or the channel's Max length. */
  hook?: object;
}

/**
 * A replaced signing secret. It also signs until it expires, so that the customer has time to change to the new one.
 */
export interface PreviousSecret {
  secret: string;
  /** When it expires, in milliseconds since 1970. */
  until: number;
}

/** The names of the chat platforms that an account can have. */
export type PlatformName = 'rapidpro' | 'turn' | 'webhook';

/** When an operator set the row. */
interface Updated {
  updated: string;
}

/** Contains secrets: only `deliver`, `claimDeliveries` and operators read it. */
export interface PlatformItem extends Key, Updated {
  platform: PlatformName;
  settings: object;
  previous_secrets?: PreviousSecret[];
  /**
   * Since when the events of a webhook wait for listeners, which claim them, instead of being posted to its URL. Then
   * the settings may lack a URL.
   */
  listening?: string;
}

/** Only the endpoint of the account's platform, and operators, read it. */
export interface HookItem extends Key, Updated {
  hook: object;
}

/**
 * The webhook of an account that is notified when consent ends, in addition to its chat platform. Contains secrets: only
 * `deliver` and operators read it.
 */
export interface ConsentWebhookItem extends Key, Updated {
  settings: object;
  previous_secrets?: PreviousSecret[];
}
