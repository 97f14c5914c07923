/** The slot that a long poll of an account holds while it waits, and its metrics. */
import { now } from '../core/clock.ts';
import { releaseSlot, type Slot, takeSlot } from '../rate-limit/wait-slots.ts';
import { describeError, log } from '../telemetry/log.ts';
import { measure } from '../telemetry/metrics.ts';
import type { Place } from './long-poll.ts';

/** A place in which a long poll waits; its outcome once the wait has asked for it. */
type WaitSlot = Place & { outcome?: 'taken' | 'declined' };

/** A slot of the account for a wait until `end`. */
export const slotOf = (account: string, end: number): WaitSlot => {
  let slot: Slot | undefined;
  const place: WaitSlot = {
    take: async () => {
      place.outcome = 'declined';
      slot = await takeSlot(account, end);
      if (slot !== undefined) place.outcome = 'taken';
      return slot !== undefined;
    },
    release: async () => {
      // A slot that is not released is free when its time is over.
      if (slot !== undefined) await releaseSlot(slot).catch((error) => log('warn', 'slot kept', describeError(error)));
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
