/** GET /v1/token/info: returns what the token of the request may do. */
import { account as api } from '../../shared/api/areas/account.ts';
import { readTokenInfo } from '../../shared/customers/token-info.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';

export const handler = endpoint(api.readTokenInfo, async ({ account, token }) =>
  ok(await readTokenInfo(account, token)),
);
