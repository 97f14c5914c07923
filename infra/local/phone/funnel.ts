/** Today's jobs of the demo's accounts: how far their messages got. Read as `GET /v1/stats/jobs` reads them. */
import { timestamp } from '../../../shared/core/clock.ts';
import { jobOf } from '../../../shared/messaging/message.ts';
import { listJobs } from '../../../shared/stats/job-counters.ts';
import type { Bot, JobView } from './views.ts';

/** Where messages without a job of their own come from, and what is said of that. */
const SOURCES = {
  api: 'sent over the API',
  app: 'written by users',
  rapidpro: 'sent by RapidPro',
  turn: 'sent by Turn',
};

/**
 * The table is asked, which this process can reach: asking the API would fill the list of requests with the page's own.
 */
export const jobsOfToday = async (accounts: (Pick<Bot, 'name'> & { id: string })[]): Promise<JobView[]> => {
  const present = timestamp();
  const today = present.slice(0, 10);
  const jobs = await Promise.all(
    accounts.map(async ({ id, name }) => {
      const rows = await listJobs(id, today, today);
      const names = new Map(Object.entries(SOURCES).map(([source, says]) => [jobOf(id, source, present), says]));
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

/** Counts of all payload types together. */
const summed = (rows: { state: string; count: number }[]): Record<string, number> =>
  Object.fromEntries(
    [...Map.groupBy(rows, ({ state }) => state)].map(([state, some]) => [
      state,
      some.reduce((sum, { count }) => sum + count, 0),
    ]),
  );
