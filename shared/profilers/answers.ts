/** Panelists' answers to profilers (spec §4.2). */

import { timestamp } from '../core/clock.ts';
import { Problem } from '../core/problems.ts';
import { page, putIfAbsent, removeAll } from '../table/client.ts';
import { answerKey, answersOf, type Key, ofPerson, profilerIdOf } from '../table/keys.ts';
import { isPanelist } from '../users/users.ts';
import { answersRemoved, readProfiler } from './profilers.ts';

export interface Answer {
  profiler_id: string;
  option_id: string;
  phone_number: string;
}

interface AnswerItem extends Key {
  option_id: string;
  created: string;
  gsi2pk: string;
  gsi2sk: string;
}

/**
 * Records one answer. The first answer is final: repeating it changes nothing.
 * 2 write units (the table and the index by person) and 1.5 read units.
 *
 * @throws profiler_not_found — unknown, or another account's (the same error: spec §4.2, rule 2)
 * @throws option_not_found — not an option of this profiler
 * @throws panelist_not_found — the number is not a registered panelist's
 * @throws already_answered — this panelist chose another option before (spec §4.2, rule 1)
 */
export const recordAnswer = async (account: string, answer: Answer): Promise<void> => {
  const [profiler, isRegistered] = await Promise.all([
    readProfiler(account, answer.profiler_id),
    isPanelist(answer.phone_number),
  ]);
  if (!profiler.options.some((option) => option.id === answer.option_id)) {
    throw new Problem('option_not_found', 'This profiler has no option with this option_id.');
  }
  if (!isRegistered) {
    throw new Problem('panelist_not_found', 'phone_number does not belong to a registered panelist.');
  }
  const created = timestamp();
  const item: AnswerItem = {
    ...answerKey(answer.profiler_id, answer.phone_number),
    option_id: answer.option_id,
    created,
    ...ofPerson(answer.phone_number, created),
  };
  const first = await putIfAbsent(item);
  if (first && first.option_id !== item.option_id) {
    throw new Problem(
      'already_answered',
      'This panelist chose another option of this profiler; the first answer is final.',
    );
  }
};

/**
 * Removes one page of a deleted profiler's answers; after the last page its tombstone is no longer due.
 *
 * @param tombstone - key of the deleted profiler
 * @returns how many answers were removed, and whether that was all
 */
export const removeAnswers = async (tombstone: Key): Promise<{ removed: number; finished: boolean }> => {
  const { items, next } = await page<Key>({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': answersOf(profilerIdOf(tombstone)) },
    ProjectionExpression: 'pk, sk',
    // Stryker disable next-line BooleanLiteral: The embedded database always reads consistently.
    ConsistentRead: true,
  });
  await removeAll(items);
  if (next === undefined) await answersRemoved(tombstone);
  return { removed: items.length, finished: next === undefined };
};
