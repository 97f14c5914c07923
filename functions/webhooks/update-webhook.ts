/** PATCH /v1/webhooks/{webhook_id}: changes a webhook, or enables it again. */
import { webhooks as api } from '../../shared/api/areas/webhooks.ts';
import { changeEndpoint } from '../../shared/delivery/endpoints.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';

export const handler = endpoint(api.updateWebhook, async ({ path, body, ...by }) =>
  ok(await changeEndpoint(by, path.webhook_id, body)),
);
