/** GET /v1/webhooks: lists the caller's webhooks, and how they work. */
import { webhooks as api } from '../../shared/api/areas/webhooks.ts';
import { listEndpoints } from '../../shared/delivery/endpoints.ts';
import { endpoint, noContent, ok } from '../../shared/http/endpoint.ts';

export const handler = endpoint(api.listWebhooks, async ({ account }) => {
  const endpoints = await listEndpoints(account);
  return endpoints.length === 0 ? noContent() : ok(endpoints);
});
