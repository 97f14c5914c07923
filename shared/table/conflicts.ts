/** Retries of writes that conflict with a transaction or are throttled, and the failed conditions of a cancelled transaction. */
import { setTimeout as pause } from 'node:timers/promises';
import { TransactionCanceledException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { between } from '../core/clock.ts';
import { isThrottling } from '../core/retryable-errors.ts';

/**
 * Attempts of a write that conflicts with a transaction, and of a transaction that the table throttles: the SDK repeats other
 * calls that are throttled, and makes as many attempts, but no cancelled transaction.
 */
const ATTEMPTS = { conflict: 12, throttling: 3 };

/**
 * The first and the longest mean pause between attempts, in milliseconds: at most 5 s for conflicts, and 0.6 s for throttling,
 * which lasts longer than a conflict. With longer pauses, later writes would overtake.
 */
const PAUSES = { conflict: { first: 20, longest: 320 }, throttling: { first: 100, longest: 200 } };

let throttled = 0;

/** How many attempts of writes of this process the table has throttled so far, without those that the SDK repeats itself. */
export const throttledAttempts = (): number => throttled;

/**
 * Makes a write. If DynamoDB rejects it because a transaction is changing its items, or cancels a transaction because it
 * throttles a write, retries after a random pause.
 *
 * @param onConflict - receives the indexes of the writes of a transaction that conflicted
 */
export const retryRejected = async <Result>(
  write: () => Promise<Result>,
  onConflict: (places: number[]) => void = () => undefined,
): Promise<Result> => {
  const made = { conflict: 0, throttling: 0 };
  for (;;) {
    let reason: keyof typeof ATTEMPTS | undefined;
    try {
      return await write();
    } catch (error) {
      if (isThrottling(error)) throttled += 1;
      reason = passingReason(error);
      if (reason === undefined) throw error;
      if (reason === 'conflict') onConflict(placesOf(error, 'TransactionConflict'));
      made[reason] += 1;
      if (made[reason] === ATTEMPTS[reason]) throw error;
    }
    const { first, longest } = PAUSES[reason];
    await pause(between(0, Math.min(first * 2 ** made[reason], 2 * longest)));
  }
};

/** Why a write may succeed soon, although the SDK does not repeat it. No condition failed. */
const passingReason = (error: unknown): keyof typeof ATTEMPTS | undefined => {
  if (error instanceof TransactionConflictException) return 'conflict';
  if (!(error instanceof TransactionCanceledException) || failedConditions(error).length > 0) return undefined;
  if (placesOf(error, 'TransactionConflict').length > 0) return 'conflict';
  return isThrottling(error) ? 'throttling' : undefined;
};

/** The indexes of the writes of a transaction that were cancelled for a reason. */
const placesOf = (error: unknown, reason: string): number[] =>
  error instanceof TransactionCanceledException
    ? (error.CancellationReasons ?? []).flatMap(({ Code }, place) => (Code === reason ? [place] : []))
    : [];

/** A write whose condition failed: its index in the transaction, and the present item if the write asks for it. */
export interface FailedCondition {
  place: number;
  item?: Record<string, unknown>;
}

export const failedConditions = ({ CancellationReasons = [] }: TransactionCanceledException): FailedCondition[] =>
  CancellationReasons.flatMap(({ Code, Item }, place) =>
    Code === 'ConditionalCheckFailed' ? [{ place, ...(Item && { item: unmarshall(Item) }) }] : [],
  );
