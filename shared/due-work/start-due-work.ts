import { crc32 } from 'node:zlib';
import { isUploadKey } from '../campaigns/entities.ts';
import { abandonUpload } from '../campaigns/recover.ts';
import { now } from '../core/clock.ts';
import { partsOf } from '../core/parts.ts';
import { isAppNetworkFailing } from '../delivery/app-network-breaker.ts';
import { conversationOf, isEntryKey, isHeadKey } from '../outbox/entities.ts';
import { MOST_ENDED, queuedDeliveries, wake } from '../outbox/wake-ups/conversations.ts';
import { wakeExpansions } from '../outbox/wake-ups/expansions.ts';
import { removeAnswers } from '../profilers/answers.ts';
import { type DueKind, dueOf, type Key } from '../table/keys.ts';
import { describeError, log } from '../telemetry/log.ts';
import { measure } from '../telemetry/metrics.ts';
import { countBacklog } from './backlog.ts';
import { readPositions, writePositions } from './positions.ts';
import { Run } from './run.ts';
import { type Due, ScheduledWork } from './scheduled-work.ts';

/**
 * Does a step of the work that is due now. Returns how much of each kind, and how much failed.
 *
 * @param remaining - returns the milliseconds that are left
 */
export const startDueWork = async (step: keyof typeof steps, remaining: () => number): Promise<Run['done']> => {
  const run = new Run(remaining);
  await steps[step](run);
  return run.done;
};

/**
 * Most wake-ups of an account in a run, and in one that finds more than `waiting` in the queue. A FIFO queue looks through its
 * first 120,000 messages for groups that can be received ("Avoid large message backlogs with the same message group ID", Amazon
 * SQS developer guide). So if an account filled the queue, the wake-ups of all others would wait.
 */
const WAKE_UPS = { max: 10_000, waiting: 50_000, few: 150 };

/**
 * Wakes conversations whose next attempt is due, whose wake-up was lost, or that have messages whose time is over. If time
 * runs out, or an account has had its wake-ups, the next run continues at the same positions.
 */
const wakeConversations = async (run: Run): Promise<void> => {
  const [before, max] = await Promise.all([readPositions(), mostWakeUps()]);
  const work = new ScheduledWork('conversations', run.time, before);
  const woken = new Map<string, number>();
  const countOf = (account: string): number => woken.get(account) ?? 0;
  const wakePage = async (due: Due[]): Promise<void> => {
    for (const item of due) woken.set(accountOf(item), countOf(accountOf(item)) + 1);
    await run.attempt(() => wakeAll(run, due));
  };
  for await (const due of work.firstTurn()) {
    if (run.isOver()) break;
    // What is left out here is at the beginning of the next run, which reads other partitions first.
    const byAccount = [...Map.groupBy(due, accountOf)];
    await wakePage(byAccount.flatMap(([account, items]) => items.slice(0, Math.max(max - countOf(account), 0))));
  }
  for await (const due of work.furtherTurns((account) => countOf(account) >= max)) {
    if (run.isOver()) break;
    await wakePage(due);
  }
  await run.attempt(() => writePositions(work.positions, before));
  measure('info', 'due conversations woken', { conversations_woken: run.done.woken });
};

const mostWakeUps = async (): Promise<number> => {
  try {
    return (await queuedDeliveries()) > WAKE_UPS.waiting ? WAKE_UPS.few : WAKE_UPS.max;
  } catch (error) {
    log('warn', 'queue not read', describeError(error));
    return WAKE_UPS.max;
  }
};

const wakeAll = async (run: Run, due: Due[]): Promise<void> => {
  const heads = due.filter(isHeadKey);
  const withExpired = endedIn(due);
  await wake([
    ...heads.map((head) => ({ conversation: conversationOf(head), once: `${head.pk}#${dueOf(head).time}` })),
    // Each minute again, because the clock of the worker that comes first may be behind.
    ...withExpired.map(({ pk, ended }) => ({
      conversation: conversationOf({ pk }),
      ended,
      once: `${pk}#${run.time}#${crc32(ended.join())}`,
    })),
  ]);
  run.done.woken += heads.length + withExpired.length;
};

/** The entries whose time is over, by conversation, in parts for one wake-up each. */
const endedIn = (due: Key[]): { pk: string; ended: string[] }[] => {
  const entries = [...Map.groupBy(due.filter(isEntryKey), ({ pk }) => pk)];
  return entries.flatMap(([pk, theirs]) =>
    partsOf(theirs, { items: MOST_ENDED, bytes: Number.POSITIVE_INFINITY, sizeOf: () => 0 }).map((part) => ({
      pk,
      ended: part.map(({ sk }) => sk),
    })),
  );
};

/** Wakes the expansions of accounts with due batches or cancelled jobs. One wake-up stands for all of an account. */
const startExpansions = async (run: Run): Promise<void> => {
  const accounts = new Set<string>();
  for await (const due of new ScheduledWork('expansions', run.time).firstTurn()) {
    if (run.isOver()) return;
    const others = [...new Set(due.map((item) => dueOf(item).account))].filter((account) => !accounts.has(account));
    for (const account of others) accounts.add(account);
    await run.attempt(async () => {
      await wakeExpansions(others.map((account) => ({ account, at: now(), once: run.time })));
      run.done.expansions += others.length;
    });
  }
};

/** Removes chunks that belong to no batch, and answers of deleted profilers, a page at a time. */
const removeLeftovers = async (run: Run): Promise<void> => {
  await run.inTurns(await firstTurnOf(['uploads', 'profilers'], run), accountOf, async (item) => {
    if (isUploadKey(item)) {
      await abandonUpload(item);
      run.done.uploads += 1;
      return true;
    }
    const { removed, finished } = await removeAnswers(item);
    run.done.answers += removed;
    run.done.profilers += finished ? 1 : 0;
    return finished;
  });
};

const accountOf = (due: Due): string => dueOf(due).account;

/** A page of due work of each account in each partition of these kinds. What is done leaves the index. */
const firstTurnOf = async (kinds: DueKind[], run: Run): Promise<Due[]> => {
  const found: Due[] = [];
  for (const kind of kinds) {
    for await (const due of new ScheduledWork(kind, run.time).firstTurn()) found.push(...due);
  }
  return found;
};

/** Measures the pending entries, and whether the app network fails. */
const measureBacklog = async (run: Run): Promise<void> => {
  const { waiting, oldest_s } = await countBacklog(run.isOver);
  measure('info', 'backlog', {
    pending_conversations: waiting,
    oldest_s,
    app_network_failing: (await isAppNetworkFailing()) ? 1 : 0,
  });
};

const steps = {
  conversations: wakeConversations,
  expansions: startExpansions,
  leftovers: removeLeftovers,
  backlog: measureBacklog,
} satisfies Record<string, (run: Run) => Promise<void>>;
