/** Each minute, once for each step: starts the work that is due. */

import type { SweepStep } from '../../shared/api/workers.ts';
import { startDueWork } from '../../shared/due-work/start-due-work.ts';
import { worker } from '../../shared/telemetry/worker.ts';

/** Failed work fails the invocation, but only after all other work. */
export const handler = worker('sweep', async ({ step }: { step: SweepStep }, remaining) => {
  const done = await startDueWork(step, remaining);
  if (done.failed > 0) throw new Error(`${done.failed} pieces of due work failed.`);
  return { step, ...done };
});
