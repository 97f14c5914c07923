/** Each minute: continues the erasures that are due. */

import { describeError, log } from '../../shared/telemetry/log.ts';
import { worker } from '../../shared/telemetry/worker.ts';
import { dueErasures, resumeErasure } from '../../shared/user-data/erasure.ts';

/** No erasure begins when fewer milliseconds are left; the next minute continues. */
const RESERVE = 10_000;

/** A failed erasure is retried in the next minute, and fails the invocation at its end, after all others. */
export const handler = worker('erase', async (_event: unknown, remaining) => {
  const done = { erasures: 0, failed: 0 };
  for await (const phones of dueErasures()) {
    for (const phone of phones) {
      if (remaining() < RESERVE) break;
      try {
        await resumeErasure(phone);
        done.erasures += 1;
      } catch (error) {
        log('error', 'erasure failed', describeError(error));
        done.failed += 1;
      }
    }
  }
  if (done.failed > 0) throw new Error(`${done.failed} erasures failed.`);
  return done;
});
