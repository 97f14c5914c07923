/**
 * The plain webhook: for an account without a chat platform. Requests are signed by Standard Webhooks with the account's
 * secret, and with secrets that were replaced within the last 24 hours.
 */
import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { newId } from '../core/ids.ts';
import { contactOf } from '../messaging/jids.ts';
import { contentFields, eventIdOf, type Outgoing } from '../outbox/event.ts';
import { destinationUrl, signingSecret } from '../validation/schemas.ts';
import { type AttemptResult, causeOf, interpretByStatus, retryResult } from './attempt-result.ts';
import type { OutboundResponse } from './http/request.ts';
import { signed } from './http/standard-webhooks.ts';
import { describePlatform } from './platform.ts';

/** Statuses that reject the content of a request: another request of the same event would be rejected, too. */
const REFUSALS = [400, 413, 422];

/**
 * The meaning of a webhook's response. Every response other than 2xx is retried for `RETRY_DAYS`: during a deployment
 * of the business, its gateway may return any status. A 410 ends the requests, as Standard Webhooks defines it. A
 * refusal is retried for an hour, in case it is a mistake of a deployment.
 */
export const interpretWebhook = (response: OutboundResponse): AttemptResult => {
  if (response.status === 410) return { status: 'disabled', cause: causeOf(response) };
  if (REFUSALS.includes(response.status)) return { status: 'retry', cause: causeOf(response), isRefusal: true };
  const result = interpretByStatus(response);
  return result.status === 'rejected' ? retryResult(response) : result;
};

export const webhook = describePlatform({
  settings: v.object({ url: destinationUrl, secret: signingSecret }),
  options: {
    url: { label: 'Platform URL', description: 'the https URL that receives the requests' },
    secret: {
      description:
        "the signing secret: whsec_ and 24 to 64 bytes in base64 (default: unchanged; if there is none, or for '', a new one, which is shown once). A replaced secret also signs for 24 hours",
      make: () => `whsec_${randomBytes(32).toString('base64')}`,
    },
  },
  hasHistory: true,
  buildRequest: (entry, { url, secret }, previousSecrets) => {
    const document = documentOf(entry.outgoing);
    return document && signed(url, [secret, ...previousSecrets], eventIdOf(entry), document);
  },
  interpret: interpretWebhook,
  probe: ({ url, secret }, previousSecrets) => ({
    request: signed(url, [secret, ...previousSecrets], newId(), { check: {} }),
    problem: (status) => (status >= 200 && status < 300 ? undefined : 'It should answer 2xx.'),
  }),
});

/**
 * The body of a request: a user's message, a state of a message, a user's opt-out, the end of a consent, or a completed user
 * data request, without its values.
 */
const documentOf = (outgoing: Outgoing): object | undefined => {
  if (outgoing.type === 'message.received') {
    return { message: { from: outgoing.message.phone, ...contentFields(outgoing.content) } };
  }
  if (outgoing.type === 'user_data.completed') {
    const { request, completed } = outgoing;
    return { user_data: { id: request.id, status: 'completed', contact: contactOf(request.phone), completed } };
  }
  if (outgoing.type === 'user_data.ended') {
    const { request, status, properties, ended } = outgoing;
    return { user_data: { id: request.id, status, properties, contact: contactOf(request.phone), ended } };
  }
  if (outgoing.type === 'user.state') {
    return { user: { contact: contactOf(outgoing.user.phone), state: outgoing.state } };
  }
  if (outgoing.type !== 'message.state') return undefined;
  const { message, state, created } = outgoing;
  return { status: { id: message.id, state, contact: contactOf(message.phone), job_id: message.job_id, created } };
};
