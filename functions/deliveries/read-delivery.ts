/** GET /v1/deliveries/{delivery_id}: one attempt to deliver an event to the caller's webhook. */
import { deliveries as api } from '../../shared/api/areas/deliveries.ts';
import { presentDelivery, readDelivery } from '../../shared/delivery/history/deliveries.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';

export const handler = endpoint(api.readDelivery, async ({ account, path }) =>
  ok(presentDelivery(await readDelivery(account, path.delivery_id))),
);
