/** What a receiver is: somebody outside that entries of an outbox are handed to, and what its answers mean. */

import type { Spacing } from '../delivery/spacing.ts';
import type { Telling } from '../delivery/status-receipts.ts';
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
