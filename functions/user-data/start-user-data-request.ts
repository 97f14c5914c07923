/** POST /v1/user_data/start/{phone_number}: asks a user for properties of the profile. */
import { userDataRequests as api } from '../../shared/api/areas/user-data.ts';
import { withHashes } from '../../shared/core/hash-secret.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { startRequest } from '../../shared/user-data/requests.ts';

export const handler = endpoint(
  api.startUserDataRequest,
  withHashes(async ({ account, path, body, headers }) => {
    const { id, status } = await startRequest(account, path.phone_number, body, headers['idempotency-key']);
    return ok({ requestId: id, status });
  }),
);
