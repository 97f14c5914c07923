/** Writes that meet a transaction on their items, and what a cancelled transaction reports. */
import { setTimeout as pause } from 'node:timers/promises';
import { TransactionCanceledException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { between } from '../core/clock.ts';

/**
 * How often a write is tried that meets a transaction on its items, and the first and the longest mean pause between, in
 * milliseconds: 5 s at the most. Longer pauses would leave the items free for later writes, which then overtake.
 */
const CONFLICT = { attempts: 12, pause: 20, longest: 320 };

/** Makes a write; again, after a random pause, if the table rejected it because a transaction was changing its items. */
export const retryConflicts = async <Result>(write: () => Promise<Result>): Promise<Result> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (!isConflict(error) || attempt === CONFLICT.attempts) throw error;
    }
    await pause(between(0, Math.min(CONFLICT.pause * 2 ** attempt, 2 * CONFLICT.longest)));
  }
};

/** Whether nothing was written because of a transaction under way, and no condition failed. */
const isConflict = (error: unknown): boolean => {
  if (error instanceof TransactionConflictException) return true;
  if (!(error instanceof TransactionCanceledException) || failedConditions(error).length > 0) return false;
  // Stryker disable next-line ArrayDeclaration: It never happens; only the compiler asks for it.
  return (error.CancellationReasons ?? []).some(({ Code }) => Code === 'TransactionConflict');
};

/** A write of a transaction whose condition failed: its place, and the item as it is, where the write asks for that. */
export interface FailedCondition {
  place: number;
  item?: Record<string, unknown>;
}

// Stryker disable next-line ArrayDeclaration: It never happens; only the compiler asks for it.
export const failedConditions = ({ CancellationReasons = [] }: TransactionCanceledException): FailedCondition[] =>
  CancellationReasons.flatMap(({ Code, Item }, place) =>
    Code === 'ConditionalCheckFailed' ? [{ place, ...(Item && { item: unmarshall(Item) }) }] : [],
  );
