/**
 * The plain webhook: for an account without a chat platform. Requests are signed by Standard Webhooks with the account's
 * secret, and with secrets that were replaced within the last 24 hours.
 */
import { newId } from '../core/ids.ts';
import { contactOf } from '../messaging/jids.ts';
import { contentFields, type Entry, eventIdOf, type OutboxEvent, withReference } from '../outbox/event.ts';
import { type AttemptResult, causeOf, interpretByStatus, retryResult } from './attempt-result.ts';
import type { OutboundResponse } from './http/request.ts';
import { signed } from './http/standard-webhooks.ts';
import { describePlatform } from './platform.ts';
import type { PlatformSetup } from './setup.ts';
import { newSigningSecret, webhookSettings } from './signing-secrets.ts';

/** Statuses that reject the content of a request: another request of the same event would be rejected, too. */
const REFUSALS = [400, 413, 422];

/**
 * The meaning of a webhook's response. Every response other than 2xx is retried for `RETRY_DAYS`: during a deployment
 * of the business, its gateway may return any status. A 410 ends the requests, as Standard Webhooks defines it. A
 * refusal is retried for an hour, in case it is a mistake of a deployment; `webhook-delivery: abort-message` ends the retries
 * of an event at once (infra/docs/wire-facts.md).
 */
export const interpretWebhook = (response: OutboundResponse): AttemptResult => {
  if (response.status === 410) return { status: 'disabled', cause: causeOf(response) };
  const isSuccess = response.status >= 200 && response.status < 300;
  if (!isSuccess && response.headers['webhook-delivery'] === 'abort-message') {
    return { status: 'rejected', cause: causeOf(response) };
  }
  if (REFUSALS.includes(response.status)) return { status: 'retry', cause: causeOf(response), isRefusal: true };
  const result = interpretByStatus(response);
  return result.status === 'rejected' ? retryResult(response) : result;
};

/** A webhook whose requests have this body; they skip entries without one. */
export const describeWebhook = (documentOf: (entry: Entry) => object | undefined) =>
  describePlatform({
    settings: webhookSettings,
    hasHistory: true,
    buildRequest: (entry, { url, secret }, previousSecrets) => {
      const document = documentOf(entry);
      return document && signed(url, [secret, ...previousSecrets], eventIdOf(entry), document);
    },
    interpret: interpretWebhook,
  });

/**
 * The body of a request: a user's message, a state of a message, a user's opt-out, the end of a consent, or a completed user
 * data request, without its values.
 */
const documentOf = (outgoing: OutboxEvent): object | undefined => {
  if (outgoing.type === 'message.received') {
    const { message, content, in_reply_to, quick_reply } = outgoing;
    return { message: { from: message.phone, ...contentFields(content), in_reply_to, quick_reply } };
  }
  if (outgoing.type === 'user_data.completed') {
    const { request, completed } = outgoing;
    return {
      user_data: {
        id: request.id,
        status: 'completed',
        contact: contactOf(request.phone),
        completed,
        ...withReference(request),
      },
    };
  }
  if (outgoing.type === 'user_data.ended') {
    const { request, status, properties, ended } = outgoing;
    return {
      user_data: {
        id: request.id,
        status,
        properties,
        contact: contactOf(request.phone),
        ended,
        ...withReference(request),
      },
    };
  }
  if (outgoing.type === 'user.state') {
    const { user, state, by } = outgoing;
    return { user: { contact: contactOf(user.phone), state, ...(by && { by }) } };
  }
  if (outgoing.type === 'webhook.test') return { check: {} };
  if (outgoing.type !== 'message.state') return undefined;
  const { message, state, created } = outgoing;
  const { id, phone, job_id } = message;
  return { status: { id, state, contact: contactOf(phone), job_id, created, ...withReference(message) } };
};

export const webhook = describeWebhook(({ outgoing }) => documentOf(outgoing));

export const webhookSetup: PlatformSetup<typeof webhookSettings> = {
  title: 'the webhook',
  form: 'Your own server',
  steps: [
    'Write an endpoint that accepts a POST with JSON, and returns 2xx within 10 seconds.',
    'Verify the signature of each request by Standard Webhooks, with the secret.',
    'Reply to users with POST /v1/message of the API.',
  ],
  fields: ({ made: { secret } = {} }) =>
    secret === undefined
      ? []
      : [
          {
            field: 'Signing secret',
            value: secret,
            secret: true,
            note: 'Your server verifies requests with it. The service sends it nowhere.',
          },
        ],
  settings: webhookSettings,
  options: {
    url: {
      label: 'Platform URL',
      description: 'the https URL that receives the requests',
      question: {
        label: 'URL of your endpoint',
        where: 'The public https URL of your server.',
        example: 'https://example.com/messages',
      },
    },
    secret: {
      description:
        "the signing secret: whsec_ and 24 to 64 bytes in base64 (default: unchanged; if there is none, or for '', a new one, which is shown once). A replaced secret also signs for 24 hours",
      make: newSigningSecret,
    },
  },
  probe: ({ url, secret }, previousSecrets) => ({
    request: signed(url, [secret, ...previousSecrets], newId(), { check: {} }),
    fault: ({ status }) => {
      if (status >= 200 && status < 300) return undefined;
      if (status === 401 || status === 403) {
        return {
          cause: `It refuses the signed request (${status}).`,
          fix: 'Check that the server verifies signatures with the secret of this account, and needs no password.',
        };
      }
      if (status === 404) return { cause: 'The server has no such URL (404).', fix: 'Check the path of the URL.' };
      return {
        cause: `It should answer 2xx, but returned ${status}.`,
        fix: 'Return 2xx for each signed POST with JSON, also for events that the server does not use.',
      };
    },
  }),
  proved: 'The server accepted a signed request with {"check":{}}.',
};
