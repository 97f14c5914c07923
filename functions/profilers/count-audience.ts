/** POST /v1/audience: counts the panelists who gave certain answers to the caller's profilers. */
import { profilers as api } from '../../shared/api/areas/profilers.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { countAudience } from '../../shared/profilers/audience.ts';

export const handler = endpoint(api.countAudience, async ({ account, body }) =>
  ok(await countAudience(account, body.all)),
);
