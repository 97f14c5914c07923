/**
 * Pauses between equal calls, for a destination that takes the second one for a repeat of the first. The time of the last
 * call is kept in the table, because another worker may make the next one.
 */
import { now, scaled, secondsFromNow } from '../core/clock.ts';
import type { Spacing } from '../outbound/destination.ts';
import { getConsistent } from '../table/client.ts';
import { type Key, spacingKey } from '../table/keys.ts';
import { putWrite, type Write } from '../table/transactions.ts';

interface SpacingItem extends Key {
  /** Milliseconds since 1970. */
  until: number;
  expires_at: number;
}

/** Seconds for which a pause is kept: more than any lasts. */
const KEPT = 60;

/** When a call may be made, in milliseconds since 1970; 0 if no equal call was made recently. 1 read unit. */
export const pauseUntil = async ({ subject, pauseMs }: Spacing): Promise<number> => {
  const { until = 0 } = (await getConsistent<SpacingItem>(spacingKey(subject))) ?? {};
  // Clocks differ: the pause is the longest wait.
  return Math.min(until, now() + scaled(pauseMs));
};

/** Notes that a call was made just now, within the transaction that settles its entry. 2 write units. */
export const pauseWrite = ({ subject, pauseMs }: Spacing): Write =>
  putWrite<SpacingItem>({ ...spacingKey(subject), until: now() + scaled(pauseMs), expires_at: secondsFromNow(KEPT) });
