/** GET /v1/openapi.json: returns the API description with the hosts of this stack. */
import { apiDescription } from '../../shared/api/openapi/description.ts';
import { baseUrl, bridgeUrl } from '../../shared/core/settings.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';

/** Whoever reads it may keep it for an hour, and show it on a page of another origin. */
const HEADERS = { 'cache-control': 'public, max-age=3600', 'access-control-allow-origin': '*' };

export const handler = endpoint('readApiDescription', async () =>
  ok(apiDescription({ base: baseUrl(), bridge: bridgeUrl() }), HEADERS),
);
