/** POST /v1/audience: counts the panelists who gave certain answers to the caller's profilers. */
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { countAudience } from '../../shared/profilers/audience.ts';

export const handler = endpoint('countAudience', async ({ account, body }) =>
  ok(await countAudience(account, body.all)),
);
