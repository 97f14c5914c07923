/**
 * Each minute: starts work that is due. It wakes conversations whose next attempt is due, whose wake-up was lost, or that
 * have messages which end: expired ones, and those of cancelled jobs. The same holds for batches of messages. Answers of
 * deleted profilers are removed, and chunks that belong to no batch. It also measures the pending entries.
 */

import type { ScheduledEvent } from 'aws-lambda';
import { wakeCancelled } from '../../shared/campaigns/cancelled-jobs.ts';
import { abandonUpload } from '../../shared/campaigns/recover.ts';
import { now, sortableTime } from '../../shared/core/clock.ts';
import { Backlog } from '../../shared/delivery/backlog-metrics.ts';
import { isFailing } from '../../shared/delivery/circuit-breaker.ts';
import { ScheduledWork } from '../../shared/delivery/scheduled-work.ts';
import { APP_NETWORK_DESTINATION } from '../../shared/outbound/destination.ts';
import { removeAnswers } from '../../shared/profilers/answers.ts';
import { batchOf, isBatchKey, isJobKey, isUploadKey } from '../../shared/table/batch-keys.ts';
import { conversationOf, isEntryKey, isHeadKey, type Key } from '../../shared/table/keys.ts';
import { describeError, log } from '../../shared/telemetry/log.ts';
import { measure } from '../../shared/telemetry/metrics.ts';
import { worker } from '../../shared/telemetry/worker.ts';
import { wake } from '../../shared/wake-ups/conversations.ts';
import { wakeExpansions } from '../../shared/wake-ups/expansions.ts';

/** If fewer milliseconds are left, no work begins; the next invocation continues. */
const RESERVE = 10_000;

/** Kinds of due work, besides the tombstones of profilers. */
const OTHERS = [isHeadKey, isEntryKey, isBatchKey, isUploadKey, isJobKey];

const isTombstone = (item: Key): boolean => !OTHERS.some((isOther) => isOther(item));

/** Failed work is retried in the next minute. It fails the invocation, but only after all other work. */
export const handler = worker('sweep', async (event: Pick<ScheduledEvent, 'time'>, remaining) => {
  const time = sortableTime(Date.parse(event.time));
  const done = { woken: 0, expansions: 0, uploads: 0, answers: 0, profilers: 0, failed: 0 };
  const work = new ScheduledWork(time);
  const backlog = new Backlog();
  const attempt = async (task: () => Promise<void>): Promise<void> => {
    try {
      await task();
    } catch (error) {
      log('error', 'due work failed', describeError(error));
      done.failed += 1;
    }
  };

  const tombstones: Key[] = [];
  const uploads: Key[] = [];
  const expanding = new Set<string>();
  const cancelled: Key[] = [];
  for await (const due of work.due()) {
    if (remaining() < RESERVE) break;
    const heads = due.filter(isHeadKey);
    const withExpired = [...new Set(due.filter(isEntryKey).map(({ pk }) => pk))];
    await attempt(async () => {
      await wake([
        ...heads.map((head) => ({ conversation: conversationOf(head), once: `${head.pk}#${head.gsi1sk}` })),
        // Each minute anew, because the clock of the worker that comes first may be behind.
        ...withExpired.map((pk) => ({ conversation: conversationOf({ pk }), once: `${pk}#${time}` })),
      ]);
      done.woken += heads.length + withExpired.length;
    });
    backlog.note(heads);
    for (const item of due.filter(isBatchKey)) expanding.add(batchOf(item).account);
    uploads.push(...due.filter(isUploadKey));
    cancelled.push(...due.filter(isJobKey));
    tombstones.push(...due.filter(isTombstone));
  }
  for (const job of cancelled) {
    await attempt(async () => {
      done.woken += await wakeCancelled(job, time, () => remaining() < RESERVE);
    });
  }
  await attempt(async () => {
    await backlog.noteLater(work.later(), () => remaining() < RESERVE);
    const { waiting, oldest_s } = backlog;
    measure('info', 'backlog', {
      pending_conversations: waiting,
      oldest_s,
      app_network_failing: (await isFailing(APP_NETWORK_DESTINATION)) ? 1 : 0,
    });
  });

  await attempt(async () => {
    await wakeExpansions([...expanding].map((account) => ({ account, at: now(), once: time })));
    done.expansions += expanding.size;
  });
  for (const upload of uploads) {
    if (remaining() < RESERVE) break;
    await attempt(async () => {
      await abandonUpload(upload);
      done.uploads += 1;
    });
  }

  // One page of each profiler at a time, so that a large deletion does not delay the others.
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
