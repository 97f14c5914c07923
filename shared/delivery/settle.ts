/**
 * Settling: an entry leaves its outbox, and the state of its message is logged.
 *
 * A message that was delivered, and of which no platform is notified, takes two writes. Everything else takes one
 * transaction. The log has one key for all ends of sending (`outcomeKey`), so the first end stays:
 *
 *     log: delivered_to_server    remove the entry    settled
 *     log: delivered_to_server    crash               the entry is attempted again, with the same id; a later result
 *                                                     finds the outcome, and only removes the entry
 *     removed by an erasure,      log: fails          the outcome was logged with the removal, and stays
 *     with sending_failed
 */
import { now, timestamp } from '../core/clock.ts';
import { type Entry, namesOf, type Outgoing, subjectOf } from '../messaging/events.ts';
import type { ReasonCode, State } from '../messaging/message.ts';
import { dequeueWrite, transactInOrder } from '../messaging/outbox.ts';
import { type ReachedState, stateItem, stateWrites } from '../messaging/states.ts';
import type { AttemptResult, EarlyEnd } from '../outbound/attempt-result.ts';
import type { Destination, StatusReceipt } from '../outbound/destination.ts';
import { putIfAbsent, removeExisting } from '../table/client.ts';
import { transact, transactionsFor, type Write } from '../table/transactions.ts';
import { log } from '../telemetry/log.ts';
import { measure } from '../telemetry/metrics.ts';
import { pauseWrite } from './spacing.ts';
import { receiptWrite } from './status-receipts.ts';

/** The further writes for a delivered entry: the receipt of a status, or the pause after a user's text. */
export const deliveryWrites = (
  destination: Destination,
  entry: Entry,
  receipt: StatusReceipt | undefined,
  began: number,
): Write[] => {
  if (receipt) return [receiptWrite(subjectOf(entry.outgoing).account, receipt, began)];
  const spacing = destination.spacing?.(entry);
  return spacing ? [pauseWrite(spacing)] : [];
};

/**
 * Settles an entry: removes it, logs its state with the report of it, and writes the receipt of a status. If another worker
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

/** Divides entries into those that `settleTogether` settles at a time. */
export const settledTogether = (entries: Entry[]): Entry[][] =>
  transactionsFor(entries, { writes: 100 / SETTLED_TOGETHER, touched: (entry) => [entry] });

/** Whether `settleTogether` can settle an entry that has failed. */
export const canSettleTogether = ({ outgoing }: Entry): boolean =>
  !('message' in outgoing && outgoing.message.reported);

/**
 * As `settle`, for at most 50 failed entries without receipts whose states are not reported, in one transaction. If an
 * entry was settled before, each is settled by itself.
 *
 * @returns how many entries this settled
 */
export const settleTogether = async (entries: Entry[], result: AttemptResult): Promise<number> => {
  const failed = await transact(
    entries.flatMap((entry) => {
      const reached = stateOf(entry, result);
      return [dequeueWrite(entry), ...(reached ? stateWrites(reached, undefined) : [])];
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
const settleAtOnce = async (
  entry: Entry,
  receipts: Write[],
  writesAfter: (after: string | undefined) => Write[],
): Promise<End> => {
  const failed = await transactInOrder((after) => [dequeueWrite(entry), ...receipts, ...writesAfter(after)]);
  if (failed.length === 0) return 'settled';
  if (failed.includes(0)) return 'gone';
  return (await removeExisting(entry)) ? 'known' : 'gone';
};

/** Logs how an entry ended. */
const logResult = ({ outgoing, created }: Entry, result: AttemptResult): void => {
  const names = namesOf(outgoing);
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
export const reasonOf = (cause: string): string => cause.replace(/^(status_\d)\d\d$/, '$1xx');

/** The reason code of a failed entry, for the log entry of its message. */
const reasonCodeOf = (result: AttemptResult): ReasonCode | undefined => {
  switch (result.status) {
    case 'rejected':
      return 'refused';
    case 'disabled':
    // Attempts were repeated for `RETRY_DAYS`.
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

const stateAfter = ({ type }: Outgoing, cause: string | undefined): State | undefined => {
  if (type === 'message.send') return cause === undefined ? 'delivered_to_server' : 'sending_failed';
  return type === 'message.received' && cause !== undefined ? 'reception_failed_http' : undefined;
};
