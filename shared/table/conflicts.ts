/** Retries of writes that conflict with a transaction, and the failed conditions of a cancelled transaction. */
import { setTimeout as pause } from 'node:timers/promises';
import { TransactionCanceledException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { between } from '../core/clock.ts';

/**
 * Attempts of a write that conflicts with a transaction, and the first and the longest mean pause between attempts, in
 * milliseconds. Together at most 5 s. With longer pauses, later writes would overtake.
 */
const CONFLICT = { attempts: 12, pause: 20, longest: 320 };

/**
 * Makes a write. If DynamoDB rejects it because a transaction is changing its items, retries after a random pause.
 *
 * @param onConflict - receives the indexes of the writes of a transaction that conflicted
 */
export const retryConflicts = async <Result>(
  write: () => Promise<Result>,
  onConflict: (places: number[]) => void = () => undefined,
): Promise<Result> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (!isConflict(error)) throw error;
      onConflict(placesOf(error, 'TransactionConflict'));
      if (attempt === CONFLICT.attempts) throw error;
    }
    await pause(between(0, Math.min(CONFLICT.pause * 2 ** attempt, 2 * CONFLICT.longest)));
  }
};

/** Whether a write failed only because of a concurrent transaction: no condition failed. */
const isConflict = (error: unknown): boolean => {
  if (error instanceof TransactionConflictException) return true;
  if (!(error instanceof TransactionCanceledException) || failedConditions(error).length > 0) return false;
  return placesOf(error, 'TransactionConflict').length > 0;
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
