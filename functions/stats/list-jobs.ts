/** GET /v1/stats/jobs: counts the messages of the caller's jobs by state, for a period. */
import { stats as api } from '../../shared/api/areas/stats.ts';
import { endpoint, noContent, ok } from '../../shared/http/endpoint.ts';
import { listJobs } from '../../shared/stats/job-counters.ts';

export const handler = endpoint(api.listJobs, async ({ account, query }) => {
  const jobs = await listJobs(account, query.start_date, query.end_date);
  return jobs.length === 0 ? noContent() : ok(jobs);
});
