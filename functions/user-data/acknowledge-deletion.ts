/** POST /v1/user_data/{request_id}/deleted: a business confirms that it has deleted values whose consent has ended. */
import { userDataRequests as api } from '../../shared/api/areas/user-data.ts';
import { withHashes } from '../../shared/core/hash-secret.ts';
import { endpoint, noContent } from '../../shared/http/endpoint.ts';
import { acknowledgeDeletion } from '../../shared/user-data/consent-ends.ts';

export const handler = endpoint(
  api.acknowledgeDeletion,
  withHashes(async ({ account, path }) => {
    await acknowledgeDeletion(account, path.request_id);
    return noContent();
  }),
);
