/** GET /v1/history: lists what was changed of the caller's account, newest first. */
import { listChanges } from '../../shared/accounts/history.ts';
import { tokens as api } from '../../shared/api/areas/tokens.ts';
import { decodeCursor, encodeCursor } from '../../shared/http/cursor.ts';
import { endpoint, nextPage, noContent, ok } from '../../shared/http/endpoint.ts';

export const handler = endpoint(api.listHistory, async ({ account, query }) => {
  const { limit, cursor } = query;
  const { changes, next } = await listChanges(account, limit, decodeCursor(api.listHistory, [account], cursor));
  if (next === undefined) return changes.length === 0 ? noContent() : ok(changes);
  return ok(changes, nextPage('/v1/history', { limit, cursor: encodeCursor(api.listHistory, [account], next) }));
});
