/** Status receipts: a chat platform is notified of each state of a message once. */

import { now, scaled } from '../core/clock.ts';
import type { StatusReceipt } from '../outbound/destination.ts';
import { hasExpired, page } from '../table/client.ts';
import { type Key, statusReceiptKey } from '../table/keys.ts';
import { putWrite, type Write } from '../table/transactions.ts';

interface StatusReceiptItem extends Key {
  generation?: number;
  /** When it was reported, in milliseconds since 1970. */
  reported?: number;
  expires_at: number;
}

/** Whether a state is still to be reported, and when at the earliest, in milliseconds since 1970. */
export interface ReportCheck {
  isNew: boolean;
  until: number;
}

/**
 * Checks whether a state is still to be reported. It is not if it was reported, or a state that it never follows, or a
 * state of a later generation. A report before the end of the pause after this part's acceptance does not count. 1 read
 * unit.
 */
export const checkReported = async (account: string, receipt: StatusReceipt): Promise<ReportCheck> => {
  const { id, generation, state, neverAfter, accepted, pauseMs } = receipt;
  const { items } = await page<StatusReceiptItem>({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': statusReceiptKey(account, id, generation, '').pk },
    // Stryker disable next-line BooleanLiteral: The embedded database always reads consistently.
    ConsistentRead: true,
  });
  const receipts = items.filter((item) => !hasExpired(item));
  const earliest = Date.parse(`${accepted}Z`) + scaled(pauseMs);
  const own = statusReceiptKey(account, id, generation, state).sk;
  const over = new Set(neverAfter.map((one) => statusReceiptKey(account, id, generation, one).sk));
  const isOld = receipts.some(
    ({ sk, generation: its = 0, reported = earliest }) =>
      its > generation || over.has(sk) || (sk === own && reported >= earliest),
  );
  const until = Math.max(earliest, ...receipts.map(({ reported = 0 }) => reported + scaled(pauseMs)));
  // Clocks differ: limit the wait to one pause.
  return { isNew: !isOld, until: Math.min(until, now() + scaled(pauseMs)) };
};

/** Whether a later pending state makes the report of this one needless. */
export const isSuperseded = ({ id, generation, state, neverAfter }: StatusReceipt, pending: StatusReceipt[]): boolean =>
  pending.some(
    (other) =>
      other.id === id &&
      (other.generation > generation ||
        (other.generation === generation && [state, ...neverAfter].includes(other.state))),
  );

/** The receipt of a state that was reported just now. 2 write units in the transaction that settles its entry. */
export const receiptWrite = (account: string, { id, generation, state, expires_at }: StatusReceipt): Write =>
  putWrite<StatusReceiptItem>({
    ...statusReceiptKey(account, id, generation, state),
    generation,
    reported: now(),
    expires_at,
  });
