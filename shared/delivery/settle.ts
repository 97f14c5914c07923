/** Settling: an entry leaves its outbox together with the state that its message reached. */
import { now, timestamp } from '../core/clock.ts';
import { type Entry, namesOf, type Outgoing, subjectOf } from '../messaging/events.ts';
import type { ReasonCode, State } from '../messaging/message.ts';
import { dequeueWrite, transactInOrder } from '../messaging/outbox.ts';
import { stateWrites } from '../messaging/states.ts';
import type { AttemptResult } from '../outbound/attempt-result.ts';
import type { Destination, StatusReceipt } from '../outbound/destination.ts';
import type { Write } from '../table/transactions.ts';
import { log } from '../telemetry/log.ts';
import { measure } from '../telemetry/metrics.ts';
import { pauseWrite } from './spacing.ts';
import { receiptWrite } from './status-receipts.ts';

/** What is written with a delivered entry: the receipt of a status, or the time of a user's text. */
export const deliveryWrites = (destination: Destination, entry: Entry, receipt: StatusReceipt | undefined): Write[] => {
  if (receipt) return [receiptWrite(subjectOf(entry.outgoing).account, receipt)];
  const spacing = destination.spacing?.(entry);
  return spacing ? [pauseWrite(spacing)] : [];
};

/**
 * Settles an entry in one transaction: removes it, logs its state with the report of it, and writes the receipt of a status.
 * If another worker removed the entry meanwhile, it is settled already and nothing is written. A state that is logged
 * already is not logged or reported again.
 * 4 write units, 8 if the state is reported, 4 with a receipt.
 *
 * @returns whether this settled the entry
 */
export const settle = async (entry: Entry, result: AttemptResult, receipts: Write[]): Promise<boolean> => {
  const { outgoing } = entry;
  const cause = 'cause' in result ? result.cause : undefined;
  const state = stateAfter(outgoing, cause);
  const reached =
    state !== undefined && 'message' in outgoing
      ? { message: outgoing.message, state, created: timestamp(), reason_code: reasonCodeOf(result), reason: cause }
      : undefined;
  const settled = await removeWith(entry, receipts, (after) => (reached ? stateWrites(reached, after) : []));
  if (settled) logResult(entry, result, cause);
  return settled;
};

/**
 * Removes an entry in one transaction with other writes, and leaves out those that were written before.
 *
 * @returns whether the entry was there
 */
const removeWith = async (
  entry: Entry,
  receipts: Write[],
  writesAfter: (after: string | undefined) => Write[],
): Promise<boolean> => {
  const failed = await transactInOrder((after) => [dequeueWrite(entry), ...receipts, ...writesAfter(after)]);
  if (failed.length === 0) return true;
  if (failed.includes(0)) return false;
  return removeWith(entry, receipts, () => []);
};

/** Logs how an entry ended. */
const logResult = ({ outgoing, created }: Entry, { status }: AttemptResult, cause: string | undefined): void => {
  const names = namesOf(outgoing);
  if (cause !== undefined) {
    measure('error', 'permanently failed', { ...names, cause, reason: reasonOf(cause), permanently_failed: 1 });
  } else if (status === 'delivered') {
    measure('info', 'delivered', {
      ...names,
      delivered: 1,
      delivery_ms: Math.max(now() - Date.parse(`${created}Z`), 0),
    });
  } else log('info', 'skipped', names);
};

/** A cause as metrics tell it apart: destinations return any status, and each one would be another metric. */
// Stryker disable next-line Regex: A cause ends with three digits or has none.
export const reasonOf = (cause: string): string => cause.replace(/^(status_\d)\d\d$/, '$1xx');

/** Why an entry has failed, as its message's log entry stores it. */
const reasonCodeOf = (result: AttemptResult): ReasonCode | undefined => {
  switch (result.status) {
    case 'rejected':
      return 'refused';
    // Attempts were repeated for three days.
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
