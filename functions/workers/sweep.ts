/** Each minute: starts the work that is due. */

import type { ScheduledEvent } from 'aws-lambda';
import { sortableTime } from '../../shared/core/clock.ts';
import { withHashes } from '../../shared/core/hash-secret.ts';
import { startDueWork } from '../../shared/due-work/start-due-work.ts';
import { worker } from '../../shared/telemetry/worker.ts';

/** Failed work fails the invocation, but only after all other work. */
export const handler = worker<Pick<ScheduledEvent, 'time'>>(
  'sweep',
  withHashes(async (event, remaining) => {
    const done = await startDueWork(sortableTime(Date.parse(event.time)), remaining);
    if (done.failed > 0) throw new Error(`${done.failed} pieces of due work failed.`);
    return done;
  }),
);
