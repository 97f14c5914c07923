/** DELETE /v1/jobs/{job_id}: stops the pending messages of one of the caller's jobs. */
import { jobs as api } from '../../shared/api/areas/stats.ts';
import { endpoint, noContent } from '../../shared/http/endpoint.ts';
import { cancelJob } from '../../shared/messaging/jobs/cancel.ts';

export const handler = endpoint(api.cancelJob, async ({ account, path }) => {
  await cancelJob(account, path.job_id);
  return noContent();
});
