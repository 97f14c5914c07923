/** POST /v1/tokens: creates a token of the caller's account. */
import { createOwnToken } from '../../shared/accounts/own-tokens.ts';
import { tokens as api } from '../../shared/api/areas/tokens.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';

export const handler = endpoint(api.createToken, async ({ body, ...caller }) => ok(await createOwnToken(caller, body)));
