/** POST /v1/profiler_answer: records a panelist's answer to one of the caller's profilers. */

import { profilers as api } from '../../shared/api/areas/profilers.ts';
import { endpoint, noContent } from '../../shared/http/endpoint.ts';
import { recordAnswer } from '../../shared/profilers/answers.ts';

export const handler = endpoint(api.answerProfiler, async ({ account, body }) => {
  await recordAnswer(account, body);
  return noContent();
});
