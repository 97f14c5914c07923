/** GET /v1/deliveries: lists the attempts to deliver events to the caller's webhook. */

import { deliveries as api } from '../../shared/api/areas/deliveries.ts';
import { listDeliveries, presentDelivery } from '../../shared/delivery/history/deliveries.ts';
import { decodeCursor, encodeCursor } from '../../shared/http/cursor.ts';
import { endpoint, nextPage, noContent, ok } from '../../shared/http/endpoint.ts';

export const handler = endpoint(api.listDeliveries, async ({ account, query }) => {
  const { limit, cursor, ...filter } = query;
  const filters = [account, filter.status, filter.reference, filter.webhook_id, filter.start, filter.end];
  const { deliveries, next } = await listDeliveries(
    account,
    filter,
    limit,
    decodeCursor(api.listDeliveries, filters, cursor),
  );
  const shown = deliveries.map(presentDelivery);
  if (next === undefined) return shown.length === 0 ? noContent() : ok(shown);
  return ok(shown, nextPage('/v1/deliveries', { ...query, cursor: encodeCursor(api.listDeliveries, filters, next) }));
});
