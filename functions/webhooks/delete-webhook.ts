/** DELETE /v1/webhooks/{webhook_id}: deletes a webhook, and drops its pending events. */
import { webhooks as api } from '../../shared/api/areas/webhooks.ts';
import { deleteEndpoint } from '../../shared/delivery/endpoints.ts';
import { endpoint, noContent } from '../../shared/http/endpoint.ts';

export const handler = endpoint(api.deleteWebhook, async ({ path, ...by }) => {
  await deleteEndpoint(by, path.webhook_id);
  return noContent();
});
