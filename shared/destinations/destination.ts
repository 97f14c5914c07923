/**
 * Destinations: servers outside the service that receive the entries of an outbox. Functions that only name them do not load
 * the HTTP client, which `attempt.ts` uses.
 */
import { endpointOf, type NamedConversation } from '../outbox/entities.ts';
import type { Conversation, Entry } from '../outbox/event.ts';
import type { AttemptResult } from './attempt-result.ts';
import type { Endpoint } from './endpoint-settings.ts';
import type { DeliveryError, OutboundRequest, OutboundResponse } from './http/request.ts';

export interface Destination {
  /** Its name in logs, and that of the circuit of a customer's server. */
  name: string;
  /**
   * The request that delivers an entry; undefined if it does not need the entry.
   *
   * @param status - replaces the status that the entry reports
   * @throws DeliveryError — not set up
   */
  buildRequest(entry: Entry, status?: string): OutboundRequest | undefined;
  /** The meaning of its response, if that differs from HTTP's rules. */
  interpret?: (response: OutboundResponse, entry: Entry) => AttemptResult;
  /** The receipt of the status that an entry reports, if the destination must receive each status once. */
  receiptFor?: (entry: Entry) => StatusReceipt | undefined;
  /** The pause that the destination needs after an equal entry. */
  minInterval?: (entry: Entry) => MinInterval | undefined;
  /** Set if its attempts are kept for the customer. */
  hasHistory?: true;
  /** Set if there is no destination now: entries wait until one is set. */
  isMissing?: true;
  /** Why it is disabled, if it is: then it is missing, too. */
  disabledBy?: string;
  /** When the settings were set, for a destination that may be disabled by its response. */
  version?: string;
  /** The endpoints of the account: each of them gets copies of the entries, which leave the outbox. */
  endpoints?: readonly Endpoint[];
  /** Set if listeners claim its entries: the service makes no requests, so there is no circuit. */
  isPull?: true;
}

/** What happened in an attempt: for the customer who owns the destination. */
export interface Exchange {
  /** When it began and ended, in milliseconds since 1970. */
  started: number;
  ended: number;
  /** Missing if the request could not be built. */
  url?: string;
  response?: OutboundResponse;
  /** Why there was no response. */
  error?: DeliveryError['reason'];
}

/** The name of the app network's circuit, which concerns all accounts. */
export const APP_NETWORK_DESTINATION = 'app';

/**
 * The name of a conversation's destination, and of its circuit: the account's messages to the app network, its platform, one
 * of its endpoints, or its webhook for consent.
 */
export const destinationNameOf = (conversation: Addressed): string => {
  const endpoint = endpointOf(conversation);
  const name = `${conversation.direction}#${conversation.account}`;
  return endpoint === undefined ? name : `${name}#${endpoint}`;
};

/** What of a conversation decides about its destination. */
type Addressed = Pick<Conversation, 'direction' | 'account' | 'endpoint'> & Partial<Pick<NamedConversation, 'user'>>;

/** The names of all circuits that a conversation's requests depend on. */
export const circuitNamesOf = (conversation: Addressed): string[] => [
  ...(conversation.direction === 'app' ? [APP_NETWORK_DESTINATION] : []),
  destinationNameOf(conversation),
];

/** A state that a platform is notified of once. */
export interface StatusReceipt {
  /** The platform's id of the message; parts of one message share it. */
  id: string;
  /** How often the message was resent: each generation has statuses of its own. */
  generation: number;
  /** The service's id of the message. */
  message: string;
  state: string;
  /** States after which this one is not reported, in their order: instead, the last of them is reported again. */
  neverAfter: string[];
  /** When this part of the message was accepted. */
  accepted: string;
  /**
   * Least milliseconds after the acceptance of a part, and between reports of states. The platform may overwrite a
   * state that is reported earlier.
   */
  pauseMs: number;
  /** When the message expires, in seconds since 1970. Afterwards the platform's id may belong to another message. */
  expires_at: number;
}

/** A pause that a destination needs between equal requests. */
export interface MinInterval {
  /** Requests with the same subject are equal. A hash, so that it reveals neither phone number nor text. */
  subject: string;
  pauseMs: number;
}
