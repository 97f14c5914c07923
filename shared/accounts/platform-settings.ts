/** The chat platform of an account: its name, its settings, and the rows that keep them. */
import type { Key } from '../table/keys.ts';

export interface PlatformSettings {
  /** How it is notified; contains secrets. */
  settings: object;
  /** How its own requests are authenticated, if it signs them. */
  hook?: object;
}

/** A signing secret that was replaced. It signs too, so that the customer can change to the new one meanwhile. */
export interface PreviousSecret {
  secret: string;
  /** Until then, in milliseconds since 1970. */
  until: number;
}

/** The names of the chat platforms that an account can have. */
export type PlatformName = 'rapidpro' | 'turn' | 'webhook';

/** The row that only `deliver` and operators read: it contains secrets. */
export interface PlatformItem extends Key {
  platform: PlatformName;
  settings: object;
  previous_secrets?: PreviousSecret[];
}

/** The row that only the endpoint of the account's platform reads. */
export interface HookItem extends Key {
  hook: object;
}
