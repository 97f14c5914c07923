/** GET /v1/stats/jobs: counts the messages of the caller's jobs by state, for a period. */
import { endpoint, noContent, ok } from '../../shared/http/endpoint.ts';
import { listJobs } from '../../shared/stats/job-counters.ts';

export const handler = endpoint('listJobs', async ({ account, query }) => {
  const jobs = await listJobs(account, query.start_date, query.end_date);
  return jobs.length === 0 ? noContent() : ok(jobs);
});
