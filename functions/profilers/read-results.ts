/** GET /v1/research_profilers/{id}/results: counts the answers to one of the caller's profilers. */
import { profilers as api } from '../../shared/api/areas/profilers.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { readResults } from '../../shared/profilers/results.ts';

export const handler = endpoint(api.readResults, async ({ account, path: { id } }) =>
  ok(await readResults(account, id)),
);
