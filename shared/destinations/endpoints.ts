/**
 * Endpoints: the webhooks that a business manages itself, up to five. Each has its own URL, secret, types and order, and its
 * own circuit and history. Their events have the second version of the contract:
 *
 *     {"id", "type", "created", "bot_number", "data"}
 *
 * The webhook that an operator has set for an account becomes its first endpoint, with the events of the first version.
 */
import { isPseudonym } from '../core/ids.ts';
import { contactOf } from '../messaging/jids.ts';
import type { EndpointNumber } from '../outbox/entities.ts';
import { contentFields, type Entry, eventIdOf, type OutboxEvent, sinceOf, withReference } from '../outbox/event.ts';
import type { Destination } from './destination.ts';
import type { PreviousSecret } from './platform.ts';
import { describeWebhook, webhook } from './webhook.ts';

/** The types of events to which an endpoint can subscribe. */
export const subscribedTypes = [
  'message.received',
  'message.state',
  'user.stopped',
  'user.started',
  'user_data.completed',
  'user_data.withdrawn',
  'user_data.expired',
] as const;

export type SubscribedType = (typeof subscribedTypes)[number];

/** Each endpoint receives its own tests. */
type EndpointEventType = SubscribedType | 'webhook.test';

/** The versions of the contract. */
export const contractVersions = [1, 2] as const;

/** An endpoint, as the row of its account's platform contains it. Contains secrets. */
export interface Endpoint {
  id: string;
  number: EndpointNumber;
  url: string;
  secret: string;
  previous_secrets?: PreviousSecret[];
  version: (typeof contractVersions)[number];
  /** The types that it receives; missing for all. */
  types?: SubscribedType[];
  description?: string;
  created: string;
  /** When it was changed last. A change also ends that it is disabled. */
  updated: string;
}

/** The settings of an account with endpoints. */
export interface EndpointSettings {
  endpoints: Endpoint[];
}

/** The type of an event; undefined if endpoints do not receive it. */
const typeOf = (outgoing: OutboxEvent): EndpointEventType | undefined => {
  switch (outgoing.type) {
    case 'message.received':
    case 'message.state':
    case 'user_data.completed':
    case 'webhook.test':
      return outgoing.type;
    case 'user.state':
      return `user.${outgoing.state}`;
    case 'user_data.ended':
      return `user_data.${outgoing.status}`;
    default:
      return undefined;
  }
};

/** Whether an endpoint receives an event. */
export const isSubscribed = ({ types }: Endpoint, outgoing: OutboxEvent): boolean => {
  const type = typeOf(outgoing);
  if (type === undefined) return false;
  return types === undefined || types.some((one) => one === type);
};

/** The body of a request. Its fields have a fixed order, so that each attempt sends the same bytes. */
const eventOf = (entry: Entry): object | undefined => {
  const { outgoing, copy } = entry;
  const type = typeOf(outgoing);
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
