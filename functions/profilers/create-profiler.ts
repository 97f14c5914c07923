/** POST /v1/research_profilers: creates a profiler for the caller. */
import { profilers as api } from '../../shared/api/areas/profilers.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { createProfiler } from '../../shared/profilers/profilers.ts';

export const handler = endpoint(api.createProfiler, async ({ account, body, headers }) => {
  const { id, options } = await createProfiler(account, body, headers['idempotency-key']);
  return ok({ profiler_id: id, options: Object.fromEntries(options.map((option) => [option.option, option.id])) });
});
