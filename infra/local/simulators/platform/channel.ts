/** A chat platform's channel to the service, such as a number: what came over it, and how its calls are answered. */

import { HTTPException } from 'hono/http-exception';
import { answerByRule, type Outcome, time } from '../calls.ts';
import { FaultRules } from '../fault-rules.ts';
import type { Answer } from '../http.ts';
import type { IncomingCall } from '../server.ts';

/** A call of the service. */
interface Call {
  /** The last segment of the address. */
  address: string;
  body: string;
  status: Outcome;
  /** Whether it was taken for a repeat of what came before. */
  duplicate: boolean;
  time: string;
}

/** What the service reports of a message. */
interface Status {
  id: string;
  status: string;
}

/** A call that may be taken. */
interface Taking {
  /** Whom it is about, for rules that are for one phone only. */
  phone?: string;
  /** Takes it, and answers as is normal. @throws HTTPException — it cannot be taken after all */
  take: () => Response | Promise<Response>;
}

/**
 * Looks at a call, and says how it is taken.
 *
 * @throws HTTPException — it is refused, whatever the channel's rules are
 */
export type Reading = (call: Call) => Taking;

export interface ChannelOptions {
  /** Rolls a number from 0 to below 1. */
  random: () => number;
  /** Aborted when the simulator closes. */
  closing: AbortSignal;
}

export class Channel<Received, Sent> {
  readonly faultRules: FaultRules;
  readonly #closing: AbortSignal;
  /** Users' messages, in order. */
  received: Received[] = [];
  /** In the order in which they came. */
  statuses: Status[] = [];
  /** The channel's own messages, in order. */
  sent: Sent[] = [];
  calls: Call[] = [];

  constructor({ random, closing }: ChannelOptions) {
    this.faultRules = new FaultRules(random);
    this.#closing = closing;
  }

  /** Records a call and answers it. */
  async answer(address: string, call: IncomingCall, read: Reading): Promise<Answer> {
    const record: Call = { address, body: call.body.toString(), status: null, duplicate: false, time: time() };
    this.calls.push(record);
    try {
      const { phone, take } = read(record);
      const rule = this.faultRules.ruleFor(phone);
      const attempt = async () => take();
      const refusing = () => attempt().catch(refused);
      return await answerByRule({ rule, call, closing: this.#closing, record, take: refusing });
    } catch (error) {
      const response = refused(error);
      record.status = response.status;
      return response;
    }
  }

  /** Forgets what is noted. What answers depend on stays. */
  forget(): void {
    this.received = [];
    this.statuses = [];
    this.sent = [];
    this.calls = [];
  }
}

const refused = (error: unknown): Response => {
  if (error instanceof HTTPException) return error.getResponse();
  throw error;
};
