/** The jobs of an account, for operators. */
import { batchOf, pendingBatchPartitions } from '../../../shared/campaigns/entities.ts';
import { isPostponed, readBatch } from '../../../shared/campaigns/stored-batch.ts';
import { now, sortableTime } from '../../../shared/core/clock.ts';
import { Problem } from '../../../shared/core/problems.ts';
import { jobListOf } from '../../../shared/messaging/entities.ts';
import { logPartitions } from '../../../shared/outbox/entities.ts';
import type { LogItem, State } from '../../../shared/outbox/message.ts';
import { listJobs } from '../../../shared/stats/job-counters.ts';
import { type JobStatus, readJobStatus } from '../../../shared/stats/job-status.ts';
import { hasExpired, pages } from '../../../shared/table/client.ts';
import type { Key } from '../../../shared/table/keys.ts';
import { UserError } from './accounts-admin.ts';

/** Jobs that are read at a time. */
const TOGETHER = 10;

/**
 * The jobs of an account that were active in a period, or named by a request in it (both days included, UTC,
 * `YYYY-MM-DD`), the one with the latest activity first, at most `limit`. Costs `listJobs` for the period, and `readJobStatus` for each job.
 *
 * @returns the jobs, and how many there are
 */
export const jobsOf = async (
  account: string,
  { from, to, limit }: { from: string; to: string; limit: number },
): Promise<{ jobs: JobStatus[]; all: number }> => {
  const active = (await listJobs(account, from, to)).map(({ job_id }) => job_id);
  const silent = (await namedJobs(account, from, to)).filter((job) => !active.includes(job));
  const all = [...new Set([...silent.reverse(), ...active])];
  const listed = all.slice(0, limit);
  const jobs: JobStatus[] = [];
  for (let start = 0; start < listed.length; start += TOGETHER) {
    const found = listed.slice(start, start + TOGETHER).map((id) => readJobStatus(account, id));
    jobs.push(...(await Promise.all(found)));
  }
  return { jobs, all: all.length };
};

/** The jobs that requests named in a period, oldest first. */
const namedJobs = async (account: string, from: string, to: string): Promise<string[]> => {
  const found: string[] = [];
  for await (const items of pages<{ job_id: string; expires_at: number }>({
    IndexName: 'gsi2',
    KeyConditionExpression: 'gsi2pk = :jobs AND gsi2sk BETWEEN :from AND :to',
    ExpressionAttributeValues: {
      ':jobs': jobListOf(account),
      ':from': from,
      ':to': `${to}~`,
    },
  })) {
    found.push(...items.filter((item) => !hasExpired(item)).map(({ job_id }) => job_id));
  }
  return found;
};

/** A job with the number of its failures by reason code. */
export interface JobWithReasons extends JobStatus {
  reasons: Record<string, number>;
}

/**
 * A job, with its failures by reason.
 *
 * @throws UserError — the account has no such job
 */
export const showJob = async (account: string, job_id: string): Promise<JobWithReasons> => {
  const status = await readJobStatus(account, job_id).catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'job_not_found') {
      throw new UserError(`The account ${account} has no job ${job_id}. "job list" lists its jobs.`);
    }
    throw error;
  });
  return { ...status, reasons: await reasonsOf(account, job_id) };
};

const FAILURES: State[] = ['sending_failed', 'delivery_failed'];

/** A failure of a message. */
type Failure = Pick<LogItem, 'reason_code' | 'expires_at'>;

/** The failures of a job, by state and time. 0.5 read units for 4 KB of log entries. */
async function* failuresOf(account: string, job_id: string): AsyncGenerator<Failure> {
  for (const state of FAILURES) {
    for await (const items of pages<Failure>({
      IndexName: 'gsi3',
      KeyConditionExpression: 'gsi3pk = :job',
      ExpressionAttributeValues: { ':job': logPartitions.gsi3(account, { job_id, state }) },
      ProjectionExpression: 'reason_code, expires_at',
    })) {
      yield* items.filter((item) => !hasExpired(item));
    }
  }
}

/** The failures of a job by reason code, the most frequent first. Costs `failuresOf`. */
const reasonsOf = async (account: string, job_id: string): Promise<Record<string, number>> => {
  const reasons = new Map<string, number>();
  for await (const { reason_code = 'unknown' } of failuresOf(account, job_id)) {
    reasons.set(reason_code, (reasons.get(reason_code) ?? 0) + 1);
  }
  return Object.fromEntries([...reasons].sort(([, a], [, b]) => b - a));
};

/**
 * How many batches of all accounts wait because a step of theirs failed twice or more. 0.5 read units for 4 KB of the index,
 * and 1 for each batch that is being expanded.
 */
export const countPostponedBatches = async (): Promise<number> => {
  const counts = await Promise.all(pendingBatchPartitions.map(postponedIn));
  return counts.reduce((sum, count) => sum + count, 0);
};

const postponedIn = async (partition: string): Promise<number> => {
  let count = 0;
  for await (const keys of pages<Key>({
    IndexName: 'gsi2',
    // Only batches that have begun have steps that fail.
    KeyConditionExpression: 'gsi2pk = :batches AND gsi2sk < :now',
    ExpressionAttributeValues: { ':batches': partition, ':now': sortableTime(now()) },
    ProjectionExpression: 'pk, sk',
  })) {
    for (const { account, batch } of keys.map(batchOf)) {
      const found = await readBatch(account, batch);
      if (found !== undefined && isPostponed(found)) count += 1;
    }
  }
  return count;
};
