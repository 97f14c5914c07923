/** Events of functions: API Gateway's payload format 2.0 with the authorizer's context, and other triggers. */

import type { Endpoint } from '../../shared/api/endpoint.ts';
import { api, type EndpointName } from '../../shared/api/index.ts';
import { named } from '../../shared/outbox/entities.ts';

interface Request {
  path?: Record<string, string>;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  /** Sent as JSON. Strings and bytes are sent unchanged. */
  body?: unknown;
}

const bodyOf = (body: unknown) => {
  if (body === undefined) return {};
  // API Gateway encodes forms in base64.
  if (body instanceof Uint8Array) return { body: Buffer.from(body).toString('base64'), isBase64Encoded: true };
  return { body: typeof body === 'string' ? body : JSON.stringify(body), isBase64Encoded: false };
};

/** A request to an endpoint from an account with the required permission. */
export const requestOf = (name: EndpointName, account: string, { path, query, headers, body }: Request = {}) => {
  const { routes, permission }: Endpoint = api[name];
  const [{ method, path: template }] = routes;
  const routeKey = `${method} ${template}`;
  return {
    version: '2.0',
    routeKey,
    rawPath: template.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => path?.[parameter] ?? ''),
    rawQueryString: new URLSearchParams(query).toString(),
    headers: { 'content-type': 'application/json', host: 'api.example.com', ...headers },
    ...(query && { queryStringParameters: query }),
    ...(path && { pathParameters: path }),
    requestContext: {
      requestId: 'JKJaXmPLvHcESHA=',
      routeKey,
      http: { method },
      authorizer: { lambda: { account, token: 'bench', label: 'bench', permissions: [permission] } },
    },
    ...bodyOf(body),
  };
};

/** An event of the authorizer. */
export const authorizing = (token: string) => ({
  routeKey: 'POST /v1/message',
  identitySource: [`Bearer ${token}`],
  requestContext: { requestId: 'JKJaXmPLvHcESHA=' },
});

/** An event of the queue with one wake-up. */
export const wakingUp = (conversation: { direction: 'app' | 'platform'; account: string; phone: string }) => ({
  Records: [{ body: JSON.stringify(named(conversation)), receiptHandle: 'bench' }],
});
