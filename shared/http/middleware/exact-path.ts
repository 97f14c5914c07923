import type { Endpoint } from '../../api/endpoint.ts';
import { Problem } from '../../core/problems.ts';
import type { HttpMiddleware } from '../event.ts';

/**
 * Rejects requests of catch-all routes, unless method and path are those of one of the endpoint's routes.
 *
 * @throws address_not_found — the host does not serve this method and path
 */
export const exactPath = (routes: Endpoint['routes']): HttpMiddleware => {
  const served = new Set(routes.map(({ method, path }) => `${method} ${path}`));
  return {
    before: function exactPathBefore({ event: { routeKey, rawPath, requestContext } }) {
      if (served.has(routeKey) || served.has(`${requestContext.http.method} ${rawPath}`)) return;
      throw new Problem(
        'address_not_found',
        'This host does not serve this method and path. Check both, and remove anything after a final slash.',
      );
    },
  };
};
