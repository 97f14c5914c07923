/** The list of an account's jobs: what is stored of each, without a look at its messages. */
import { timePrefix } from '../../core/clock.ts';
import { withReference } from '../../outbox/event.ts';
import { getManyEventual, page } from '../../table/client.ts';
import type { Key } from '../../table/keys.ts';
import { jobListOf } from '../entities.ts';
import { defaultJobsOf } from './default-jobs.ts';
import type { JobItem } from './job.ts';

/** A job as the list shows it. */
export interface ListedJob {
  job_id: string;
  /** The business's own name for it. */
  reference?: string;
  /** When its first message was accepted, when its first batch begins, and when it was cancelled. */
  created: string;
  start: string;
  cancelled?: string;
  /** How many messages it has, without those that were sent at once, one by one; missing if it has no others. */
  recipients?: number;
}

interface Period {
  /** In seconds since 1970. The period includes `start`, and excludes `end`. */
  start?: number | undefined;
  end?: number | undefined;
}

/** After the positions of all times. */
const END = '~';

/**
 * A page of an account's jobs: at most `limit`, newest first (by time, id). `next` is the position of the next page: a page
 * with jobs that have expired may be short, and have one. Default jobs are not listed. One query of at most `limit` + 2 entries,
 * and one call for the jobs, 0.5 read units for each. Eventually consistent.
 *
 * @param after - position of the last job of the previous page
 */
export const listRecentJobs = async (
  account: string,
  { start = 0, end }: Period,
  limit: number,
  after?: string,
): Promise<{ jobs: ListedJob[]; next?: string }> => {
  const [from, to] = [timePrefix(start), after ?? (end === undefined ? END : timePrefix(end))];
  if (to < from) return { jobs: [] };
  const { items: entries, next: rest } = await page<Key & { gsi2sk: string }>({
    IndexName: 'gsi2',
    KeyConditionExpression: 'gsi2pk = :jobs AND gsi2sk BETWEEN :from AND :to',
    ExpressionAttributeValues: { ':jobs': jobListOf(account), ':from': from, ':to': to },
    ScanIndexForward: false,
    // One more than the limit shows that a next page exists. Another one, because `to` may be the previous page's last job.
    Limit: limit + 2,
  });
  const left = entries.filter(({ gsi2sk }) => gsi2sk !== after);
  const shown = left.slice(0, limit);
  const found = await getManyEventual<JobItem[]>(shown.map(({ pk, sk }) => ({ pk, sk })));
  // A request may name a default job, which then has an item.
  const defaults = defaultJobsOf(account);
  const jobs = found.flatMap((job) => (job === undefined || defaults.has(job.job_id) ? [] : [toListed(job)]));
  const next = left.length > limit || rest !== undefined ? shown.at(-1)?.gsi2sk : undefined;
  return { jobs, ...(next !== undefined && { next }) };
};

const toListed = (job: JobItem): ListedJob => {
  const { job_id, created, first_due, cancelled, recipients } = job;
  return {
    job_id,
    ...withReference(job),
    created,
    start: first_due ?? created,
    ...(cancelled !== undefined && { cancelled }),
    ...(recipients !== undefined && { recipients }),
  };
};
