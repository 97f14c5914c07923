/** GET /v1/research_profilers: lists the caller's profilers, oldest first. */
import { profilers as api } from '../../shared/api/areas/profilers.ts';
import { decodeCursor, encodeCursor } from '../../shared/http/cursor.ts';
import { endpoint, nextPage, ok } from '../../shared/http/endpoint.ts';
import { listProfilers } from '../../shared/profilers/profilers.ts';

export const handler = endpoint(api.listProfilers, async ({ account, query }) => {
  const { profilers, next } = await listProfilers(account, decodeCursor(api.listProfilers, [account], query.cursor));
  return ok(
    profilers,
    next === undefined
      ? {}
      : nextPage('/v1/research_profilers', { cursor: encodeCursor(api.listProfilers, [account], next) }),
  );
});
