/** GET /v1/token/info: returns what the token of the request may do. */

import { readTokenInfo } from '../../shared/accounts/token-info.ts';
import { account as api } from '../../shared/api/areas/account.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';

export const handler = endpoint(api.readTokenInfo, async ({ account, token }) =>
  ok(await readTokenInfo(account, token)),
);
