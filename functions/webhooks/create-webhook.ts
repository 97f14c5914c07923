/** POST /v1/webhooks: adds a webhook, which receives the events of the caller's account. */
import { webhooks as api } from '../../shared/api/areas/webhooks.ts';
import { addEndpoint } from '../../shared/delivery/endpoints.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';

export const handler = endpoint(api.createWebhook, async ({ body, ...by }) => ok(await addEndpoint(by, body)));
