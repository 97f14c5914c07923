/** Each minute, once for each step: erases users who were removed, and ends consents that have expired. */

import type { EraseStep } from '../../shared/api/workers.ts';
import { eraseFromBatches } from '../../shared/campaigns/erase-batches.ts';
import { withHashes } from '../../shared/core/hash-secret.ts';
import { endExpiredConsents } from '../../shared/due-work/expired-consents.ts';
import { worker } from '../../shared/telemetry/worker.ts';
import { resumeErasures } from '../../shared/user-data/erasure.ts';

/** If fewer milliseconds are left, no work begins; the next invocation continues. */
const RESERVE = 10_000;

/** Each step is an invocation of its own, so that none takes the time of another one. */
const steps: Record<EraseStep, (isOver: () => boolean) => Promise<{ failed: number }>> = {
  erasures: resumeErasures,
  batches: eraseFromBatches,
  consents: endExpiredConsents,
};

/** Failed work is retried in the next minute. It fails the invocation, but only after all other work. */
export const handler = worker(
  'erase',
  withHashes(async ({ step }: { step: EraseStep }, remaining: () => number) => {
    const done = await steps[step](() => remaining() < RESERVE);
    if (done.failed > 0) throw new Error(`${done.failed} erasures or ends of consent failed.`);
    return { step, ...done };
  }),
);
