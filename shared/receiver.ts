/** What a receiver is: somebody outside that entries of an outbox are handed to, and what its answers mean. */
import type { Entry } from './outbox.ts';
import { type Answer, NoAnswer, type Posting, post, retryAfterIn } from './post.ts';

/** What became of one attempt. A refusal is for good; what is to be sent again may say after how many milliseconds. */
export type Outcome =
  | { result: 'taken' }
  | { result: 'refused'; cause: string }
  | { result: 'again'; cause: string; retryAfter?: number };

export interface Receiver {
  /** What its circuit is known by. */
  name: string;
  /** The call that hands an entry over; nothing, where it does not want to know. @throws NoAnswer — it is not set up */
  posting(entry: Entry): Posting | undefined;
  /** What its answer means, where that differs from other receivers'. */
  judge?: (answer: Answer) => Outcome;
}

/** Tries to hand an entry over. */
export const attempt = async ({ posting, judge = judgeByStatus }: Receiver, entry: Entry): Promise<Outcome> => {
  try {
    const call = posting(entry);
    if (call === undefined) return { result: 'taken' };
    return judge(await post(call));
  } catch (error) {
    if (error instanceof NoAnswer) return { result: 'again', cause: error.why };
    throw error;
  }
};

/** 4xx that ask for patience. */
const LATER = new Set([408, 425, 429]);

/** As HTTP has it. A redirect is not followed: it waits for someone to set the address right. */
const judgeByStatus = (answer: Answer): Outcome => {
  const { status } = answer;
  const cause = `status_${status}`;
  if (status >= 200 && status < 300) return { result: 'taken' };
  if (status >= 400 && status < 500 && !LATER.has(status)) return { result: 'refused', cause };
  const retryAfter = retryAfterIn(answer);
  return { result: 'again', cause, ...(retryAfter !== undefined && { retryAfter }) };
};
