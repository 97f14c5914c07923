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

/** A run: its time, what it has done, and whether it has time for more. */
class Run {
  /** In the form of `sortableTime`. */
  readonly time: string;
  readonly done = { woken: 0, expansions: 0, uploads: 0, answers: 0, profilers: 0, failed: 0 };
  readonly #remaining: () => number;

  constructor(time: string, remaining: () => number) {
    this.time = time;
    this.#remaining = remaining;
  }

  readonly isOver = (): boolean => this.#remaining() < RESERVE;

  /** Does a piece of work. If it fails, it is retried in the next minute, and other work continues. */
  async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      log('error', 'due work failed', describeError(error));
      this.done.failed += 1;
    }
  }
}

/** Failed work fails the invocation, but only after all other work. */
export const handler = worker('sweep', async (event: Pick<ScheduledEvent, 'time'>, remaining) => {
  const run = new Run(sortableTime(Date.parse(event.time)), remaining);
  const work = new ScheduledWork(run.time);
  const backlog = new Backlog();
  const { jobs, accounts, uploads, tombstones } = await wakeConversations(run, work, backlog);
  for (const job of jobs) {
    await run.attempt(async () => {
      run.done.woken += await wakeCancelled(job, run.time, run.isOver);
    });
  }
  await run.attempt(() => measureBacklog(run, work, backlog));
  await run.attempt(async () => {
    await wakeExpansions([...accounts].map((account) => ({ account, at: now(), once: run.time })));
    run.done.expansions += accounts.size;
  });
  await abandonUploads(run, uploads);
  await removeDeleted(run, tombstones);
  if (run.done.failed > 0) throw new Error(`${run.done.failed} pieces of due work failed.`);
  return run.done;
});

/** Wakes the conversations with due work. Returns the other due work: cancelled jobs, accounts with batches, and so on. */
const wakeConversations = async (run: Run, work: ScheduledWork, backlog: Backlog) => {
  const others = { jobs: [] as Key[], accounts: new Set<string>(), uploads: [] as Key[], tombstones: [] as Key[] };
  for await (const due of work.due()) {
    if (run.isOver()) break;
    const heads = due.filter(isHeadKey);
    const withExpired = [...new Set(due.filter(isEntryKey).map(({ pk }) => pk))];
    await run.attempt(async () => {
      await wake([
        ...heads.map((head) => ({ conversation: conversationOf(head), once: `${head.pk}#${head.gsi1sk}` })),
        // Each minute anew, because the clock of the worker that comes first may be behind.
        ...withExpired.map((pk) => ({ conversation: conversationOf({ pk }), once: `${pk}#${run.time}` })),
      ]);
      run.done.woken += heads.length + withExpired.length;
    });
    backlog.note(heads);
    for (const item of due.filter(isBatchKey)) others.accounts.add(batchOf(item).account);
    others.jobs.push(...due.filter(isJobKey));
    others.uploads.push(...due.filter(isUploadKey));
    others.tombstones.push(...due.filter(isTombstone));
  }
  return others;
};

const measureBacklog = async (run: Run, work: ScheduledWork, backlog: Backlog): Promise<void> => {
  await backlog.noteLater(work.later(), run.isOver);
  measure('info', 'backlog', {
    pending_conversations: backlog.waiting,
    oldest_s: backlog.oldest_s,
    app_network_failing: (await isFailing(APP_NETWORK_DESTINATION)) ? 1 : 0,
  });
};

const abandonUploads = async (run: Run, uploads: Key[]): Promise<void> => {
  for (const upload of uploads) {
    if (run.isOver()) return;
    await run.attempt(async () => {
      await abandonUpload(upload);
      run.done.uploads += 1;
    });
  }
};

/**
 * Removes the answers of deleted profilers: one page of each profiler at a time, so that a large deletion does not delay the
 * others.
 */
const removeDeleted = async (run: Run, tombstones: Key[]): Promise<void> => {
  for (let round = tombstones; round.length > 0; ) {
    const unfinished: Key[] = [];
    for (const tombstone of round) {
      if (run.isOver()) return;
      await run.attempt(async () => {
        const { removed, finished } = await removeAnswers(tombstone);
        run.done.answers += removed;
        if (finished) run.done.profilers += 1;
        else unfinished.push(tombstone);
      });
    }
    round = unfinished;
  }
};
