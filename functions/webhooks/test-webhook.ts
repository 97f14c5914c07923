/** POST /v1/webhooks/{webhook_id}/test: sends a webhook a test event. */
import { webhooks as api } from '../../shared/api/areas/webhooks.ts';
import { withHashes } from '../../shared/core/hash-secret.ts';
import { testEndpoint } from '../../shared/delivery/endpoints.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';

export const handler = endpoint(
  api.testWebhook,
  withHashes(async ({ account, path }) => ok(await testEndpoint(account, path.webhook_id))),
);
