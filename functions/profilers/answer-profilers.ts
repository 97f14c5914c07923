/** POST /v1/profiler_answers: records several panelists' answers to the caller's profilers. */
import { profilers as api } from '../../shared/api/areas/profilers.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { recordAnswers } from '../../shared/profilers/answer-batch.ts';

export const handler = endpoint(api.answerProfilers, async ({ account, body }) =>
  ok({ results: await recordAnswers(account, body) }),
);
