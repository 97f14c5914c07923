/** Signs requests by Standard Webhooks (infra/docs/wire-facts.md), with a secret that the destination also has. */
import { Webhook } from 'standardwebhooks';
import { now } from '../../core/clock.ts';
import { jsonRequest, type OutboundRequest } from './request.ts';

/**
 * A JSON request, signed by Standard Webhooks. Repeats have the same `id`. Each secret makes a signature, and the
 * destination accepts the request if one of them is valid. So the destination can change its secret at any time.
 */
export const signed = (
  url: string,
  secrets: readonly [string, ...string[]],
  id: string,
  document: unknown,
): OutboundRequest => {
  const time = new Date(now());
  const { headers, ...rest } = jsonRequest(url, document);
  return {
    ...rest,
    headers: {
      ...headers,
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
      'webhook-signature': [...new Set(secrets)]
        .map((secret) => new Webhook(secret).sign(id, time, rest.body))
        .join(' '),
    },
  };
};
