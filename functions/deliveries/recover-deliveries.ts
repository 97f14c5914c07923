/** POST /v1/deliveries/recover: sends the events again that the caller's webhook failed to accept since a time. */

import { deliveries as api } from '../../shared/api/areas/deliveries.ts';
import { withHashes } from '../../shared/core/hash-secret.ts';
import { recoverDeliveries } from '../../shared/delivery/history/recover.ts';
import { decodeCursor, encodeCursor } from '../../shared/http/cursor.ts';
import { endpoint, nextPage, ok } from '../../shared/http/endpoint.ts';

export const handler = endpoint(
  api.recoverDeliveries,
  withHashes(async ({ account, query, body }) => {
    const filters = [account, body.since, body.until, body.webhook_id];
    const { recovered, next } = await recoverDeliveries(
      account,
      body,
      decodeCursor(api.recoverDeliveries, filters, query.cursor),
    );
    if (next === undefined) return ok(recovered);
    return ok(
      recovered,
      nextPage('/v1/deliveries/recover', { cursor: encodeCursor(api.recoverDeliveries, filters, next) }),
    );
  }),
);
