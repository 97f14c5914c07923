/** Today's jobs of the demo's accounts, with their messages by state: the same counts as `GET /v1/stats/jobs`. */
import { timestamp } from '../../../shared/core/clock.ts';
import { jobOf } from '../../../shared/messaging/jobs/default-jobs.ts';
import { listJobs } from '../../../shared/stats/job-counters.ts';
import type { Bot, JobCounts } from './views.ts';

/** Names of the default jobs, by the source of their messages. */
const SOURCES = [
  ['api', 'sent over the API'],
  ['app', 'written by users'],
  ['platform', 'sent by the chat platform'],
] as const;

/** Reads the table directly: requests to the API would fill the page's list of requests. */
export const jobsOfToday = async (accounts: Pick<Bot, 'id' | 'name'>[]): Promise<JobCounts[]> => {
  const present = timestamp();
  const today = present.slice(0, 10);
  const jobs = await Promise.all(
    accounts.map(async ({ id, name }) => {
      const rows = await listJobs(id, today, today);
      const names = new Map(SOURCES.map(([source, label]) => [jobOf(id, source, present), label]));
      return [...Map.groupBy(rows, ({ job_id }) => job_id)].map(([job, counted]) => ({
        id: job,
        account: name,
        name: names.get(job) ?? `job ${job}`,
        counts: summed(counted),
      }));
    }),
  );
  return jobs.flat();
};

/** Sums by state, over all payload types. */
const summed = (rows: { state: string; count: number }[]): Record<string, number> =>
  Object.fromEntries(
    [...Map.groupBy(rows, ({ state }) => state)].map(([state, some]) => [
      state,
      some.reduce((sum, { count }) => sum + count, 0),
    ]),
  );
