/** GET /v1/user_data/receipts: lists the receipts of consent for the caller's user data requests, newest first. */
import { userDataRequests as api } from '../../shared/api/areas/user-data.ts';
import { decodeCursor, encodeCursor } from '../../shared/http/cursor.ts';
import { endpoint, nextPage, noContent, ok } from '../../shared/http/endpoint.ts';
import { listReceipts } from '../../shared/user-data/receipt-list.ts';

export const handler = endpoint(api.listReceipts, async ({ account, query }) => {
  const { limit, cursor, ...filter } = query;
  const filters = [account, filter.phone_number, filter.start, filter.end];
  const position = decodeCursor(api.listReceipts, filters, cursor);
  const { receipts, next } = await listReceipts(account, filter, limit, position);
  if (next === undefined) return receipts.length === 0 ? noContent() : ok(receipts);
  const following = encodeCursor(api.listReceipts, filters, next);
  return ok(receipts, nextPage('/v1/user_data/receipts', { ...query, cursor: following }));
});
