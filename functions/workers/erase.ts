/** Each minute: runs the erasures that are due, and ends the consents that have expired. */

import { withHashes } from '../../shared/core/hash-secret.ts';
import { inParallel } from '../../shared/core/parallel.ts';
import { describeError, log } from '../../shared/telemetry/log.ts';
import { worker } from '../../shared/telemetry/worker.ts';
import { endExpired, expiredConsents } from '../../shared/user-data/consent-ends.ts';
import { dueErasures, resumeErasure } from '../../shared/user-data/erasure.ts';

/** If fewer milliseconds are left, no erasure begins; the next invocation continues. */
const RESERVE = 10_000;

/** Consents that are ended at the same time. */
const TOGETHER = 8;

/** Failed work is retried in the next minute. It fails the invocation, but only after all other work. */
export const handler = worker<unknown>(
  'erase',
  withHashes(async (_event, remaining) => {
    const done = { erasures: 0, consents: 0, failed: 0 };
    const attempt = async (what: 'erasures' | 'consents', work: () => Promise<unknown>): Promise<void> => {
      if (remaining() < RESERVE) return;
      try {
        await work();
        done[what] += 1;
      } catch (error) {
        log('error', what === 'erasures' ? 'erasure failed' : 'consent not ended', describeError(error));
        done.failed += 1;
      }
    };
    for await (const phones of dueErasures()) {
      for (const phone of phones) await attempt('erasures', () => resumeErasure(phone));
    }
    for await (const consents of expiredConsents()) {
      if (remaining() < RESERVE) break;
      await inParallel(consents, TOGETHER, (consent) => attempt('consents', () => endExpired(consent)));
    }
    if (done.failed > 0) throw new Error(`${done.failed} erasures or ends of consent failed.`);
    return done;
  }),
);
