/** One job: what became of its messages so far. */

import { pendingBatchesOfJob, readProgress } from '../campaigns/stored-batch.ts';
import { now, sortableTime, timestampOf } from '../core/clock.ts';
import { inParallel } from '../core/parallel.ts';
import { findJob, firstReached, jobNotFound, type KnownJob } from '../jobs/job.ts';
import type { jobStatuses } from '../jobs/statuses.ts';
import { type State, states } from '../messaging/message.ts';
import { hasExpired, page, pages } from '../table/client.ts';
import { countedBy, jobCounterRangeOfDay, type Key, logPartitions } from '../table/keys.ts';

/** A job, as its business reads it. */
export interface JobStatus {
  job_id: string;
  status: (typeof jobStatuses)[number];
  /** When its first message was accepted, when the first one was or will be sent, and when it was cancelled. */
  created: string;
  start: string;
  cancelled?: string;
  /** How many messages it has, how many of them are logged, and how many have not ended. */
  recipients: number;
  expanded: number;
  pending: number;
  /** How many messages reached each state, if any did. */
  states: Partial<Record<State, number>>;
  /** How many messages the app network accepted in a second, lately; and when none will be pending at this pace. */
  pace?: number;
  estimated_end?: string;
}

const DAY_MS = 86_400_000;
/** Days whose counters are read at the same time. */
const DAYS = 10;

/**
 * A job of an account: of a request, or of a day. 1.5 read units, 0.5 for each day since its first message, 4 for the pace
 * while messages are pending, and 2 for each pending batch. The counts are some two seconds late.
 *
 * @throws job_not_found — the account has no such job
 */
export const readJobStatus = async (account: string, job_id: string): Promise<JobStatus> => {
  const job = await findJob(account, job_id);
  if (job === undefined) throw jobNotFound();
  const counted = await countJob(account, job_id, job.created);
  const { sent = 0, delivered_to_server = 0, sending_failed = 0 } = counted;
  // Without batches, or if all their messages are counted, nothing is left to expand.
  const { left, due } = (job.recipients ?? 0) > sent ? await unexpandedOf(account, job_id) : NOTHING;
  const recipients = Math.max(sent + left, job.recipients ?? 0);
  const pending = Math.max(recipients - delivered_to_server - sending_failed, 0);
  const isScheduled = sent === 0 && due !== undefined && due > timestampOf(now());
  const status = isScheduled && job.cancelled === undefined ? 'scheduled' : statusOf(job, sent, pending);
  const start = sent === 0 ? due : await firstReached(account, job_id, 'sent');
  const pace = status === 'running' ? await paceOf(account, job_id) : undefined;
  return {
    job_id,
    status,
    created: job.created,
    ...(job.cancelled !== undefined && { cancelled: job.cancelled }),
    start: start ?? job.created,
    recipients,
    expanded: sent,
    pending,
    states: counted,
    ...(pace !== undefined && { pace, estimated_end: timestampOf(now() + (pending / pace) * 1_000) }),
  };
};

/** The messages of a job's batches that do not exist yet, and when the first batch is due, in the form of the API. */
interface Unexpanded {
  left: number;
  due: string | undefined;
}

const NOTHING: Unexpanded = { left: 0, due: undefined };

const unexpandedOf = async (account: string, job_id: string): Promise<Unexpanded> => {
  const found: Unexpanded = { ...NOTHING };
  for (const batch of await pendingBatchesOfJob(account, job_id)) {
    const { done } = await readProgress(batch);
    found.left += batch.recipients - done;
    const due = timestampOf(Date.parse(batch.due));
    if (found.due === undefined || due < found.due) found.due = due;
  }
  return found;
};

/** Milliseconds after which the first message of a job is counted at the latest. */
const COUNTED_MS = 60_000;

const statusOf = ({ created, cancelled }: KnownJob, sent: number, pending: number): JobStatus['status'] => {
  if (cancelled !== undefined) return 'cancelled';
  const isNew = sent === 0 && Date.parse(`${created}Z`) + COUNTED_MS > now();
  return pending > 0 || isNew ? 'running' : 'completed';
};

/** How many messages of a job reached each state, since a time in the form of the API. 0.5 read units for each day. */
const countJob = async (account: string, job_id: string, since: string): Promise<JobStatus['states']> => {
  // The clock may have been set back since.
  const first = Math.min(Date.parse(since.slice(0, 10)), Date.parse(timestampOf(now()).slice(0, 10)));
  // Clocks differ: another machine may have begun the next day.
  const days = Array.from({ length: Math.max(Math.ceil((now() + 3_600_000 - first) / DAY_MS), 1) }, (_, place) =>
    sortableTime(first + place * DAY_MS).slice(0, 10),
  );
  const counts = new Map<string, number>();
  await inParallel(days, DAYS, async (day) => {
    const { pk, from, to } = jobCounterRangeOfDay(account, day, job_id);
    for await (const items of pages<Key & { count: number; expires_at: number }>({
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
      ExpressionAttributeValues: { ':pk': pk, ':from': from, ':to': to },
    })) {
      for (const item of items.filter((one) => !hasExpired(one))) {
        const { state } = countedBy(item);
        counts.set(state, (counts.get(state) ?? 0) + item.count);
      }
    }
  });
  return Object.fromEntries(
    states.flatMap((state) => {
      const count = counts.get(state);
      return count === undefined ? [] : [[state, count]];
    }),
  );
};

/** Messages whose times determine the pace, and the milliseconds after which they are too old. */
const LATEST = { messages: 100, ms: 60_000 };

/** How many messages per second the app network accepted lately; undefined if none, or only one. About 4 read units. */
const paceOf = async (account: string, job_id: string): Promise<number | undefined> => {
  const { items } = await page<{ created: string }>({
    IndexName: 'gsi3',
    KeyConditionExpression: 'gsi3pk = :job',
    ExpressionAttributeValues: { ':job': logPartitions.gsi3(account, { job_id, state: 'delivered_to_server' }) },
    ProjectionExpression: 'created',
    ScanIndexForward: false,
    Limit: LATEST.messages,
  });
  const times = items.map(({ created }) => Date.parse(`${created}Z`));
  const [last = 0] = times;
  const span = last - (times.at(-1) ?? last);
  if (span <= 0 || last + LATEST.ms < now()) return undefined;
  return Math.max(Math.round(((times.length - 1) / span) * 10_000) / 10, 0.1);
};
