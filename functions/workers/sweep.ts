/**
 * Each minute: starts work that is due. It wakes conversations whose next attempt is due, or whose wake-up was lost. The
 * answers of deleted profilers are removed. It also measures the pending entries.
 */

import type { ScheduledEvent } from 'aws-lambda';
import { sortableTime } from '../../shared/core/clock.ts';
import { Backlog } from '../../shared/delivery/backlog-metrics.ts';
import { isFailing } from '../../shared/delivery/circuit-breaker.ts';
import { dueWork } from '../../shared/delivery/scheduled-work.ts';
import { wake } from '../../shared/delivery/wake-ups.ts';
import { APP_NETWORK_DESTINATION } from '../../shared/outbound/destination.ts';
import { removeAnswers } from '../../shared/profilers/answers.ts';
import { conversationOf, isHeadKey, type Key } from '../../shared/table/keys.ts';
import { describeError, log } from '../../shared/telemetry/log.ts';
import { measure } from '../../shared/telemetry/metrics.ts';
import { worker } from '../../shared/telemetry/worker.ts';

/** No work begins when fewer milliseconds are left; the next minute continues. */
const RESERVE = 10_000;

/** Failed work is retried in the next minute, and fails the invocation at its end, after all other work. */
export const handler = worker('sweep', async (event: Pick<ScheduledEvent, 'time'>, remaining) => {
  const time = sortableTime(Date.parse(event.time));
  const done = { woken: 0, answers: 0, profilers: 0, failed: 0 };
  const backlog = new Backlog();
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      log('error', 'due work failed', describeError(error));
      done.failed += 1;
    }
  };

  const tombstones: Key[] = [];
  for await (const due of dueWork(time)) {
    if (remaining() < RESERVE) break;
    const heads = due.filter(isHeadKey);
    await attempt(async () => {
      await wake(heads.map((head) => ({ conversation: conversationOf(head), once: `${head.pk}#${head.gsi1sk}` })));
      done.woken += heads.length;
    });
    backlog.note(heads);
    tombstones.push(...due.filter((item) => !isHeadKey(item)));
  }
  await attempt(async () => {
    await backlog.noteLater(time, () => remaining() < RESERVE);
    const { waiting, oldest_s } = backlog;
    measure('info', 'backlog', {
      pending_conversations: waiting,
      oldest_s,
      app_network_failing: (await isFailing(APP_NETWORK_DESTINATION)) ? 1 : 0,
    });
  });

  // A page of each at a time, so that one large deletion holds up no other.
  for (let round = tombstones; round.length > 0 && remaining() >= RESERVE; ) {
    const unfinished: Key[] = [];
    for (const tombstone of round) {
      if (remaining() < RESERVE) break;
      await attempt(async () => {
        const { removed, finished } = await removeAnswers(tombstone);
        done.answers += removed;
        if (finished) done.profilers += 1;
        else unfinished.push(tombstone);
      });
    }
    round = unfinished;
  }
  if (done.failed > 0) throw new Error(`${done.failed} pieces of due work failed.`);
  return done;
});
