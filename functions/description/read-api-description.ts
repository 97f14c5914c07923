/** GET /v1/openapi.json: returns the API description with the hosts of this stack; to browsers, a page of its errors. */
import { description as api } from '../../shared/api/areas/description.ts';
import { apiDescription } from '../../shared/api/openapi/description.ts';
import { errorsPage } from '../../shared/api/openapi/errors-page.ts';
import { baseUrl, bridgeUrl } from '../../shared/core/settings.ts';
import { ok, unlimitedEndpoint } from '../../shared/http/endpoint.ts';

/** Caches may keep it for an hour. Pages of all origins may read it. */
const HEADERS = { 'cache-control': 'public, max-age=3600', 'access-control-allow-origin': '*', vary: 'Accept' };

const HTML = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};

export const handler = unlimitedEndpoint(api.readApiDescription, async ({ query, headers: { accept = '' } }) => {
  const description = apiDescription({ base: baseUrl(), bridge: bridgeUrl() });
  return query.format === undefined && /\btext\/html\b/.test(accept)
    ? ok(new TextEncoder().encode(errorsPage(description)), { ...HEADERS, ...HTML })
    : ok(description, HEADERS);
});
