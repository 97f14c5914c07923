/**
 * Endpoints: the webhooks that a business manages itself, up to five. Each has its own URL, secret, types and order, and its
 * own circuit and history. Their events have the second version of the contract:
 *
 *     {"id", "type", "created", "bot_number", "data"}
 *
 * The webhook that an operator has set for an account becomes its first endpoint, with the events of the first version.
 */
import type { EndpointNumber } from '../outbox/entities.ts';
import type { OutboxEvent } from '../outbox/event.ts';
import type { PreviousSecret } from './signing-secrets.ts';

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

type SubscribedType = (typeof subscribedTypes)[number];

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
  /** Set if it was the webhook that an operator had set. */
  adopted?: true | undefined;
  created: string;
  /** When it was changed last. A change also ends that it is disabled. */
  updated: string;
}

/** The platform of an account with endpoints, which it manages itself. */
export const ENDPOINTS = 'webhooks';

/** The settings of such a platform. */
export interface EndpointSettings {
  endpoints: Endpoint[];
}

/** The type of an event; undefined if endpoints do not receive it. */
export const eventTypeOf = (outgoing: OutboxEvent): EndpointEventType | undefined => {
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
  const type = eventTypeOf(outgoing);
  // A test is sent to one endpoint.
  if (type === undefined || type === 'webhook.test') return false;
  return types === undefined || types.some((one) => one === type);
};
