/**
 * Cancelled jobs: the worker `expand` ends their pending messages, in runs of the account's own, so that only this account
 * waits for them. Messages of batches that do not exist yet are logged as failed. For those in an outbox, the conversations
 * are woken, and `deliver` ends them, one worker for each conversation, so that the state of an attempt under way counts.
 *
 *     cancelJob          due at once: `sweep` wakes the account's expansion
 *     a run              1. a pass over the account's pending batches, a page at a time, for all its cancelled jobs
 *                        2. for each job, a pass over its log, a page at a time
 *     its time is over   the positions are stored with the jobs: the next run continues there
 *     a pass ends        the job is due again in a minute, until nothing is pending any more
 */
import { now, scaled, sortableTime } from '../core/clock.ts';
import { inParallel } from '../core/parallel.ts';
import { cancelledJobsOf, jobNamed } from '../messaging/entities.ts';
import { type JobItem, readJob } from '../messaging/jobs/job.ts';
import { conversationName, logPartitions, messageIdOf, outcomeKey } from '../outbox/entities.ts';
import { conversationsOf } from '../outbox/event.ts';
import { timePartBefore } from '../outbox/log-positions.ts';
import type { LogItem } from '../outbox/message.ts';
import { type WakeUp, wake } from '../outbox/wake-ups/conversations.ts';
import { getManyEventual, hasExpired, page, update } from '../table/client.ts';
import { dueOrder, type Key } from '../table/keys.ts';
import type { BatchItem } from './batch.ts';
import { batchOf, pendingBatchesOf } from './entities.ts';
import { readBatch } from './stored-batch.ts';

/** A message of the job, in the index. */
type Listed = Key & Pick<LogItem, 'phone' | 'gsi3sk' | 'expires_at'>;

/** Jobs that a run looks at: as many operands as a filter may have. */
const JOBS = 100;
/** Pending batches that are read at a time, and that are ended at the same time. */
const BATCHES = { page: 500, together: 8 };
/** Messages of a log that are read at a time, those whose outcomes are read in one call, and calls at the same time. */
const READ = { page: 1_000, messages: 100, calls: 4 };
/** Milliseconds before the first pending message from which the next pass looks: a slow request may log an older one. */
const OVERLAP_MS = 60_000;
/** Milliseconds between two looks at a job. */
const AGAIN_MS = 60_000;
/**
 * Milliseconds for which a cancelled job is looked at, also if nothing is pending: a request that began before may still
 * be accepting a message, and an index may lack it for a moment.
 */
const WATCHED_MS = 120_000;
/** Milliseconds after which an index contains all batches of a job that were accepted before its cancellation. */
const COMPLETE_MS = 60_000;

/** Sorts after all positions. */
const END = '~';

/** What a run has ended, and whether work is left because time ran out. */
export interface Ended {
  ended: number;
  unfinished: boolean;
}

/**
 * Ends pending messages of an account's cancelled jobs, until none is left for now, or the time is over. 0.5 read units;
 * with cancelled jobs, 0.5 for 16 pending batches of the account, 0.5 for a message in their logs, and 1 write unit for each
 * job, and 2 on indexes.
 *
 * @param end - when to stop, in milliseconds since 1970
 * @param endBatch - logs the messages of a batch as failed that do not exist yet; returns their number
 */
export const endCancelled = async (
  account: string,
  end: number,
  endBatch: (batch: BatchItem) => Promise<number>,
): Promise<Ended> => {
  const isOver = (): boolean => now() >= end;
  const jobs = await cancelledJobs(account);
  const { ended, unfinished } = await endBatches(account, jobs, { isOver, endBatch });
  if (unfinished) return { ended, unfinished };
  let failure: unknown;
  for (const job of jobs) {
    try {
      if (isOver() || !(await wakePending(job, isOver))) return { ended, unfinished: true };
    } catch (error) {
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
  return { ended, unfinished: jobs.length === JOBS };
};

/** The cancelled jobs of an account that are due, by consistent reads. */
const cancelledJobs = async (account: string): Promise<JobItem[]> => {
  const { items } = await page<Key>({
    IndexName: 'gsi3',
    KeyConditionExpression: 'gsi3pk = :cancelled AND gsi3sk <= :time',
    ExpressionAttributeValues: { ':cancelled': cancelledJobsOf(account), ':time': sortableTime(now()) },
    ProjectionExpression: 'pk, sk',
    Limit: JOBS,
  });
  const found = await Promise.all(items.map((key) => readJob(account, jobNamed(key).job_id)));
  // The index may be behind.
  return found
    .filter((job) => job?.gsi3sk !== undefined && job.gsi3sk <= sortableTime(now()))
    .flatMap((job) => job ?? []);
};

interface Batches {
  isOver: () => boolean;
  endBatch: (batch: BatchItem) => Promise<number>;
}

/** Ends the pending batches of jobs, in one pass over the pending batches of the account. */
const endBatches = async (account: string, jobs: JobItem[], { isOver, endBatch }: Batches): Promise<Ended> => {
  const left = jobs.filter(({ batches_from }) => batches_from !== END);
  let ended = 0;
  if (left.length === 0) return { ended, unfinished: false };
  const began = now();
  const names = left.map(({ job_id }, index): [string, string] => [`:job${index}`, job_id]);
  let from = left.map(({ batches_from = ' ' }) => batches_from).toSorted()[0] ?? ' ';
  for (;;) {
    const { items, next } = await page<Key>({
      IndexName: 'gsi3',
      KeyConditionExpression: 'gsi3pk = :account AND gsi3sk > :from',
      FilterExpression: `job_id IN (${names.map(([name]) => name).join(', ')})`,
      ExpressionAttributeValues: {
        ':account': pendingBatchesOf(account),
        ':from': from,
        ...Object.fromEntries(names),
      },
      ProjectionExpression: 'pk, sk',
      Limit: BATCHES.page,
    });
    await inParallel(items, BATCHES.together, async (key) => {
      if (isOver()) return;
      const batch = await readBatch(account, batchOf(key).batch);
      if (batch === undefined || batch.expanded !== undefined) return;
      const count = await endBatch(batch);
      ended += count;
    });
    // Those of this page that have ended leave the index, so the next run reads it again.
    if (isOver()) break;
    if (next === undefined) {
      from = END;
      break;
    }
    from = String(next.gsi3sk);
  }
  for (const job of left) {
    const isCovered = from !== END || Date.parse(`${job.cancelled}Z`) + scaled(COMPLETE_MS) <= began;
    if (isCovered) await change(job, 'SET batches_from = :from', { ':from': from });
    if (isCovered) job.batches_from = from;
  }
  return { ended, unfinished: from !== END };
};

/** Wakes the conversations with pending messages of a job. Returns false if time ran out. */
const wakePending = async (job: JobItem, isOver: () => boolean): Promise<boolean> => {
  const { account, job_id } = job;
  const woken = new Set<string>();
  let { checked: from = ' ', first_pending: first } = job;
  for (;;) {
    const { items, next } = await page<Listed>({
      IndexName: 'gsi3',
      KeyConditionExpression: 'gsi3pk = :job AND gsi3sk > :from',
      ExpressionAttributeValues: { ':job': logPartitions.gsi3(account, { job_id, state: 'sent' }), ':from': from },
      ProjectionExpression: 'pk, sk, phone, gsi3sk, expires_at',
      Limit: READ.page,
    });
    const pending = await pendingAmong(items.filter((item) => !hasExpired(item)));
    first ??= pending[0]?.gsi3sk;
    const phones = [...new Set(pending.map(({ phone }) => phone))].filter((phone) => !woken.has(phone));
    for (const phone of phones) woken.add(phone);
    await wake(phones.flatMap((phone) => wakeUpsOf(account, phone)));
    if (next === undefined) break;
    from = String(next.gsi3sk);
    if (isOver()) {
      await change(job, `SET checked = :from${first === undefined ? '' : ', first_pending = :first'}`, {
        ':from': from,
        ...(first !== undefined && { ':first': first }),
      });
      return false;
    }
  }
  const isWatched = Date.parse(`${job.cancelled}Z`) + scaled(WATCHED_MS) > now();
  if (first === undefined && !isWatched && job.batches_from === END) {
    await change(job, 'REMOVE gsi1pk, gsi1sk, gsi3pk, gsi3sk, checked, first_pending, batches_from', {});
    return true;
  }
  const again = sortableTime(now() + scaled(AGAIN_MS));
  await change(job, 'SET gsi1sk = :due, gsi3sk = :again, checked = :from REMOVE first_pending', {
    ':due': dueOrder(account, again),
    ':again': again,
    ':from': first === undefined ? (job.checked ?? ' ') : timePartBefore(first, OVERLAP_MS),
  });
  return true;
};

/** The messages that have not ended, in order. */
const pendingAmong = async (listed: Listed[]): Promise<Listed[]> => {
  const ended = new Set<string>();
  const parts = Array.from({ length: Math.ceil(listed.length / READ.messages) }, (_, index) =>
    listed.slice(index * READ.messages, (index + 1) * READ.messages),
  );
  await inParallel(parts, READ.calls, async (part) => {
    const keys = part.map((message) => outcomeKey(messageIdOf(message)));
    for (const found of await getManyEventual<LogItem[]>(keys)) if (found) ended.add(found.pk);
  });
  return listed.filter(({ pk }) => !ended.has(pk));
};

/**
 * The messages are in one of two conversations, with or without sending hours. All cancelled jobs with messages of a
 * conversation send the same wake-up in a minute: it reads the whole outbox.
 */
const wakeUpsOf = (account: string, phone: string): WakeUp[] =>
  conversationsOf(account, phone)
    .filter(({ direction }) => direction === 'app')
    .map((conversation) => ({
      conversation,
      cancelled: true,
      once: `${conversationName(conversation)}#cancelled#${Math.floor(now() / scaled(AGAIN_MS))}`,
    }));

const change = async ({ pk, sk }: Key, UpdateExpression: string, values: Record<string, string>): Promise<void> => {
  await update({
    Key: { pk, sk },
    UpdateExpression,
    ConditionExpression: 'attribute_exists(pk)',
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
  });
};
