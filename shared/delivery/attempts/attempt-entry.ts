/** The attempt of an entry: after a check, with a second request shortly after one that failed. */
import { now, pause, scaled } from '../../core/clock.ts';
import { type Entry, namesOf } from '../../messaging/events.ts';
import type { Head } from '../../messaging/outbox.ts';
import { isOutdated } from '../../messaging/states.ts';
import { attempt } from '../../outbound/attempt.ts';
import type { AttemptResult } from '../../outbound/attempt-result.ts';
import type { Destination, Exchange } from '../../outbound/destination.ts';
import { describeError, log } from '../../telemetry/log.ts';
import { type Breaker, type CircuitState, isOpen, type Open } from '../circuit-breaker.ts';
import { isExpired } from '../retry-policy.ts';
import { checkBeforeAttempt } from './clearance.ts';

/** Milliseconds that must be left to begin an attempt: for the attempt itself, and to record its result. */
export const RESERVE_MS = 12_000;
/**
 * Milliseconds from the start of a failed attempt to the second one, before a retry of the conversation is scheduled,
 * and the least pause between the two. RapidPro treats the same text of the same sender as a repeat for at least 2 s
 * after it stored the first. So it recognises the second attempt if the first ended within 1.75 s; after a time-out of
 * 10 s, the second may count as a new message.
 */
const SECOND_TRY = { afterMs: 1_500, leastMs: 250 };

/** What is known of an attempt. */
export interface AttemptContext {
  destination: Destination;
  breaker: Breaker;
  circuit: CircuitState;
  head: Head;
  entry: Entry;
  /** The requests with the entry, oldest first: the attempt adds them. */
  exchanges: Exchange[];
}

export interface DeliveryContext extends AttemptContext {
  /** Entries that follow. */
  pending: Entry[];
  /** Whether the pause before the entry is over. */
  hasWaited: boolean;
  remaining: () => number;
}

/** The result of the attempt, or that the entry was gone before it was attempted. */
export type Processed = AttemptResult | 'gone';

/** Attempts an entry, unless the circuit is open or the destination is paused. */
export const attemptDelivery = async (context: DeliveryContext): Promise<Processed> => {
  const { circuit } = context;
  return isOpen(circuit) ? resultOf(circuit) : attemptWithRetry(context);
};

/** The result of an attempt that is not made, because the circuit is open or the destination is paused. */
export const resultOf = ({ cause, until }: Open): AttemptResult =>
  cause === 'rate_limited' ? { status: 'rate_limited', cause, wait: until - now() } : { status: 'retry', cause };

/** Attempts an entry, and once more shortly after a failure, unless the destination refuses it, or asks for a longer pause. */
const attemptWithRetry = async (context: DeliveryContext): Promise<Processed> => {
  const start = now();
  const first = await attemptIfClear(context);
  if (first === 'gone' || first.status !== 'retry' || first.isRefusal) return first;
  const wait = waitForSecondTry(first, start);
  if (wait === undefined || context.remaining() < RESERVE_MS + wait) return first;
  await pause(wait);
  return attemptIfClear(context);
};

/**
 * Milliseconds from now to the second attempt, after a first one that began at `start` and failed; undefined if the
 * destination asks for a longer pause.
 */
export const waitForSecondTry = (
  { retryAfter = 0 }: Extract<AttemptResult, { status: 'retry' }>,
  start: number,
): number | undefined =>
  retryAfter > scaled(SECOND_TRY.afterMs)
    ? undefined
    : Math.max(start + scaled(SECOND_TRY.afterMs) - now(), scaled(SECOND_TRY.leastMs));

/** Attempts an entry, unless the check before the attempt finds that it is gone, or must not be delivered. */
const attemptIfClear = async ({ destination, entry, exchanges }: DeliveryContext): Promise<Processed> => {
  const [clearance, isLate] = await Promise.all([checkBeforeAttempt(entry), isOutdated(entry)]);
  if (clearance.status === 'gone') return 'gone';
  if (isLate) return { status: 'skipped' };
  if (clearance.status === 'held') return { status: 'held', cause: 'account_suspended' };
  return clearance.status === 'withheld'
    ? { status: 'withheld', cause: clearance.cause }
    : attemptOnce(destination, clearance.entry, exchanges);
};

/**
 * Attempts an entry once. If our own code fails to build the request, the wake-up fails and becomes a dead letter, so
 * that a corrected version can deliver the entry within `RETRY_DAYS`. After that, the entry fails permanently, so that
 * it does not block its conversation for ever.
 */
const attemptOnce = async (destination: Destination, entry: Entry, exchanges: Exchange[]): Promise<AttemptResult> => {
  try {
    return await attempt(destination, entry, (exchange) => exchanges.push(exchange));
  } catch (error) {
    if (!isExpired(entry)) throw error;
    log('error', 'internal error', { ...namesOf(entry.outgoing), ...describeError(error) });
    return { status: 'internal_error', cause: 'unexpected_error' };
  }
};
