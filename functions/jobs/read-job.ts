/** GET /v1/jobs/{job_id}: what became of the messages of one of the caller's jobs. */
import { jobs as api } from '../../shared/api/areas/stats.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { readJobStatus } from '../../shared/stats/job-status.ts';

export const handler = endpoint(api.readJob, async ({ account, path }) =>
  ok(await readJobStatus(account, path.job_id)),
);
