/** A chat platform's line to the service, a channel or a number: what came over it, and how its calls are answered. */

import { answerAsTold, type Outcome, time } from '../calls.ts';
import { Behaviour } from '../fault-rules.ts';
import { type Answer, HttpRefusal, type Reply, replyTo } from '../http.ts';
import type { Request } from '../server.ts';

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
  /** Takes it, and answers as is normal. @throws HttpRefusal — it cannot be taken after all */
  take: () => Reply | Promise<Reply>;
}

/**
 * Looks at a call, and says how it is taken.
 *
 * @throws HttpRefusal — it is refused, whatever the line was told
 */
export type Reading = (call: Call) => Taking;

export interface LineOptions {
  /** Rolls a number from 0 to below 1. */
  random: () => number;
  /** Aborted when the simulator closes. */
  closing: AbortSignal;
}

export class Line<Received, Sent> {
  readonly behaviour: Behaviour;
  readonly #closing: AbortSignal;
  /** Users' messages, in order. */
  received: Received[] = [];
  /** In the order in which they came. */
  statuses: Status[] = [];
  /** The line's own messages, in order. */
  sent: Sent[] = [];
  calls: Call[] = [];

  constructor({ random, closing }: LineOptions) {
    this.behaviour = new Behaviour(random);
    this.#closing = closing;
  }

  /** Notes a call and answers it. */
  async answer(address: string, request: Request, read: Reading): Promise<Answer> {
    const call: Call = { address, body: request.body.toString(), status: null, duplicate: false, time: time() };
    this.calls.push(call);
    try {
      const { phone, take } = read(call);
      const rule = this.behaviour.ruleFor(phone);
      const attempt = async () => take();
      return await answerAsTold({ rule, request, closing: this.#closing, call, take: () => attempt().catch(refused) });
    } catch (error) {
      const reply = refused(error);
      call.status = reply.status;
      return reply;
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

const refused = (error: unknown): Reply => {
  if (error instanceof HttpRefusal) return replyTo(error);
  throw error;
};
