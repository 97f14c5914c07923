/** Status receipts: what a chat platform was notified of, so that it shows the furthest state of a message. */

import { now, scaled } from '../core/clock.ts';
import type { StatusReceipt } from '../destinations/destination.ts';
import { isRepeatsKey, repeatsKey, statusReceiptKey } from '../messaging/entities.ts';
import type { RepeatsItem, StatusReceiptItem } from '../messaging/repeats.ts';
import { hasExpired, page } from '../table/client.ts';
import { putWrite, type Write } from '../table/transactions.ts';

/** What is still to be reported, and when at the earliest, in milliseconds since 1970. */
export interface ReportCheck {
  isNew: boolean;
  until: number;
  /** The state that is to be reported. */
  receipt: StatusReceipt;
}

/**
 * Checks which state is still to be reported. The platform overwrites what it shows when it has sent a part, or has repeated a
 * request: so reports from before the end of the pause after that do not count, and the furthest state is reported again.
 *
 *     part 1 accepted   part 1 fails   failed reported   part 2 accepted              part 2 sent
 *     |                 |              |                 |                            |
 *     v                 v              v                 v                            v
 *     shows wired                      shows failed      shows wired (overwritten)    failed reported again
 *
 * Nothing is reported of a message that was sent again. Otherwise a failure concerns the present generation: a Resend of all
 * parts does not send those again that have not failed. 1 read unit.
 */
export const checkReported = async (account: string, receipt: StatusReceipt): Promise<ReportCheck> => {
  const { id, state, neverAfter, accepted, pauseMs } = receipt;
  const { items } = await page<StatusReceiptItem | RepeatsItem>({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': repeatsKey(account, id).pk },
    ConsistentRead: true,
  });
  const present = items.filter((item) => !hasExpired(item));
  const repeats = present.find(isRepeats);
  const receipts = present.filter((item): item is StatusReceiptItem => !isRepeats(item));
  const generation = state === FAILED ? Math.max(receipt.generation, repeats?.generation ?? 0) : receipt.generation;
  const reportOf = (one: string) => receipts.find(({ sk }) => sk === statusReceiptKey(account, id, generation, one).sk);
  const shown = neverAfter.findLast((one) => reportOf(one) !== undefined) ?? state;
  const earliest = Math.max(Date.parse(`${accepted}Z`), repeats?.last ?? 0) + scaled(pauseMs);
  const isOld =
    repeats?.replaced.includes(receipt.message) ||
    receipts.some((one) => (one.generation ?? 0) > generation) ||
    (reportOf(shown)?.reported ?? 0) >= earliest;
  const until = Math.max(earliest, ...receipts.map(({ reported = 0 }) => reported + scaled(pauseMs)));
  return {
    isNew: !isOld,
    // Clocks differ: limit the wait to one pause.
    until: Math.min(until, now() + scaled(pauseMs)),
    receipt: { ...receipt, generation, state: shown },
  };
};

/** The state that a Resend may follow. */
const FAILED = 'failed';

const isRepeats = (item: StatusReceiptItem | RepeatsItem): item is RepeatsItem => isRepeatsKey(item);

/** Whether a later pending state makes the report of this one needless. Only a failure makes that of a failure needless. */
export const isSuperseded = ({ id, generation, state, neverAfter }: StatusReceipt, pending: StatusReceipt[]): boolean =>
  pending.some(
    (other) =>
      other.id === id &&
      other.generation >= generation &&
      ((other.generation > generation && state !== FAILED) || [state, ...neverAfter].includes(other.state)),
  );

/**
 * The receipt of a state that was reported in a request that began at `began` (milliseconds since 1970). 2 write units in the
 * transaction that settles its entry.
 */
export const receiptWrite = (
  account: string,
  { id, generation, state, expires_at }: StatusReceipt,
  began: number,
): Write =>
  putWrite<StatusReceiptItem>({
    ...statusReceiptKey(account, id, generation, state),
    generation,
    reported: now(),
    began,
    expires_at,
  });
