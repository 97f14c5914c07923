/** POST /v1/webhooks/{webhook_id}/rotate: replaces the signing secret of a webhook. */
import { webhooks as api } from '../../shared/api/areas/webhooks.ts';
import { rotateSecret } from '../../shared/delivery/endpoints.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';

export const handler = endpoint(api.rotateWebhookSecret, async ({ path, ...by }) =>
  ok(await rotateSecret(by, path.webhook_id)),
);
