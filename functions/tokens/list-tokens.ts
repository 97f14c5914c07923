/** GET /v1/tokens: lists the tokens of the caller's account. */
import { listOwnTokens } from '../../shared/accounts/own-tokens.ts';
import { tokens as api } from '../../shared/api/areas/tokens.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';

export const handler = endpoint(api.listTokens, async ({ account }) => ok(await listOwnTokens(account)));
