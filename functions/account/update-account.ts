/** PUT /v1/update: changes the name that users see, as soon as an operator approves it, or its settings. */

import { changeAccount } from '../../shared/accounts/profile.ts';
import { account as api } from '../../shared/api/areas/account.ts';
import { withHashes } from '../../shared/core/hash-secret.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';

export const handler = endpoint(
  api.updateAccount,
  withHashes(async ({ body, ...by }) => ok(await changeAccount(by, body))),
);
