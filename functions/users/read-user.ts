/** GET /v1/users/{user}: returns the user with this number or id, and the properties that need no approval. */
import { users as api } from '../../shared/api/areas/users.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { readUserProfile } from '../../shared/user-data/user-profile.ts';

export const handler = endpoint(api.readUser, async ({ account, path }) =>
  ok({ user_profile: await readUserProfile(account, path.user) }),
);
