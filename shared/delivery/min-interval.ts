/**
 * Pauses between equal requests, for a destination that would treat the second one as a repeat of the first. The end of
 * the pause is in the table, because another worker may make the next request.
 */
import { now, scaled, secondsFromNow } from '../core/clock.ts';
import type { MinInterval } from '../destinations/destination.ts';
import { getConsistent } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { putWrite, type Write } from '../table/transactions.ts';
import { minIntervalKey } from './entities.ts';

interface MinIntervalItem extends Key {
  /** Milliseconds since 1970. */
  until: number;
  expires_at: number;
}

/** Seconds for which a pause is stored: longer than any pause. */
const TTL_S = 60;

/** When a request may be made, in milliseconds since 1970; 0 if no equal one was made recently. 1 read unit. */
export const pauseUntil = async ({ subject, pauseMs }: MinInterval): Promise<number> => {
  const { until = 0 } = (await getConsistent<MinIntervalItem>(minIntervalKey(subject))) ?? {};
  // Clocks differ: limit the wait to one pause.
  return Math.min(until, now() + scaled(pauseMs));
};

/** Records that a request was made just now, in the transaction that settles its entry. 2 write units. */
export const pauseWrite = ({ subject, pauseMs }: MinInterval): Write =>
  putWrite<MinIntervalItem>({
    ...minIntervalKey(subject),
    until: now() + scaled(pauseMs),
    expires_at: secondsFromNow(TTL_S),
  });
