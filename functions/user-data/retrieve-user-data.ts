/** POST /v1/user_data/fetch/{id}: returns properties that need no approval, of the user with this phone number. */
import { userDataRequests as api } from '../../shared/api/areas/user-data.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { retrieve } from '../../shared/user-data/requests.ts';

export const handler = endpoint(api.retrieveUserData, async ({ account, path, body }) =>
  ok(
    await retrieve(
      account,
      path.id,
      body.data.map(({ property }) => property),
    ),
  ),
);
