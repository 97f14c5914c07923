/** A channel between a chat platform and the service, such as a number: its messages, and its responses to calls. */

import { HTTPException } from 'hono/http-exception';
import { type Outcome, respondByRule, time } from '../calls.ts';
import { FaultRules } from '../fault-rules.ts';
import type { CallEnd } from '../http.ts';
import type { IncomingCall } from '../server.ts';

/** A call of the service. */
interface Call {
  /** The last segment of the path. */
  address: string;
  body: string;
  status: Outcome;
  /** Whether the platform recognised it as a repeat. */
  duplicate: boolean;
  time: string;
}

/** A status that the service reported. */
interface Status {
  id: string;
  status: string;
}

/** A valid call. */
interface ValidCall {
  /** The phone that it is about, for rules with a phone. */
  phone?: string;
  /** Accepts it, and returns the normal response. @throws HTTPException — it is rejected after all */
  accept: () => Response | Promise<Response>;
}

/**
 * Validates a call.
 *
 * @throws HTTPException — it is rejected, before fault rules apply
 */
export type CallReader = (call: Call) => ValidCall;

export interface ChannelOptions {
  /** Returns a number from 0 to below 1, for fault rules with a share. */
  random: () => number;
  /** Aborted when the simulator closes. */
  closing: AbortSignal;
  /** The fault rules of all channels, which come before the channel's own. */
  platformRules: FaultRules;
}

export class Channel<Received, Sent> {
  readonly faultRules: FaultRules;
  readonly #closing: AbortSignal;
  readonly #platformRules: FaultRules;
  /** Users' messages, in order. */
  received: Received[] = [];
  /** The service's reports, in order. */
  statuses: Status[] = [];
  /** The channel's own messages, in order. */
  sent: Sent[] = [];
  calls: Call[] = [];

  constructor({ random, closing, platformRules }: ChannelOptions) {
    this.faultRules = new FaultRules(random);
    this.#closing = closing;
    this.#platformRules = platformRules;
  }

  /** Records a call, and decides how it ends. */
  async respond(address: string, call: IncomingCall, read: CallReader): Promise<CallEnd> {
    const record: Call = { address, body: call.body.toString(), status: null, duplicate: false, time: time() };
    this.calls.push(record);
    try {
      const { phone, accept } = read(record);
      const rule = this.#platformRules.match(phone) ?? this.faultRules.match(phone) ?? {};
      const attempt = async () => accept();
      const acceptOrError = () => attempt().catch(errorResponse);
      return await respondByRule({ rule, call, closing: this.#closing, record, accept: acceptOrError });
    } catch (error) {
      const response = errorResponse(error);
      record.status = response.status;
      return response;
    }
  }

  /** Deletes the records. State that responses depend on stays. */
  clear(): void {
    this.received = [];
    this.statuses = [];
    this.sent = [];
    this.calls = [];
  }
}

const errorResponse = (error: unknown): Response => {
  if (error instanceof HTTPException) return error.getResponse();
  throw error;
};
