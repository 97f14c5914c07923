/** The slots that a long poll of an account holds while it waits, and its metrics. */

import { releaseSlot, type Slot, takeSharedSlot, takeSlot } from '../accounts/rate-limit/wait-slots.ts';
import { now } from '../core/clock.ts';
import { describeError, log } from '../telemetry/log.ts';
import { measure } from '../telemetry/metrics.ts';
import type { Place } from './long-poll.ts';

/** A place in which a long poll waits; its outcome once the wait has asked for it. */
type WaitSlot = Place & { outcome?: 'taken' | 'declined' };

/** A slot of the account, and one of those that all accounts share, for a wait until `end`. */
export const slotOf = (account: string, end: number): WaitSlot => {
  let held: Slot[] = [];
  const place: WaitSlot = {
    take: async () => {
      place.outcome = 'declined';
      for (const takeNext of [() => takeSlot(account, end), () => takeSharedSlot(end)]) {
        const slot = await takeNext().catch(async (error) => {
          await place.release();
          throw error;
        });
        if (slot === undefined) {
          await place.release();
          return false;
        }
        held.push(slot);
      }
      place.outcome = 'taken';
      return true;
    },
    release: async () => {
      const slots = held;
      held = [];
      // A slot that is not released is free when its time is over.
      await Promise.all(
        slots.map((slot) => releaseSlot(slot).catch((error) => log('warn', 'slot kept', describeError(error)))),
      );
    },
  };
  return place;
};

/**
 * Counts a long poll that has ended, if it asked for a slot.
 *
 * @param what - the account, and other names for the log line
 * @param start - when the request began, in milliseconds since 1970
 */
export const measureWait = (
  { outcome }: WaitSlot,
  what: Record<string, string>,
  { start, isAnswered }: { start: number; isAnswered: boolean },
): void => {
  if (outcome === 'taken') {
    const result = { outcome: isAnswered ? 'answered' : 'pending', long_polls: 1, long_poll_ms: now() - start };
    measure('info', 'long poll', { ...what, ...result });
  } else if (outcome === 'declined') measure('info', 'long poll declined', { ...what, long_polls_declined: 1 });
};
