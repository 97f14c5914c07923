/** GET /v1/jobs: lists the caller's jobs, newest first. */
import { jobs as api } from '../../shared/api/areas/stats.ts';
import { decodeCursor, encodeCursor } from '../../shared/http/cursor.ts';
import { endpoint, nextPage, noContent, ok } from '../../shared/http/endpoint.ts';
import { listRecentJobs } from '../../shared/messaging/jobs/job-list.ts';

export const handler = endpoint(api.listRecentJobs, async ({ account, query }) => {
  const { limit, cursor, ...period } = query;
  const filters = [account, period.start, period.end];
  const position = decodeCursor(api.listRecentJobs, filters, cursor);
  const { jobs, next } = await listRecentJobs(account, period, limit, position);
  if (next === undefined) return jobs.length === 0 ? noContent() : ok(jobs);
  const following = encodeCursor(api.listRecentJobs, filters, next);
  return ok(jobs, nextPage('/v1/jobs', { ...query, cursor: following }));
});
