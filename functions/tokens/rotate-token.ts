/** POST /v1/tokens/{token_id}/rotate: replaces a token by another one with the same permissions. */
import { rotateOwnToken } from '../../shared/accounts/own-tokens.ts';
import { tokens as api } from '../../shared/api/areas/tokens.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';

export const handler = endpoint(api.rotateToken, async ({ path, body, ...caller }) =>
  ok(await rotateOwnToken(caller, path.token_id, body.overlap_hours)),
);
