/**
 * The plain webhook: for an account without a chat platform (protocols, "Plain webhook"). Signed by Standard Webhooks
 * with the account's secret, and with those that it replaced within a day.
 */
import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { newId } from '../core/ids.ts';
import { contactOf } from '../messaging/contacts.ts';
import type { Outgoing } from '../messaging/events.ts';
import { signed } from '../outbound/standard-webhooks.ts';
import { destinationUrl, signingSecret } from '../validation/schemas.ts';
import { describePlatform } from './platform.ts';

export const webhook = describePlatform({
  settings: v.object({ url: destinationUrl, secret: signingSecret }),
  options: {
    url: { label: 'Platform URL', says: 'where it posts to: an https address' },
    secret: {
      says: "what it signs with: whsec_ and 24 to 64 bytes in base64 (default: the one it has; else, and for '', a new one, which is shown once). The replaced one also signs for 24 hours",
      make: () => `whsec_${randomBytes(32).toString('base64')}`,
    },
  },
  buildRequest: ({ id, outgoing }, { url, secret }, previousSecrets) => {
    const document = documentOf(outgoing);
    return document && signed(url, [secret, ...previousSecrets], id, document);
  },
  probe: ({ url, secret }, previousSecrets) => ({
    request: signed(url, [secret, ...previousSecrets], newId(), { check: {} }),
    problem: (status) => (status >= 200 && status < 300 ? undefined : 'It should answer 2xx.'),
  }),
});

/** A user's message, what became of a message, or that a user data request is completed: without its values. */
const documentOf = (outgoing: Outgoing): object | undefined => {
  if (outgoing.type === 'message.received') {
    return { message: { from: outgoing.message.phone, ...outgoing.content } };
  }
  if (outgoing.type === 'user_data.completed') {
    const { request, completed } = outgoing;
    return { user_data: { id: request.id, status: 'completed', contact: contactOf(request.phone), completed } };
  }
  if (outgoing.type !== 'message.state') return undefined;
  const { message, state, created } = outgoing;
  return { status: { id: message.id, state, contact: contactOf(message.phone), job_id: message.job_id, created } };
};
