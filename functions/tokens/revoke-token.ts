/** DELETE /v1/tokens/{token_id}: revokes a token. */
import { revokeOwnToken } from '../../shared/accounts/own-tokens.ts';
import { tokens as api } from '../../shared/api/areas/tokens.ts';
import { endpoint, noContent } from '../../shared/http/endpoint.ts';

export const handler = endpoint(api.revokeToken, async ({ path, ...caller }) => {
  await revokeOwnToken(caller, path.token_id);
  return noContent();
});
