/** The conclusion from an attempt: its entry is settled, or a retry of its conversation is scheduled. */
import { now, scaled, sortableTime } from '../../core/clock.ts';
import type { AttemptResult } from '../../destinations/attempt-result.ts';
import type { StatusReceipt } from '../../destinations/destination.ts';
import { conversationOf } from '../../outbox/entities.ts';
import { eventIdOf, namesOf } from '../../outbox/event.ts';
import { awaitDestination, scheduleRetry, triesBefore } from '../../outbox/outbox.ts';
import { measure } from '../../telemetry/metrics.ts';
import { isOpen } from '../circuit-breaker.ts';
import { disable } from '../disabled.ts';
import { keepAttempts, recordAttempts } from '../history/record.ts';
import { endOfRefusals, expiryOf, isExpired, nextAttempt } from '../retry-policy.ts';
import { deliveryWrites, reasonOf, settle } from '../settle.ts';
import type { AttemptContext, Processed } from './attempt-entry.ts';
import { hold } from './clearance.ts';
import { attemptsOf } from './history.ts';

export interface ProcessedEntry {
  result: Processed | 'early' | 'offered' | 'waiting';
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
  if (result.status === 'disabled') return concludeDisabled(context, result);
  if (result.status === 'held' && !isExpired(entry)) {
    await hold(context.head, entry, result.cause);
    return { result, settled: 0, retry_scheduled: result.cause };
  }
  if (result.status === 'retry' && !isExpired(entry)) {
    const refused = result.isRefusal ? refusedSince(context) : undefined;
    if (refused !== undefined && endOfRefusals(refused) <= now()) {
      return conclude(context, { status: 'rejected', cause: result.cause }, receipt);
    }
    const next = await scheduleRetryAfter(result, context, refused);
    if (!isOpen(circuit) && !destination.isPulled) {
      // It works: others of its conversations may continue.
      if (result.isRefusal) await breaker.recordSuccess(circuit);
      else await breaker.recordFailure(circuit, { cause: result.cause, event: eventIdOf(entry) });
    }
    await recordAttempts(attemptsOf(context, { next }));
    return { result, settled: 0, retry_scheduled: result.cause, retry_at: next };
  }
  const attempts = attemptsOf(context, { result });
  // The history is all that is left of an event that has failed, so the entry leaves the outbox after that.
  if (isFailure(result)) await keepAttempts(attempts);
  const began = context.exchanges.at(-1)?.started ?? now();
  const receipts = result.status === 'delivered' ? deliveryWrites(destination, entry, receipt, began) : [];
  // At the same time: the history delays nothing.
  const [isSettled] = await Promise.all([
    settle(entry, result, receipts),
    ...(isFailure(result) ? [] : [recordAttempts(attempts)]),
  ]);
  return { result, settled: isSettled ? 1 : 0 };
};

/** Whether an entry has failed. */
const isFailure = (result: AttemptResult): boolean => 'cause' in result;

/** Disables the destination. Its entries wait, and are attempted when it is set again. */
const concludeDisabled = async (
  context: AttemptContext,
  result: Extract<AttemptResult, { status: 'disabled' }>,
): Promise<ProcessedEntry> => {
  const { destination, head, entry } = context;
  const { cause } = result;
  await disable(destination, { account: conversationOf(head).account, cause, event: eventIdOf(entry) });
  await awaitDestination(head, { end: expiryOf(entry), since: entry.created, cause });
  await recordAttempts(attemptsOf(context, { waits: true }));
  return { result: 'waiting', settled: 0, retry_scheduled: cause };
};

/** When the destination first refused this entry, in milliseconds since 1970. */
const refusedSince = ({ head, entry }: AttemptContext): number =>
  head.failed === entry.id && head.refused !== undefined ? Date.parse(head.refused) : now();

/** @param refused - when the destination first refused the entry, if it did, in milliseconds since 1970 */
const scheduleRetryAfter = async (
  { cause, retryAfter }: Extract<AttemptResult, { status: 'retry' }>,
  { circuit, head, entry, exchanges }: AttemptContext,
  refused: number | undefined,
): Promise<number> => {
  const { attempts: before = 0 } = head;
  const attempts = isOpen(circuit) ? before : before + 1;
  const step = isOpen(circuit) ? circuit.until : nextAttempt(attempts, retryAfter);
  // The last attempt is made when the hour is over.
  const until = refused === undefined ? step : Math.min(step, endOfRefusals(refused));
  const tries = triesBefore(head, entry) + exchanges.length;
  await scheduleRetry(head, {
    ...{ until, since: entry.created, failed: entry.id, cause, attempts, tries },
    refused: refused === undefined ? undefined : sortableTime(refused),
  });
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
