/** Standard Webhooks (protocols, "Standard Webhooks"): how requests are signed whose destinations share a secret with us. */
import { Webhook } from 'standardwebhooks';
import { now } from '../core/clock.ts';
import { jsonRequest, type OutboundRequest } from './request.ts';

/** A JSON post signed by Standard Webhooks. A repeated one has the same `id`. */
export const signed = (url: string, secret: string, id: string, document: unknown): OutboundRequest => {
  const time = new Date(now());
  const { headers, ...rest } = jsonRequest(url, document);
  return {
    ...rest,
    headers: {
      ...headers,
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(id, time, rest.body),
    },
  };
};
