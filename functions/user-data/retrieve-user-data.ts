/** POST /v1/user_data/fetch/{id}: returns properties that need no approval, of the user with this phone number. */
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { retrieve } from '../../shared/user-data/requests.ts';

export const handler = endpoint('retrieveUserData', async ({ account, path, body }) =>
  ok(
    await retrieve(
      account,
      path.id,
      body.data.map(({ property }) => property),
    ),
  ),
);
