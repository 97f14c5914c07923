/** The plain webhook: for an account without a chat platform. Signed by Standard Webhooks with the account's secret. */
import * as v from 'valibot';
import { contactOf } from '../contacts.ts';
import type { Outgoing } from '../outbox.ts';
import { signed } from '../post.ts';
import { receiverUrl, signingSecret } from '../text.ts';
import { describePlatform } from './platform.ts';

export const webhook = describePlatform(v.object({ url: receiverUrl, secret: signingSecret }), {
  posting: ({ id, outgoing }, { url, secret }) => {
    const document = documentOf(outgoing);
    return document && signed(url, secret, id, document);
  },
});

/** A user's message, or what became of a message. */
const documentOf = (outgoing: Outgoing): object | undefined => {
  const { message } = outgoing;
  if (outgoing.type === 'message.received') return { message: { from: message.phone, ...outgoing.content } };
  if (outgoing.type !== 'message.state') return undefined;
  const { state, created } = outgoing;
  return { status: { id: message.id, state, contact: contactOf(message.phone), job_id: message.job_id, created } };
};
