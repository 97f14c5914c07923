/** PUT /v1/update: changes the name that users see, as soon as an operator approves it. */
import { account as api } from '../../shared/api/areas/account.ts';
import { withHashes } from '../../shared/core/hash-secret.ts';
import { rename } from '../../shared/customers/profile.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';

export const handler = endpoint(
  api.updateAccount,
  withHashes(async ({ account, body }) => ok(await rename(account, body.name))),
);
