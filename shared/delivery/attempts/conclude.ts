/** The conclusion from an attempt: its entry is settled, or a retry of its conversation is scheduled. */
import { now, scaled } from '../../core/clock.ts';
import { recordAttempts } from '../../delivery-history/record.ts';
import { namesOf } from '../../messaging/events.ts';
import { scheduleRetry, triesBefore } from '../../messaging/outbox.ts';
import type { AttemptResult } from '../../outbound/attempt-result.ts';
import type { StatusReceipt } from '../../outbound/destination.ts';
import { measure } from '../../telemetry/metrics.ts';
import { isOpen } from '../circuit-breaker.ts';
import { isExpired, nextAttempt } from '../retry-policy.ts';
import { deliveryWrites, reasonOf, settle } from '../settle.ts';
import type { AttemptContext, Processed } from './attempt-entry.ts';
import { hold } from './clearance.ts';
import { attemptsOf } from './history.ts';

export interface ProcessedEntry {
  result: Processed | 'early' | 'offered';
  /** 1 if this settled the entry, else 0. */
  settled: number;
  /** Why the conversation is retried later, if it is. */
  retry_scheduled?: string;
  /** When the next attempt is due, in milliseconds since 1970, if a retry was scheduled. */
  retry_at?: number;
  /** When the destination's pause is over, in milliseconds since 1970, if it has asked for one. */
  paused_until?: number;
  /** For how many milliseconds to wait before the entry may be attempted, if it is too early. */
  wait?: number;
}

/**
 * Settles an entry by the result of its attempt, or schedules a retry, and records the requests in the history. The
 * circuit of a destination that listeners stand for does not change.
 */
export const conclude = async (
  context: AttemptContext,
  result: Processed,
  receipt?: StatusReceipt,
): Promise<ProcessedEntry> => {
  const { destination, breaker, circuit, entry } = context;
  if (result === 'gone') return { result, settled: 0 };
  if (result.status === 'rate_limited') {
    const paused_until = await pauseDestination(result, context);
    if (!isExpired(entry)) {
      await scheduleRetryAt(paused_until, result, context);
      await recordAttempts(attemptsOf(context, { next: paused_until }));
      return { result, settled: 0, retry_scheduled: result.cause, retry_at: paused_until, paused_until };
    }
  }
  if (result.status === 'held' && !isExpired(entry)) {
    await hold(context.head, entry, result.cause);
    return { result, settled: 0, retry_scheduled: result.cause };
  }
  if (result.status === 'retry' && !isExpired(entry)) {
    const next = await scheduleRetryAfter(result, context);
    if (!isOpen(circuit) && !destination.isPulled) await breaker.recordFailure(circuit);
    await recordAttempts(attemptsOf(context, { next }));
    return { result, settled: 0, retry_scheduled: result.cause, retry_at: next };
  }
  const receipts = result.status === 'delivered' ? deliveryWrites(destination, entry, receipt) : [];
  // At the same time: the history delays nothing.
  const [isSettled] = await Promise.all([
    settle(entry, result, receipts),
    recordAttempts(attemptsOf(context, { result })),
  ]);
  return { result, settled: isSettled ? 1 : 0 };
};

const scheduleRetryAfter = async (
  { cause, retryAfter }: Extract<AttemptResult, { status: 'retry' }>,
  { circuit, head, entry, exchanges }: AttemptContext,
): Promise<number> => {
  const { attempts: before = 0 } = head;
  const attempts = isOpen(circuit) ? before : before + 1;
  const until = isOpen(circuit) ? circuit.until : nextAttempt(attempts, retryAfter);
  const tries = triesBefore(head, entry) + exchanges.length;
  await scheduleRetry(head, { until, since: entry.created, failed: entry.id, cause, attempts, tries });
  measure('warn', 'retry scheduled', {
    ...namesOf(entry.outgoing),
    cause,
    reason: reasonOf(cause),
    attempts,
    retries_scheduled: 1,
  });
  return until;
};

/** Least and most milliseconds of the pause of a destination that asks for fewer requests. */
const PAUSE = { leastMs: 1_000, mostMs: 600_000 };

/** Pauses a destination that has asked for fewer requests. It works, so this is no failure. Returns the pause's end. */
const pauseDestination = async (
  { wait }: Extract<AttemptResult, { status: 'rate_limited' }>,
  { destination: { isPulled }, breaker, circuit }: AttemptContext,
): Promise<number> => {
  if (isOpen(circuit)) return circuit.until;
  const until = now() + Math.min(Math.max(wait, scaled(PAUSE.leastMs)), scaled(PAUSE.mostMs));
  // Only this conversation pauses.
  if (isPulled) return until;
  await breaker.pause(circuit, until);
  return until;
};

/** Schedules a retry of a conversation for the end of its destination's pause. */
const scheduleRetryAt = async (
  until: number,
  { cause }: Extract<AttemptResult, { status: 'rate_limited' }>,
  { head, entry, exchanges }: AttemptContext,
): Promise<void> => {
  await scheduleRetry(head, {
    until,
    since: entry.created,
    failed: entry.id,
    cause,
    attempts: head.attempts ?? 0,
    tries: triesBefore(head, entry) + exchanges.length,
  });
  measure('info', 'rate limited', { ...namesOf(entry.outgoing), cause, rate_limited: 1 });
};
