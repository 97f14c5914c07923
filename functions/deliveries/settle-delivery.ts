/** POST /v1/deliveries/settle: settles a claimed event by the response of the caller's program. */
import { deliveries as api } from '../../shared/api/areas/deliveries.ts';
import { settleClaim } from '../../shared/delivery/listeners/settle.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';

export const handler = endpoint(api.settleDelivery, async ({ account, body: { claim, ...outcome } }) =>
  ok(await settleClaim(account, claim, outcome)),
);
