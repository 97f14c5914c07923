/** Panelists' answers to profilers. */

import { chargeUnknown, requireContacts } from '../accounts/allowances.ts';
import { timestamp } from '../core/clock.ts';
import { EXPORT_BYTES } from '../core/csv.ts';
import { Problem } from '../core/problems.ts';
import { page, putIfAbsent, removeAll } from '../table/client.ts';
import { recordDeletion } from '../table/deletion-markers.ts';
import { type Key, ofPerson } from '../table/keys.ts';
import { isPanelist } from '../users/users.ts';
import type { Answer, AnswerItem } from './answer.ts';
import { answerKey, answersOf, profilerIdOf } from './entities.ts';
import { type Answerable, answersRemoved, findAnswerable, hasOption, readProfiler } from './profilers.ts';
import { removeResults } from './results.ts';

/**
 * Records one answer. The first answer is final, and a repeat changes nothing.
 * 2 write units (the table and the index by person) and 2.5 read units. For a number that is not a panelist's, 3.5 read units,
 * and 1 write unit for the allowance.
 *
 * @throws profiler_not_found — unknown, or another account's (the same error)
 * @throws option_not_found — not an option of this profiler
 * @throws allowance_exceeded — the account has been told of too many numbers today
 * @throws panelist_not_found — the number is not a registered panelist's
 * @throws already_answered — the panelist chose another option before
 */
export const recordAnswer = async (account: string, answer: Answer): Promise<void> => {
  const [profiler] = await Promise.all([findAnswerable(account, answer.profiler_id), requireContacts(account, 1)]);
  checkOption(profiler, answer);
  if (!(await isPanelist(answer.phone_number))) {
    await chargeUnknown(account, 1);
    throw panelistNotFound();
  }
  await storeAnswer(answer);
};

/** @throws option_not_found — not an option of this profiler */
export const checkOption = (profiler: Answerable, { option_id }: Answer): void => {
  if (hasOption(profiler, option_id)) return;
  throw new Problem('option_not_found', 'This profiler has no option with this option_id.');
};

export const panelistNotFound = (): Problem =>
  new Problem('panelist_not_found', 'phone_number does not belong to a registered panelist.');

/**
 * Stores a panelist's answer to a profiler, unless there is one. 2 write units.
 *
 * @throws already_answered — the panelist chose another option before
 */
export const storeAnswer = async ({ profiler_id, option_id, phone_number }: Answer): Promise<void> => {
  const created = timestamp();
  const item: AnswerItem = {
    ...answerKey(profiler_id, phone_number),
    option_id,
    created,
    counted: false,
    ...ofPerson(phone_number, created),
  };
  const first = await putIfAbsent(item);
  if (first && first.option_id !== option_id) {
    throw new Problem(
      'already_answered',
      'This panelist chose another option of this profiler; the first answer is final.',
    );
  }
};

const ANSWER = answerKey('', '').sk;

/** The panelist's number, by the key of the answer. */
export const phoneOfAnswer = ({ sk }: Key): string => sk.slice(ANSWER.length);

/** An answer as the API returns it. */
export interface ListedAnswer {
  phone_number: string;
  option_id: string;
  option: string;
  created: string;
}

/**
 * A page of a profiler's answers, sorted by phone number: at most `limit`. `next` is the number of the last one, if more
 * follow. 1 read unit, and 1 for 4 KB of answers.
 *
 * @param after - the number of the last answer of the previous page
 * @throws profiler_not_found — unknown, deleted, or another account's
 */
export const listAnswers = async (
  account: string,
  profiler: string,
  limit: number,
  after = '',
): Promise<{ answers: ListedAnswer[]; next?: string }> => {
  const { options } = await readProfiler(account, profiler);
  const texts = new Map(options.map(({ id, option }) => [id, option]));
  const { items, next } = await page<AnswerItem>({
    KeyConditionExpression: 'pk = :pk AND sk > :after',
    ExpressionAttributeValues: { ':pk': answersOf(profiler), ':after': answerKey(profiler, after).sk },
    ConsistentRead: true,
    Limit: limit,
  });
  const answers = items.map(({ option_id, created, ...key }) => ({
    phone_number: phoneOfAnswer(key),
    option_id,
    option: texts.get(option_id) ?? '',
    created,
  }));
  const last = answers.at(-1)?.phone_number;
  return { answers, ...(next !== undefined && last !== undefined && { next: last }) };
};

/** Answers that are read at a time for an export, and from which a page ends. */
const [READ, MAX_EXPORTED] = [1_000, 5_000];

/**
 * A page of the answers to a profiler, for an export. Costs as much as `listAnswers` for each thousand.
 *
 * @param lineOf - returns the line of an answer, of which a page has at most `EXPORT_BYTES`
 * @param after - the number of the last answer of the previous page
 * @throws profiler_not_found — unknown, or another account's
 */
export const exportAnswers = async (
  account: string,
  profiler: string,
  lineOf: (answer: ListedAnswer) => string,
  after?: string,
): Promise<{ lines: string[]; next?: string }> => {
  const lines: string[] = [];
  for (let from = after, bytes = 0; ; ) {
    const { answers, next } = await listAnswers(account, profiler, READ, from);
    for (const answer of answers) {
      const line = lineOf(answer);
      bytes += Buffer.byteLength(line);
      const isFull = lines.length >= MAX_EXPORTED || bytes > EXPORT_BYTES;
      if (isFull && from !== undefined) return { lines, next: from };
      lines.push(line);
      from = answer.phone_number;
    }
    if (next === undefined) return { lines };
  }
};

/** Most answers that are removed in one piece of work: other accounts wait for it. */
const REMOVED = 1_000;

/**
 * Removes one page of a deleted profiler's answers. After the last page, it removes the results, and the tombstone is no
 * longer due. Each page begins with a deletion marker, so that no restore puts back answers that this page misses.
 *
 * @param tombstone - key of the deleted profiler
 * @returns the number of removed answers, and whether this was the last page
 */
export const removeAnswers = async (tombstone: Key): Promise<{ removed: number; finished: boolean }> => {
  const profiler = profilerIdOf(tombstone);
  await recordDeletion('profiler', profiler);
  const { items, next } = await page<Key>({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': answersOf(profiler) },
    ProjectionExpression: 'pk, sk',
    ConsistentRead: true,
    Limit: REMOVED,
  });
  await removeAll(items);
  if (next === undefined) {
    await removeResults(profiler);
    await answersRemoved(tombstone);
  }
  return { removed: items.length, finished: next === undefined };
};
