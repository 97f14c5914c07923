/** GET /v1/research_profilers/{id}: returns one of the caller's profilers. */
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { readProfiler } from '../../shared/profilers/profilers.ts';

export const handler = endpoint('readProfiler', async ({ account, path }) => {
  const { question, created_at, options } = await readProfiler(account, path.id);
  return ok({ question, created_at, options });
});
