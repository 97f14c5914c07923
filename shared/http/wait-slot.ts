/** The slot that a long poll of an account holds while it waits. */
import { releaseSlot, type Slot, takeSlot } from '../rate-limit/wait-slots.ts';
import { describeError, log } from '../telemetry/log.ts';
import type { Place } from './long-poll.ts';

/** A slot of the account for a wait until `end`; its outcome once the wait has asked for it. */
export const slotOf = (account: string, end: number): Place & { outcome?: 'taken' | 'declined' } => {
  let slot: Slot | undefined;
  const place: ReturnType<typeof slotOf> = {
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
