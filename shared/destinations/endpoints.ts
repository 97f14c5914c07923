/** The requests to endpoints: events of the second version of the contract, or of the first one. */
import { isPseudonym } from '../core/ids.ts';
import { contactOf } from '../messaging/jids.ts';
import { contentFields, type Entry, eventIdOf, sinceOf, withReference } from '../outbox/event.ts';
import type { Destination } from './destination.ts';
import { type Endpoint, eventTypeOf } from './endpoint-settings.ts';
import { describeWebhook, webhook } from './webhook.ts';

/** The body of a request. Its fields have a fixed order, so that each attempt sends the same bytes. */
const eventOf = (entry: Entry): object | undefined => {
  const { outgoing, copy } = entry;
  const type = eventTypeOf(outgoing);
  return (
    type && {
      id: eventIdOf(entry),
      type,
      created: `${createdOf(entry)}Z`,
      bot_number: copy?.bot ?? null,
      data: dataOf(entry),
    }
  );
};

/** When what an event tells happened, in the form of `timestamp`. */
const createdOf = (entry: Entry): string => {
  const { outgoing } = entry;
  if (outgoing.type === 'message.state') return outgoing.created;
  if (outgoing.type === 'user_data.completed') return outgoing.completed;
  return outgoing.type === 'user_data.ended' ? outgoing.ended : sinceOf(entry);
};

/** A user as events name one. An erased user has a pseudonym, and no number. */
const personOf = (phone: string) => ({ contact: contactOf(phone), phone_number: isPseudonym(phone) ? null : phone });

const dataOf = ({ outgoing, copy }: Entry): object | undefined => {
  if (outgoing.type === 'message.received') {
    const { message, content, in_reply_to, quick_reply } = outgoing;
    return {
      message_id: message.id,
      job_id: message.job_id,
      ...personOf(message.phone),
      ...contentFields(content),
      in_reply_to,
      quick_reply: quick_reply && { index: quick_reply.index },
    };
  }
  if (outgoing.type === 'message.state') {
    const { message, state, reason_code } = outgoing;
    return {
      message_id: message.id,
      job_id: message.job_id,
      ...withReference(message),
      ...personOf(message.phone),
      state,
      reason: reason_code,
    };
  }
  if (outgoing.type === 'user.state') return { ...personOf(outgoing.user.phone), by: outgoing.by };
  if (outgoing.type === 'webhook.test') return { webhook_id: copy?.endpoint };
  if (outgoing.type !== 'user_data.completed' && outgoing.type !== 'user_data.ended') return undefined;
  const { request } = outgoing;
  return {
    request_id: request.id,
    ...withReference(request),
    ...personOf(request.phone),
    ...(outgoing.type === 'user_data.ended' && { properties: outgoing.properties }),
  };
};

const webhookOfVersion = { 1: webhook, 2: describeWebhook(eventOf) };

/** The destination of an endpoint's copies. Those of an endpoint that had its number before are dropped. */
export const endpointDestination = ({
  id,
  url,
  secret,
  previous_secrets,
  version,
  updated,
}: Endpoint): Omit<Destination, 'name'> => {
  const { buildRequest, ...rest } = webhookOfVersion[version]({ url, secret }, previous_secrets);
  return {
    ...rest,
    version: updated,
    buildRequest: (entry) => (entry.copy?.endpoint === id ? buildRequest(entry) : undefined),
  };
};
