/** What a receiver is: somebody outside that entries of an outbox are handed to, and what its answers mean. */
import type { Conversation } from '../messaging/events.ts';
import type { Entry } from '../messaging/outbox.ts';
import { judgeByStatus, type Outcome } from './attempt-result.ts';
import { post } from './http-client.ts';
import { type Answer, NoAnswer, type Posting } from './request.ts';

export interface Receiver {
  /** What its circuit is known by. */
  name: string;
  /** The call that hands an entry over; nothing, where it does not want to know. @throws NoAnswer — it is not set up */
  posting(entry: Entry): Posting | undefined;
  /** What its answer means, where that differs from other receivers'. */
  judge?: (answer: Answer, entry: Entry) => Outcome;
  /** What it is told by an entry, where it is to hear of it once, whichever entry tells it. */
  telling?: (entry: Entry) => Telling | undefined;
  /** The pause that it needs after an equal entry. */
  spacing?: (entry: Entry) => Spacing | undefined;
}

/** Tries to hand an entry over. */
export const attempt = async ({ posting, judge = judgeByStatus }: Receiver, entry: Entry): Promise<Outcome> => {
  try {
    const call = posting(entry);
    if (call === undefined) return { result: 'passed_over' };
    return judge(await post(call), entry);
  } catch (error) {
    if (error instanceof NoAnswer) return { result: 'again', cause: error.why };
    throw error;
  }
};

/** What the app network's circuit is known by. */
export const APP = 'app';

/** What the circuit of a conversation's receiver is known by: users' is one, each account's platform has its own. */
export const receiverNameOf = ({ direction, account }: Conversation): string =>
  direction === 'app' ? APP : `platform#${account}`;

/** A state that a platform is to be told once. */
export interface Telling {
  /** What the platform knows the message by; parts of one message have the same. */
  id: string;
  /** How often the message was resent: each generation has statuses of its own. */
  generation: number;
  state: string;
  /** States after which it is not to be told of this one any more. */
  never_after: string[];
  /** When this part of the message was accepted. */
  accepted: string;
  /**
   * Milliseconds that the platform needs after each response about the message: the one that accepts a part, and the one
   * to a state. What it is told earlier may be overwritten.
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
