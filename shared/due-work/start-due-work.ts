/**
 * Starts work that is due. Wakes conversations whose next attempt is due, whose wake-up was lost, or that have messages which
 * end: expired ones, and those of cancelled jobs. The same holds for batches of messages. Answers of deleted profilers are
 * removed, and chunks that belong to no batch. It also measures the pending entries.
 */
import { wakeCancelled } from '../campaigns/cancelled-jobs.ts';
import { abandonUpload } from '../campaigns/recover.ts';
import { now } from '../core/clock.ts';
import { isFailing } from '../delivery/circuit-breaker.ts';
import { APP_NETWORK_DESTINATION } from '../outbound/destination.ts';
import { removeAnswers } from '../profilers/answers.ts';
import { batchOf, isBatchKey, isJobKey, isUploadKey } from '../table/batch-keys.ts';
import { conversationOf, isEntryKey, isHeadKey, type Key } from '../table/keys.ts';
import { measure } from '../telemetry/metrics.ts';
import { wake } from '../wake-ups/conversations.ts';
import { wakeExpansions } from '../wake-ups/expansions.ts';
import { Backlog } from './backlog.ts';
import { Run } from './run.ts';
import { ScheduledWork } from './scheduled-work.ts';

/** Kinds of due work, besides the tombstones of profilers. */
const OTHERS = [isHeadKey, isEntryKey, isBatchKey, isUploadKey, isJobKey];

const isTombstone = (item: Key): boolean => !OTHERS.some((isOther) => isOther(item));

/**
 * Does the work that was due at a time, in the form of `sortableTime`. Returns how much of each kind, and how much failed.
 *
 * @param remaining - returns the milliseconds that are left
 */
export const startDueWork = async (time: string, remaining: () => number): Promise<Run['done']> => {
  const run = new Run(time, remaining);
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
  return run.done;
};

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
