/** GET /v1/research_profilers/{id}: returns one of the caller's profilers. */
import { profilers as api } from '../../shared/api/areas/profilers.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { readProfiler } from '../../shared/profilers/profilers.ts';

export const handler = endpoint(api.readProfiler, async ({ account, path }) => {
  const { question, created_at, options } = await readProfiler(account, path.id);
  return ok({ question, created_at, options });
});
