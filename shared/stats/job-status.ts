/** One job: what became of its messages so far. */
import { now, sortableTime, timestampOf } from '../core/clock.ts';
import { inParallel } from '../core/parallel.ts';
import { endWithin, nextOpening, RECIPIENT } from '../core/sending-hours.ts';
import { counterRetention } from '../core/settings.ts';
import { dayOfDefaultJob } from '../messaging/jobs/default-jobs.ts';
import { findJob, firstReached, type JobHours, jobNotFound, type KnownJob } from '../messaging/jobs/job.ts';
import type { jobStatuses } from '../messaging/jobs/statuses.ts';
import { logPartitions } from '../outbox/entities.ts';
import { timeAt } from '../outbox/log-positions.ts';
import { type State, states } from '../outbox/message.ts';
import { hasExpired, page, pages } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { countedBy, jobCounterRangeOfDay } from './entities.ts';

/** A job, as its business reads it. */
export interface JobStatus {
  job_id: string;
  /** The day whose messages without a job it has: only of a default job. */
  day?: string;
  status: (typeof jobStatuses)[number];
  /** When its first message was accepted, when the first one was or will be sent, and when it was cancelled. */
  created: string;
  start: string;
  /** The business's own name for it. */
  reference?: string;
  cancelled?: string;
  /** How many messages it has, how many of them are logged, and how many may still be sent. */
  recipients: number;
  expanded: number;
  pending: number;
  /** How many messages reached each state, if any did. */
  states: Partial<Record<State, number>>;
  /**
   * How many messages the app network accepted in a second, lately; and when none will be pending at this pace, within the
   * job's sending hours.
   */
  pace?: number;
  estimated_end?: string;
  /** When these hours begin, if they are closed while messages are pending. */
  waits_until?: string;
}

const DAY_MS = 86_400_000;
/** Days whose counters are read at the same time. */
const DAYS = 10;

/**
 * A job of an account: of a request, or of a day. 1.5 read units, 0.5 for each day since its first message that has
 * counters, and 4 for the pace while messages are pending. The counts are some two seconds late.
 *
 * @throws job_not_found — the account has no such job
 */
export const readJobStatus = async (account: string, job_id: string): Promise<JobStatus> => {
  const job = await findJob(account, job_id);
  if (job === undefined) throw jobNotFound();
  const counted = await countJob(account, job_id, job.created);
  const { waiting, ...figures } = figuresOf(job, counted);
  const due = figures.expanded === 0 && waiting > 0 ? job.first_due : undefined;
  const status = statusOf(job, { ...figures, due });
  const start = figures.expanded === 0 ? due : await firstReached(account, job_id, 'sent');
  const pace = status === 'running' ? await paceOf(account, job_id) : undefined;
  const day = dayOfDefaultJob(account, job_id, job.created);
  return {
    job_id,
    ...(day !== undefined && { day }),
    status,
    created: job.created,
    ...(job.reference !== undefined && { reference: job.reference }),
    ...(job.cancelled !== undefined && { cancelled: job.cancelled }),
    start: start ?? job.created,
    ...figures,
    states: counted.states,
    ...(pace !== undefined && { pace, ...endOf(job.hours, (figures.pending / pace) * 1_000) }),
    ...(status === 'running' && figures.pending > 0 && waitFor(job.hours)),
  };
};

/** The first moments from `at` on (milliseconds since 1970) within the hours of a job, in each country of its users. */
const openings = ({ prefixes = [''], ...hours }: JobHours, at: number): number[] =>
  prefixes.map((prefix) => nextOpening(hours, prefix, at));

/**
 * When no message will be pending any more, if the pending ones take so many milliseconds. With hours of one zone, time goes
 * on only within them. With those of the recipients, as in a forecast: the messages leave at any time, and wait at their end
 * for the hours of the last country.
 */
const endOf = (hours: JobHours | undefined, ms: number): Pick<JobStatus, 'estimated_end'> => {
  const end = now() + ms;
  if (hours === undefined) return { estimated_end: timestampOf(end) };
  const last = hours.time_zone === RECIPIENT ? Math.max(...openings(hours, end)) : endWithin(hours, now(), ms);
  return last === undefined ? {} : { estimated_end: timestampOf(last) };
};

/** When the hours of a job begin in the first country, if they are closed in all. */
const waitFor = (hours: JobHours | undefined): Pick<JobStatus, 'waits_until'> => {
  const present = now();
  const first = hours === undefined ? present : Math.min(...openings(hours, present));
  return first > present ? { waits_until: timestampOf(first) } : {};
};

/** What is counted of a job: how many messages reached each state, and how many messages of batches exist. */
interface Counts {
  states: JobStatus['states'];
  inBatches: number;
}

/**
 * All figures of a job, from sums that have no message in common:
 *
 *     recipients                                                      each message of the job
 *     |-- waiting: accepted in batches, and not logged yet            job.recipients - inBatches
 *     |-- expanded: logged                                            sent
 *         |-- ended: delivered to the app network, or failed          delivered_to_server + sending_failed
 *         |-- in an outbox                                            sent - ended
 *
 * The transaction that accepts a batch adds its messages to `job.recipients`, and each of them is logged once as `sent`,
 * also if it has ended before its turn. So nothing is counted twice, and no progress of an expansion matters. A message
 * that waits in a cancelled job is not pending any more: nothing will send it.
 */
const figuresOf = ({ recipients = 0, cancelled }: KnownJob, { states: reached, inBatches }: Counts) => {
  const { sent = 0, delivered_to_server = 0, sending_failed = 0 } = reached;
  const waiting = Math.max(recipients - inBatches, 0);
  const inOutboxes = Math.max(sent - delivered_to_server - sending_failed, 0);
  const pending = inOutboxes + (cancelled === undefined ? waiting : 0);
  return { recipients: sent + waiting, expanded: sent, pending, waiting };
};

/** Milliseconds after which the first message of a job is counted at the latest. */
const COUNTED_MS = 60_000;

const statusOf = (
  { created, cancelled }: KnownJob,
  { expanded, pending, due }: { expanded: number; pending: number; due: string | undefined },
): JobStatus['status'] => {
  if (cancelled !== undefined) return 'cancelled';
  if (due !== undefined && due > timestampOf(now())) return 'scheduled';
  const isNew = expanded === 0 && Date.parse(`${created}Z`) + COUNTED_MS > now();
  return pending > 0 || isNew ? 'running' : 'completed';
};

/**
 * How many messages of a job reached each state, since a time in the form of the API. 0.5 read units for each day whose
 * counters are kept.
 */
const countJob = async (account: string, job_id: string, since: string): Promise<Counts> => {
  const today = Date.parse(timestampOf(now()).slice(0, 10));
  // Counters of earlier days have expired. A job may be used for years.
  const kept = today - (counterRetention() + 1) * DAY_MS;
  // The clock may have been set back since.
  const first = Math.max(Math.min(Date.parse(since.slice(0, 10)), today), kept);
  // Clocks differ: another machine may have begun the next day.
  const days = Array.from({ length: Math.max(Math.ceil((now() + 3_600_000 - first) / DAY_MS), 1) }, (_, index) =>
    sortableTime(first + index * DAY_MS).slice(0, 10),
  );
  const counts = new Map<string, number>();
  let inBatches = 0;
  await inParallel(days, DAYS, async (day) => {
    const { pk, from, to } = jobCounterRangeOfDay(account, day, job_id);
    for await (const items of pages<Key & { count: number; expires_at: number }>({
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
      ExpressionAttributeValues: { ':pk': pk, ':from': from, ':to': to },
    })) {
      for (const item of items.filter((one) => !hasExpired(one))) {
        const { state, inBatch } = countedBy(item);
        if (inBatch) inBatches += item.count;
        counts.set(state, (counts.get(state) ?? 0) + item.count);
      }
    }
  });
  const reached = states.flatMap((state) => {
    const count = counts.get(state);
    return count === undefined ? [] : [[state, count]];
  });
  return { states: Object.fromEntries(reached), inBatches };
};

/** Messages whose times determine the pace, and the milliseconds after which they are too old. */
const LATEST = { messages: 100, ms: 60_000 };

/** How many messages per second the app network accepted lately; undefined if none, or only one. About 4 read units. */
const paceOf = async (account: string, job_id: string): Promise<number | undefined> => {
  const { items } = await page<{ gsi3sk: string }>({
    IndexName: 'gsi3',
    KeyConditionExpression: 'gsi3pk = :job',
    ExpressionAttributeValues: { ':job': logPartitions.gsi3(account, { job_id, state: 'delivered_to_server' }) },
    ProjectionExpression: 'gsi3sk',
    ScanIndexForward: false,
    Limit: LATEST.messages,
  });
  const times = items.map(({ gsi3sk }) => Date.parse(`${timeAt(gsi3sk)}Z`));
  const [last = 0] = times;
  const span = last - (times.at(-1) ?? last);
  if (span <= 0 || last + LATEST.ms < now()) return undefined;
  return Math.max(Math.round(((times.length - 1) / span) * 10_000) / 10, 0.1);
};
