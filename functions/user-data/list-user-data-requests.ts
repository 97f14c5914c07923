/** GET /v1/user_data/requests: lists the caller's user data requests, newest first. */
import { userDataRequests as api } from '../../shared/api/areas/user-data.ts';
import { decodeCursor, encodeCursor } from '../../shared/http/cursor.ts';
import { endpoint, nextPage, noContent, ok } from '../../shared/http/endpoint.ts';
import { listRequests } from '../../shared/user-data/request-list.ts';

export const handler = endpoint(api.listUserDataRequests, async ({ account, query }) => {
  const { limit, cursor, ...filter } = query;
  const filters = [account, filter.status, filter.start, filter.end];
  const position = decodeCursor(api.listUserDataRequests, filters, cursor);
  const { requests, next } = await listRequests(account, filter, limit, position);
  if (next === undefined) return requests.length === 0 ? noContent() : ok(requests);
  const following = encodeCursor(api.listUserDataRequests, filters, next);
  return ok(requests, nextPage('/v1/user_data/requests', { ...query, cursor: following }));
});
