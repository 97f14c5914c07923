/** Standard Webhooks (protocols, "Standard Webhooks"): how requests are signed whose destinations share a secret with us. */
import { Webhook } from 'standardwebhooks';
import { now } from '../core/clock.ts';
import { jsonRequest, type OutboundRequest } from './request.ts';

/**
 * A JSON post signed by Standard Webhooks. A repeated one has the same `id`. Each secret signs it, so that a destination
 * can change to another one at any time: it accepts a request if one of the signatures is right.
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
