/** The data of the switches of destinations: `GET /view/destinations`. */

/** The positions of a switch. */
export const modes = ['normal', 'slow', 'failing', 'loses_responses', 'offline'] as const;

export type Mode = (typeof modes)[number];

export type Server = 'app' | 'rapidpro' | 'turn';

/** A switch that was set: `GET /view/switched`, the newest first. */
export interface SwitchRow extends Pick<DestinationView, 'name' | 'mode' | 'share' | 'phone'> {
  id: string;
  /** Milliseconds since 1970. */
  time: number;
}

/** A destination, and its switch. */
export interface DestinationView {
  server: Server;
  name: string;
  /** `other` for fault rules that were set by a request, and that no position has. */
  mode: Mode | 'other';
  /** The share of the calls that are affected, above 0 up to 1. */
  share: number;
  /** The number of the user whose calls alone are affected; null for all users. */
  phone: string | null;
  /** When the switch was set; null if it is normal. */
  since: string | null;
  /** Messages and data requests that wait for a retry, or behind such a one. */
  pending: number;
  /** Other notifications that wait, such as states of messages. */
  others: number;
  /** When the next attempt is due; null if nothing waits, or it is due now. */
  next: string | null;
}
