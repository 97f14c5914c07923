/** DELETE /v1/research_profilers/{id}: deletes one of the caller's profilers. `sweep` removes its answers. */
import { profilers as api } from '../../shared/api/areas/profilers.ts';
import { endpoint, noContent } from '../../shared/http/endpoint.ts';
import { deleteProfiler } from '../../shared/profilers/profilers.ts';

export const handler = endpoint(api.deleteProfiler, async ({ account, path }) => {
  await deleteProfiler(account, path.id);
  return noContent();
});
