/** What functions are called with: API Gateway's events (payload format 2.0), with what the authorizer hands on. */

import type { Endpoint } from '../../shared/api/endpoint.ts';
import { api, type EndpointName } from '../../shared/api/index.ts';

interface Request {
  path?: Record<string, string>;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  /** Sent as JSON; a text or bytes as they are. */
  body?: unknown;
}

const bodyOf = (body: unknown) => {
  if (body === undefined) return {};
  // API Gateway takes forms for bytes.
  if (body instanceof Uint8Array) return { body: Buffer.from(body).toString('base64'), isBase64Encoded: true };
  return { body: typeof body === 'string' ? body : JSON.stringify(body), isBase64Encoded: false };
};

/** A request to an endpoint, of an account that may make it. */
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
      authorizer: { lambda: { account, token: 'bench', permissions: [permission] } },
    },
    ...bodyOf(body),
  };
};

/** What the authorizer is asked. */
export const authorizing = (token: string) => ({
  routeKey: 'POST /v1/message',
  identitySource: [`Bearer ${token}`],
  requestContext: { requestId: 'JKJaXmPLvHcESHA=' },
});

/** A wake-up as the queue hands it on. */
export const wakingUp = (conversation: { direction: 'app' | 'platform'; account: string; phone: string }) => ({
  Records: [{ body: JSON.stringify(conversation), receiptHandle: 'bench' }],
});
