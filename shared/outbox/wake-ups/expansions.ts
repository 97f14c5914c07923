/**
 * Wake-ups of `expand`: each makes it look at the pending batches of an account. The wake-ups of an account are one group,
 * so that one worker at a time expands its batches.
 */
import * as v from 'valibot';
import { expansionQueueUrl } from '../../core/settings.ts';
import { traceId } from '../../telemetry/trace.ts';
import { RETURN_DELAY_S, returnIn, sendAll } from './queue.ts';

export interface ExpansionWakeUp {
  account: string;
  /** A batch that was just accepted: the index of pending batches may not contain it yet. */
  batch?: string | undefined;
  /** The rate at which the expansion continues, in messages per second. */
  rate?: number | undefined;
  /** When it was sent, in milliseconds since 1970, by the clock of the sender. */
  at: number;
  /** The deduplication id: for five minutes, the queue drops other wake-ups of the account with the same one. */
  once: string;
  /** Its trace. Default: the current one. */
  trace_id?: string | undefined;
}

/**
 * Sends wake-ups to the queue.
 *
 * @throws Error — some could not be sent; all can be sent again without harm
 */
export const wakeExpansions = async (wakeUps: ExpansionWakeUp[]): Promise<void> => {
  // Most functions that may wake expansions seldom do.
  if (wakeUps.length === 0) return;
  await sendAll(
    expansionQueueUrl(),
    wakeUps.map(({ once, trace_id = traceId(), ...wakeUp }) => ({
      body: JSON.stringify({ ...wakeUp, trace_id }),
      group: wakeUp.account,
      once,
    })),
  );
};

const wakeUp = v.object({
  account: v.string(),
  batch: v.optional(v.string()),
  rate: v.optional(v.number()),
  at: v.number(),
  trace_id: v.optional(v.string()),
});

/** Parses the body of a wake-up. */
export const readExpansionWakeUp = (body: string): Omit<ExpansionWakeUp, 'once'> => v.parse(wakeUp, JSON.parse(body));

/** Makes a failed wake-up visible again after 5 s, instead of at the end of the queue's visibility timeout. */
export const returnExpansionSoon = (receiptHandle: string): Promise<void> =>
  returnIn(expansionQueueUrl(), receiptHandle, RETURN_DELAY_S);
