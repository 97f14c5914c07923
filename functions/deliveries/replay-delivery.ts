/** POST /v1/deliveries/{delivery_id}/replay: sends an event to the caller's webhook again. */
import { deliveries as api } from '../../shared/api/areas/deliveries.ts';
import { withHashes } from '../../shared/core/hash-secret.ts';
import { replayDelivery } from '../../shared/delivery/history/replay.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';

export const handler = endpoint(
  api.replayDelivery,
  withHashes(async ({ account, path }) => ok(await replayDelivery(account, path.delivery_id))),
);
