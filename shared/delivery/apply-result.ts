/**
 * What follows from the result of an attempt. Only this module writes the circuit of a destination, and settles entries:
 *
 *     result                           entry                            circuit
 *     delivered, rejected, skipped,    leaves the outbox: `settle`      closes after a response
 *       withheld
 *     retry                            a retry is scheduled             counts a failure, which may open it; a refusal closes it
 *     retry of an expired entry        leaves the outbox, and fails     counts a failure
 *     rate_limited                     waits for the pause              pauses
 *     held (account suspended)         stays, for ten minutes           -
 *     disabled (410)                   waits until the webhook is set   -
 *
 * An entry of an account with endpoints has no attempt: it is copied for each of them, and leaves the outbox.
 */
import { now, scaled, sortableTime, timestamp } from '../core/clock.ts';
import { inParallel } from '../core/parallel.ts';
import type { AttemptResult, EarlyEnd } from '../destinations/attempt-result.ts';
import type { Destination, StatusReceipt } from '../destinations/destination.ts';
import { type After, dequeueWrite, transactInOrder } from '../outbox/entries.ts';
import { type Entry, eventIdOf, logFields, type OutboxEvent, subjectOf } from '../outbox/event.ts';
import { awaitDestination, awaitHours, type Head, scheduleRetry, triesBefore } from '../outbox/head.ts';
import type { ReasonCode, State } from '../outbox/message.ts';
import { type ReachedState, stateItem, stateWrites } from '../outbox/states.ts';
import { putIfAbsent, removeExisting } from '../table/client.ts';
import { putIfAbsentWrite, transact, transactionsFor, type Write } from '../table/transactions.ts';
import { log } from '../telemetry/log.ts';
import { measure } from '../telemetry/metrics.ts';
import { type AttemptContext, preflight } from './attempt.ts';
import { type CircuitState, isOpen } from './circuit-breaker.ts';
import { disable } from './disabled.ts';
import type { Attempt } from './history/attempt-item.ts';
import { keepAttempts, recordAttempts } from './history/record.ts';
import { pauseWrite } from './min-interval.ts';
import { endOfRefusals, expiryOf, isExpired, nextAttempt, pendingSince } from './retry-policy.ts';
import { receiptWrite } from './status-receipts.ts';

/** What became of an entry. */
export type Outcome =
  /** It has left the outbox, and this settled it, unless it was `gone` before. The circuit is in this state now. */
  | { type: 'settled' | 'gone'; circuit: CircuitState }
  /** Its conversation is retried at `at` (milliseconds since 1970). */
  | { type: 'retryScheduled'; cause: string; at: number }
  /** The destination has asked for a pause until `at`, or is paused already. */
  | { type: 'paused'; cause: string; at: number }
  /** Its conversation waits for a destination. */
  | { type: 'waiting'; cause: string };

/**
 * Settles an entry by the result of its attempt, or schedules a retry, records the requests in the history, and the result in
 * the destination's circuit. The circuit of a destination that listeners stand for does not change.
 *
 * @param receipt - the state that the requests reported, if it is recorded
 */
export const applyResult = async (
  context: AttemptContext,
  result: AttemptResult,
  receipt?: StatusReceipt,
): Promise<Outcome> => {
  const outcome = await applyToEntry(context, result, receipt);
  const { destination, breaker, exchanges } = context;
  if (!destination.isPull) await breaker.recordTime(exchanges.reduce((sum, one) => sum + one.ended - one.started, 0));
  return outcome;
};

const applyToEntry = async (
  context: AttemptContext,
  result: AttemptResult,
  receipt: StatusReceipt | undefined,
): Promise<Outcome> => {
  const { entry } = context;
  if (result.status === 'rate_limited') {
    const until = await pauseDestination(result, context);
    if (!isExpired(entry)) return retryAfterPause(until, result, context);
  }
  if (result.status === 'disabled') return disableDestination(context, result);
  if (result.status === 'held' && !isExpired(entry)) return hold(context, result.cause);
  if (result.status !== 'retry' || isExpired(entry)) return settleResult(context, result, receipt);
  const refused = result.isRefusal ? refusedSince(context) : undefined;
  if (refused !== undefined && endOfRefusals(refused) <= now()) {
    return settleResult(context, { status: 'rejected', cause: result.cause }, receipt);
  }
  return retryLater(context, result, refused);
};

/** Settles an entry, and records the result in the destination's circuit. */
const settleResult = async (
  context: AttemptContext,
  result: AttemptResult,
  receipt: StatusReceipt | undefined,
): Promise<Outcome> => {
  const { destination, entry, exchanges } = context;
  const attempts = attemptsOf(context, { result });
  const hasFailed = 'cause' in result;
  // The history is all that is left of an event that has failed, so the entry leaves the outbox after that.
  if (hasFailed) await keepAttempts(attempts);
  const began = exchanges.at(-1)?.started ?? now();
  const receipts = result.status === 'delivered' ? deliveryWrites(destination, entry, receipt, began) : [];
  // At the same time: the history delays nothing.
  const [isSettled] = await Promise.all([
    settle(entry, result, receipts),
    ...(hasFailed ? [] : [recordAttempts(attempts)]),
  ]);
  return { type: isSettled ? 'settled' : 'gone', circuit: await recordInCircuit(context, result) };
};

/** Results without a response of the destination: they say nothing about it. */
const NO_RESPONSES = new Set<AttemptResult['status']>(['skipped', 'held', 'withheld', 'internal_error']);

/** Records the result of a settled entry in the destination's circuit. Returns the state in which the circuit is now. */
const recordInCircuit = async (
  { destination, breaker, circuit }: AttemptContext,
  { status }: AttemptResult,
): Promise<CircuitState> => {
  if (destination.isPull || NO_RESPONSES.has(status)) return circuit;
  if (status === 'rate_limited') return breaker.acquire();
  if (status === 'retry') {
    if (!isOpen(circuit)) await breaker.recordFailure(circuit);
    return breaker.acquire();
  }
  await breaker.recordSuccess(circuit);
  return 'closed';
};

/** When the destination first refused this entry, in milliseconds since 1970. */
const refusedSince = ({ head, entry }: AttemptContext): number =>
  head.failed === entry.id && head.refusedAt !== undefined ? Date.parse(head.refusedAt) : now();

/** @param refused - when the destination first refused the entry, if it did, in milliseconds since 1970 */
const retryLater = async (
  context: AttemptContext,
  { cause, retryAfter, isRefusal }: Extract<AttemptResult, { status: 'retry' }>,
  refused: number | undefined,
): Promise<Outcome> => {
  const { destination, breaker, circuit, head, entry, exchanges } = context;
  const { attempts: before = 0 } = head;
  const attempts = isOpen(circuit) ? before : before + 1;
  const step = isOpen(circuit) ? circuit.until : nextAttempt(attempts, retryAfter);
  // The last attempt of a refused entry is made when its hour is over.
  const at = refused === undefined ? step : Math.min(step, endOfRefusals(refused));
  const tries = triesBefore(head, entry) + exchanges.length;
  await scheduleRetry(head, {
    ...{ until: at, since: pendingSince(entry), failed: entry.id, cause, attempts, tries },
    refusedAt: refused === undefined ? undefined : sortableTime(refused),
  });
  const names = { ...logFields(entry.outgoing), cause, reason: reasonOf(cause), attempts };
  measure('warn', 'retry scheduled', { ...names, retries_scheduled: 1 });
  if (!isOpen(circuit) && !destination.isPull) {
    // A destination that refuses an entry works: others of its conversations may continue.
    if (isRefusal) await breaker.recordSuccess(circuit);
    else await breaker.recordFailure(circuit, { cause, event: eventIdOf(entry) });
  }
  await recordAttempts(attemptsOf(context, { next: at }));
  return { type: 'retryScheduled', cause, at };
};

/** Shortest and longest pause of a destination that asks for fewer requests, in milliseconds. */
const PAUSE = { minMs: 1_000, maxMs: 600_000 };

/** Pauses a destination that has asked for fewer requests. It works, so this is no failure. Returns the pause's end. */
const pauseDestination = async (
  { wait }: Extract<AttemptResult, { status: 'rate_limited' }>,
  { destination: { isPull }, breaker, circuit }: AttemptContext,
): Promise<number> => {
  if (isOpen(circuit)) return circuit.until;
  const until = now() + Math.min(Math.max(wait, scaled(PAUSE.minMs)), scaled(PAUSE.maxMs));
  // Behind listeners, only this conversation pauses.
  if (!isPull) await breaker.pause(circuit, until);
  return until;
};

/** Schedules a retry of a conversation for the end of its destination's pause. */
const retryAfterPause = async (
  at: number,
  { cause }: Extract<AttemptResult, { status: 'rate_limited' }>,
  context: AttemptContext,
): Promise<Outcome> => {
  const { head, entry, exchanges } = context;
  const tries = triesBefore(head, entry) + exchanges.length;
  const { attempts = 0 } = head;
  await scheduleRetry(head, { until: at, since: pendingSince(entry), failed: entry.id, cause, attempts, tries });
  measure('info', 'rate limited', { ...logFields(entry.outgoing), cause, rate_limited: 1 });
  await recordAttempts(attemptsOf(context, { next: at }));
  return { type: 'paused', cause, at };
};

/** Milliseconds after which a conversation of a suspended account is looked at again. Its resumption makes it due at once. */
const HOLD_MS = 600_000;

/** Holds the conversation of a suspended account. This is no failed attempt, and concerns no destination's circuit. */
const hold = async ({ head, entry }: AttemptContext, cause: string): Promise<Outcome> => {
  const { id, outgoing } = entry;
  const at = now() + scaled(HOLD_MS);
  const since = pendingSince(entry);
  await scheduleRetry(head, { until: at, since, failed: id, cause, attempts: head.attempts ?? 0 });
  log('info', 'held', { ...logFields(outgoing), cause });
  return { type: 'retryScheduled', cause, at };
};

/** Disables the destination. Its entries wait, and are attempted when it is set again. */
const disableDestination = async (
  context: AttemptContext,
  { cause }: Extract<AttemptResult, { status: 'disabled' }>,
): Promise<Outcome> => {
  const { destination, head, entry } = context;
  await disable(destination, { account: head.conversation.account, cause, event: eventIdOf(entry) });
  await awaitDestination(head, { end: expiryOf(entry), since: entry.created, cause });
  await recordAttempts(attemptsOf(context, { waits: true }));
  return { type: 'waiting', cause };
};

/**
 * Has a conversation wait until the sending hours of an entry begin, or ends the entry if it must not be delivered. The
 * destination's circuit is not concerned.
 *
 * @param until - in milliseconds since 1970
 */
export const waitForHours = async (head: Head, entry: Entry, until: number): Promise<'waits' | 'settled' | 'gone'> => {
  const found = await preflight(entry);
  if (found.status === 'gone') return 'gone';
  if (found.status === 'withheld') return (await settle(entry, found, [])) ? 'settled' : 'gone';
  await awaitHours(head, entry, until);
  log('info', 'outside sending hours', { ...logFields(entry.outgoing), until: sortableTime(until) });
  return 'waits';
};

/** Has a conversation wait for a destination, or ends an entry that has waited as long as entries are retried. */
export const waitForDestination = async (context: AttemptContext): Promise<Outcome> => {
  const { destination, head, entry } = context;
  if ((await preflight(entry)).status === 'gone') return { type: 'gone', circuit: context.circuit };
  if (isExpired(entry)) return applyResult(context, { status: 'withheld', cause: 'no_platform' });
  const cause = destination.disabledBy ?? 'no_platform';
  await awaitDestination(head, { end: expiryOf(entry), since: entry.created, cause });
  return { type: 'waiting', cause };
};

/** How the attempts ended: with a result that settles the entry, with the time of the next attempt, or with a wait without one. */
type Ending = { result: AttemptResult } | { next: number } | { waits: true };

/**
 * The requests with an entry, for the history of a destination that has one. An entry that fails permanently without one,
 * because the circuit was open until its last day was over, also has an attempt in the history: so customers see it, and can
 * recover it.
 */
export const attemptsOf = (
  { destination, head, entry, exchanges }: Pick<AttemptContext, 'destination' | 'head' | 'entry' | 'exchanges'>,
  ending: Ending,
): Attempt[] => {
  if (!destination.hasHistory) return [];
  const before = triesBefore(head, entry);
  const result = 'result' in ending ? ending.result : undefined;
  const next = 'next' in ending ? ending.next : undefined;
  const cause = result && 'cause' in result ? result.cause : undefined;
  if (exchanges.length === 0) {
    if (cause === undefined) return [];
    return [{ entry, number: before, hasSucceeded: false, cause, at: now(), isFinal: true }];
  }
  return exchanges.map((exchange, index): Attempt => {
    const following = exchanges[index + 1];
    const due = following?.started ?? next;
    return {
      entry,
      number: before + index + 1,
      hasSucceeded: following === undefined && result?.status === 'delivered',
      exchange,
      at: exchange.started,
      isFinal: following === undefined && result !== undefined,
      ...(due !== undefined && { next: due }),
    };
  });
};

/** How many transactions settle expired entries at the same time. */
const AT_ONCE = 2;

/**
 * Settles entries that fail permanently without a request, because their circuit is open on their last day. After a long
 * outage there may be thousands in a conversation. 4 write units for each message to or of a user, 2 for others, and 1 for
 * the history of a destination that has one.
 *
 * @returns how many entries this settled
 */
export const expireEntries = async (
  entries: readonly Entry[],
  result: AttemptResult,
  { destination, head }: Pick<AttemptContext, 'destination' | 'head'>,
): Promise<number> => {
  let settled = 0;
  const parts = transactionsFor([...entries], { writes: 100 / SETTLED_TOGETHER, touched: (entry) => [entry] });
  await inParallel(parts, AT_ONCE, async (part) => {
    const attempts = part.flatMap((entry) => attemptsOf({ destination, head, entry, exchanges: [] }, { result }));
    await Promise.all(attempts.map((attempt) => keepAttempts([attempt])));
    const ended = await settleTogether(part, result);
    // Other parts end during the `await`.
    settled += ended;
  });
  return settled;
};

/** The further writes for a delivered entry: the receipt of a status, or the pause after a user's text. */
const deliveryWrites = (
  destination: Destination,
  entry: Entry,
  receipt: StatusReceipt | undefined,
  began: number,
): Write[] => {
  if (receipt) return [receiptWrite(subjectOf(entry.outgoing).account, receipt, began)];
  const minInterval = destination.minInterval?.(entry);
  return minInterval ? [pauseWrite(minInterval)] : [];
};

/**
 * Settles an entry: removes it, logs its state with the report of it, and writes the receipt of a status.
 *
 * A message that was delivered, and of which no platform is notified, takes two writes. Everything else takes one
 * transaction. The log has one key for all ends of sending (`outcomeKey`), so the first end stays:
 *
 *     log: delivered_to_server    remove the entry    settled
 *     log: delivered_to_server    crash               the entry is attempted again, with the same id; a later result
 *                                                     finds the outcome, and only removes the entry
 *     removed by an erasure,      log: fails          the outcome was logged with the removal, and stays
 *     with sending_failed
 *
 * If another worker
 * has already removed the entry, its state is already logged. A state that is already logged is neither logged nor reported
 * again. 2 write units, or 4 for a message that failed, 8 if the state is reported, 4 with a receipt.
 *
 * @returns whether this settled the entry
 */
export const settle = async (entry: Entry, result: AttemptResult, receipts: Write[]): Promise<boolean> => {
  const reached = stateOf(entry, result);
  const end =
    reached?.state === 'delivered_to_server' && !reached.message.reported
      ? await settleInTurn(entry, reached)
      : await settleAtOnce(entry, receipts, (after) => (reached ? stateWrites(reached, after) : []));
  if (end === 'settled') logResult(entry, result);
  return end !== 'gone';
};

/** Most entries that `settleTogether` settles: a transaction has at most 100 writes, and each entry needs two. */
export const SETTLED_TOGETHER = 50;

/** Whether `settleTogether` can settle an entry that has failed. */
export const canSettleTogether = ({ outgoing }: Entry): boolean =>
  !('message' in outgoing && outgoing.message.reported);

/**
 * As `settle`, for at most 50 failed entries without receipts whose states are not reported, in one transaction. If an
 * entry was settled before, each is settled by itself.
 *
 * @returns how many entries this settled
 */
const settleTogether = async (entries: Entry[], result: AttemptResult): Promise<number> => {
  const failed = await transact(
    entries.flatMap((entry) => {
      const reached = stateOf(entry, result);
      return [dequeueWrite(entry), ...(reached ? [putIfAbsentWrite(stateItem(reached))] : [])];
    }),
  );
  if (failed.length === 0) {
    for (const entry of entries) logResult(entry, result);
    return entries.length;
  }
  let settled = 0;
  for (const entry of entries) if (await settle(entry, result, [])) settled += 1;
  return settled;
};

/** The state that a message reaches by the result of an attempt, if it reaches one. */
const stateOf = (entry: Entry, result: AttemptResult): ReachedState | undefined => {
  const { outgoing } = entry;
  const cause = causeOf(result);
  // The log contains the result of the first delivery. A replay changes neither it nor the counters.
  const state = entry.replay === undefined ? stateAfter(outgoing, cause) : undefined;
  return state !== undefined && 'message' in outgoing
    ? { message: outgoing.message, state, created: timestamp(), reason_code: reasonCodeOf(result), reason: cause }
    : undefined;
};

const causeOf = (result: AttemptResult): string | undefined => ('cause' in result ? result.cause : undefined);

/**
 * - `settled`: this settled the entry.
 * - `known`: this removed the entry, whose result a worker had logged before it crashed.
 * - `gone`: another worker has settled the entry.
 */
type End = 'settled' | 'known' | 'gone';

/** Logs a delivery, and then removes the entry. */
const settleInTurn = async (entry: Entry, delivery: ReachedState): Promise<End> => {
  const isLogged = (await putIfAbsent(stateItem(delivery))) === undefined;
  const isRemoved = await removeExisting(entry);
  return isLogged || isRemoved ? 'settled' : 'gone';
};

/** Removes an entry in one transaction with other writes. If one of these was made before, they are left out. */
const settleAtOnce = async (entry: Entry, receipts: Write[], writesAfter: (after: After) => Write[]): Promise<End> => {
  const failed = await transactInOrder((after) => [dequeueWrite(entry), ...receipts, ...writesAfter(after)]);
  if (failed.length === 0) return 'settled';
  if (failed.includes(0)) return 'gone';
  return (await removeExisting(entry)) ? 'known' : 'gone';
};

/** Logs how an entry ended. */
const logResult = ({ outgoing, created }: Entry, result: AttemptResult): void => {
  const names = logFields(outgoing);
  const cause = causeOf(result);
  if (isEndedEarly(cause)) measure('info', 'ended early', { ...names, reason: cause, ended_early: 1 });
  else if (cause !== undefined) {
    measure('error', 'permanently failed', { ...names, cause, reason: reasonOf(cause), permanently_failed: 1 });
  } else if (result.status === 'delivered') {
    measure('info', 'delivered', {
      ...names,
      delivered: 1,
      delivery_ms: Math.max(now() - Date.parse(`${created}Z`), 0),
    });
  } else log('info', 'skipped', names);
};

/** Whether the business or the user wanted this end, or there is no destination: it is no failure of one. */
const isEndedEarly = (cause: string | undefined): cause is EarlyEnd | 'no_platform' =>
  cause === 'cancelled' || cause === 'expired' || cause === 'opted_out' || cause === 'no_platform';

/** A cause as a dimension of metrics. Statuses are grouped by their first digit, because each value costs a metric. */
const reasonOf = (cause: string): string => cause.replace(/^(status_\d)\d\d$/, '$1xx');

/** The reason code of a failed entry, for the log entry of its message. */
const reasonCodeOf = (result: AttemptResult): ReasonCode | undefined => {
  switch (result.status) {
    case 'rejected':
      return 'refused';
    case 'disabled':
    // Attempts were repeated for three days.
    case 'held':
    case 'retry':
    case 'rate_limited':
      return 'unreachable';
    case 'withheld':
      return result.cause;
    case 'internal_error':
      return 'unknown';
    default:
      return undefined;
  }
};

const stateAfter = ({ type }: OutboxEvent, cause: string | undefined): State | undefined => {
  if (type === 'message.send') return cause === undefined ? 'delivered_to_server' : 'sending_failed';
  return type === 'message.received' && cause !== undefined ? 'reception_failed_http' : undefined;
};
