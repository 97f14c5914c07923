/** Expiry of items. TTL removes an expired item up to two days late, so readers treat it as absent. */
import { now } from '../core/clock.ts';

/** Whether an item has expired. */
export const hasExpired = ({ expires_at }: { expires_at?: number }): boolean =>
  expires_at !== undefined && expires_at <= now() / 1000;
