/** Ends the consents that have expired, a page of each account in turn. */
import { now, sortableTime } from '../core/clock.ts';
import { inParallel } from '../core/parallel.ts';
import { describeError, log } from '../telemetry/log.ts';
import { endExpired } from '../user-data/consent-ends.ts';
import { ScheduledWork } from './scheduled-work.ts';

/** Consents that are ended at the same time. */
const TOGETHER = 8;

/**
 * Ends the consents that have expired: one account with many delays another one by a page. One that fails stays for the next
 * run.
 *
 * @param isOver - returns whether the next run must continue
 */
export const endExpiredConsents = async (isOver: () => boolean): Promise<{ consents: number; failed: number }> => {
  const done = { consents: 0, failed: 0 };
  for await (const consents of new ScheduledWork('consents', sortableTime(now())).due()) {
    if (isOver()) break;
    await inParallel(consents, TOGETHER, async (consent) => {
      if (isOver()) return;
      try {
        await endExpired(consent);
        done.consents += 1;
      } catch (error) {
        log('error', 'consent not ended', describeError(error));
        done.failed += 1;
      }
    });
  }
  return done;
};
