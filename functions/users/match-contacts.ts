/** POST /v1/contacts: returns which of the given numbers, or hashes of numbers, belong to users of the app. */
import { users as api } from '../../shared/api/areas/users.ts';
import { withHashes } from '../../shared/core/hash-secret.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { matchContacts } from '../../shared/user-data/user-profile.ts';

export const handler = endpoint(
  api.matchContacts,
  withHashes(async ({ account, body }) => ok({ match_list: await matchContacts(account, body.contacts, body.hashed) })),
);
