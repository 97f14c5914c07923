/** GET /v1/stats/jobs: counts the messages of the caller's jobs by state, for a period. */
import { stats as api } from '../../shared/api/areas/stats.ts';
import { endpoint, noContent, ok } from '../../shared/http/endpoint.ts';
import { jobsNamed } from '../../shared/messaging/jobs/job.ts';
import { listJobs } from '../../shared/stats/job-counters.ts';

export const handler = endpoint(api.listJobs, async ({ account, query }) => {
  const { start_date, end_date, job_reference, time_zone, by } = query;
  const jobs = job_reference === undefined ? undefined : await jobsNamed(account, job_reference);
  const counts = await listJobs(account, start_date, end_date, { jobs, time_zone, by });
  return counts.length === 0 ? noContent() : ok(counts);
});
