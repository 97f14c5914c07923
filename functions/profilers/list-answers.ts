/** GET /v1/research_profilers/{id}/answers: lists the answers to one of the caller's profilers. */
import { profilers as api } from '../../shared/api/areas/profilers.ts';
import { decodeCursor, encodeCursor } from '../../shared/http/cursor.ts';
import { endpoint, nextPage, ok } from '../../shared/http/endpoint.ts';
import { listAnswers } from '../../shared/profilers/answers.ts';

export const handler = endpoint(api.listAnswers, async ({ account, path: { id }, query }) => {
  const { limit, cursor } = query;
  const filters = [account, id];
  const { answers, next } = await listAnswers(account, id, limit, decodeCursor(api.listAnswers, filters, cursor));
  const path = `/v1/research_profilers/${id}/answers`;
  return ok(
    answers,
    next === undefined ? {} : nextPage(path, { limit, cursor: encodeCursor(api.listAnswers, filters, next) }),
  );
});
