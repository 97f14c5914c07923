/** Each minute: starts the work that is due. */

import type { ScheduledEvent } from 'aws-lambda';
import { sortableTime } from '../../shared/core/clock.ts';
import { startDueWork } from '../../shared/due-work/start-due-work.ts';
import { worker } from '../../shared/telemetry/worker.ts';

/** Failed work fails the invocation, but only after all other work. */
export const handler = worker('sweep', async (event: Pick<ScheduledEvent, 'time'>, remaining) => {
  const done = await startDueWork(sortableTime(Date.parse(event.time)), remaining);
  if (done.failed > 0) throw new Error(`${done.failed} pieces of due work failed.`);
  return done;
});
