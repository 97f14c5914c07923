/** Each minute: takes up what is due. So far that is the answers of deleted profilers. */
import type { ScheduledEvent } from 'aws-lambda';
import { removeAnswers } from '../../shared/answers.ts';
import { sortableTime } from '../../shared/clock.ts';
import { dueWork } from '../../shared/due.ts';
import { describeError, log } from '../../shared/log.ts';
import { worker } from '../../shared/worker.ts';

/** Takes up no more work when this many milliseconds are left; the next minute goes on. */
const RESERVE = 10_000;

/**
 * Goes round what is due, a page of each at a time, so that one large deletion holds up no other. What fails is left
 * for the next minute and fails the invocation at its end, after all others had their turn.
 */
export const handler = worker('sweep', async (event: Pick<ScheduledEvent, 'time'>, remaining) => {
  const time = sortableTime(Date.parse(event.time));
  const done = { answers: 0, profilers: 0, failed: 0 };
  for (let unfinished = true; unfinished; ) {
    unfinished = false;
    for await (const tombstones of dueWork(time)) {
      for (const tombstone of tombstones) {
        if (remaining() < RESERVE) return done;
        try {
          const { removed, finished } = await removeAnswers(tombstone);
          done.answers += removed;
          done.profilers += finished ? 1 : 0;
          unfinished ||= !finished;
        } catch (error) {
          log('error', 'sweep could not remove answers', describeError(error));
          done.failed += 1;
        }
      }
    }
  }
  if (done.failed > 0) throw new Error(`${done.failed} pieces of due work failed.`);
  return done;
});
