/** Destinations: servers outside the service that receive the entries of an outbox. */
import type { Conversation, Entry } from '../messaging/events.ts';
import { type AttemptResult, interpretByStatus } from './attempt-result.ts';
import { post } from './http-client.ts';
import { DeliveryError, type OutboundRequest, type OutboundResponse } from './request.ts';

export interface Destination {
  /** The name of its circuit. */
  name: string;
  /** The request that delivers an entry; nothing, if it does not need the entry. @throws DeliveryError: it is not set up */
  buildRequest(entry: Entry): OutboundRequest | undefined;
  /** The meaning of its response, if that differs from HTTP's rules. */
  interpret?: (response: OutboundResponse, entry: Entry) => AttemptResult;
  /** The receipt of the status that an entry reports, if the destination is to receive each status once. */
  receiptFor?: (entry: Entry) => StatusReceipt | undefined;
  /** The pause that it needs after an equal entry. */
  spacing?: (entry: Entry) => Spacing | undefined;
}

/** Attempts to deliver an entry. */
export const attempt = async (
  { buildRequest, interpret = interpretByStatus }: Destination,
  entry: Entry,
): Promise<AttemptResult> => {
  try {
    const request = buildRequest(entry);
    if (request === undefined) return { status: 'skipped' };
    return interpret(await post(request), entry);
  } catch (error) {
    if (error instanceof DeliveryError) return { status: 'retry', cause: error.reason };
    throw error;
  }
};

/** The name of the app network as a destination. */
export const APP_NETWORK_DESTINATION = 'app';

/** The name of a conversation's destination: the app network, or the account's platform. */
export const destinationNameOf = ({ direction, account }: Pick<Conversation, 'direction' | 'account'>): string =>
  direction === 'app' ? APP_NETWORK_DESTINATION : `platform#${account}`;

/** A state that is reported to a platform once. */
export interface StatusReceipt {
  /** The platform's id of the message; parts of one message share it. */
  id: string;
  /** How often the message was resent: each generation has statuses of its own. */
  generation: number;
  state: string;
  /** States after which this one is not reported any more. */
  neverAfter: string[];
  /** When this part of the message was accepted. */
  accepted: string;
  /**
   * Milliseconds that the platform needs after each response about the message: the one that accepts a part, and the one
   * to a state. A state that is reported earlier may be overwritten.
   */
  pauseMs: number;
  /** When the message expires, in seconds since 1970: its id there may belong to another one afterwards. */
  expires_at: number;
}

/** A pause that a destination needs after a call. */
export interface Spacing {
  /** Calls of the same subject are equal. A hash: neither number nor text can be read from it. */
  subject: string;
  pauseMs: number;
}
