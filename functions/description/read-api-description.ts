/** GET /v1/openapi.json: returns the API description with the hosts of this stack. */
import { description as api } from '../../shared/api/areas/description.ts';
import { apiDescription } from '../../shared/api/openapi/description.ts';
import { baseUrl, bridgeUrl } from '../../shared/core/settings.ts';
import { ok, unlimitedEndpoint } from '../../shared/http/endpoint.ts';

/** Caches may keep it for an hour. Pages of all origins may read it. */
const HEADERS = { 'cache-control': 'public, max-age=3600', 'access-control-allow-origin': '*' };

export const handler = unlimitedEndpoint(api.readApiDescription, async () =>
  ok(apiDescription({ base: baseUrl(), bridge: bridgeUrl() }), HEADERS),
);
