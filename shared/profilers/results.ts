/** Results of profilers: how many panelists have chosen each option. Counted once from the table's stream. */
import { CounterShards } from '../stats/counter-shards.ts';
import { addToCounterWrite, countOnce } from '../stats/counting.ts';
import { getConsistent, pages, removeAll } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { deleteWrite, transact, updateWrite, type Write } from '../table/transactions.ts';
import type { AnswerItem } from './answer.ts';
import { answeredProfilerOf, optionOfResult, resultKey, resultsOf } from './entities.ts';
import { readProfiler } from './profilers.ts';

/** The attributes of an answer that counting needs. */
export type CountableAnswer = Pick<AnswerItem, 'pk' | 'sk' | 'option_id' | 'created'>;

interface CounterItem extends Key {
  count: number;
}

/** The shards that this process adds to. */
const ofThisProcess = new CounterShards();

/**
 * Adds answers to the results of their profilers, each one once: `countOnce`.
 *
 * @returns the number of answers that were not counted before
 */
export const countAnswers = (answers: CountableAnswer[], shards = ofThisProcess): Promise<number> =>
  countOnce(answers, { counterOf, markWrite: markCountedWrite }, shards);

const counterOf = (answer: CountableAnswer, shard: number): Key =>
  resultKey(answeredProfilerOf(answer), answer.option_id, shard);

/** Marks this very answer as counted: an erased one may have been followed by one of the number's next owner. */
const markCountedWrite = ({ pk, sk, option_id, created }: CountableAnswer, shard: number): Write =>
  updateWrite({
    Key: { pk, sk },
    UpdateExpression: 'SET counted = :true, counted_in = :shard',
    ConditionExpression: 'option_id = :option AND created = :created AND counted = :false',
    ExpressionAttributeValues: {
      ':true': true,
      ':false': false,
      ':shard': shard,
      ':option': option_id,
      ':created': created,
    },
  });

/**
 * Removes an answer, in one transaction with its part of the results: of the shard that it was added to, so that no shard
 * becomes negative. 1 read unit, and 2 or 4 write units.
 *
 * @returns whether there was an answer
 */
export const removeAnswer = async (key: Key): Promise<boolean> => {
  for (;;) {
    const item = await getConsistent<AnswerItem>({ pk: key.pk, sk: key.sk });
    if (item === undefined) return false;
    const { pk, sk, option_id, created, counted, counted_in: shard = 0 } = item;
    const failed = await transact([
      deleteWrite(
        { pk, sk },
        {
          ConditionExpression: 'created = :created AND counted = :counted',
          ExpressionAttributeValues: { ':created': created, ':counted': counted },
        },
      ),
      ...(counted ? [addToCounterWrite(resultKey(answeredProfilerOf(item), option_id, shard), -1)] : []),
    ]);
    if (failed.length === 0) return true;
    // The answer was counted or removed in the meantime: read again.
  }
};

/** Removes the counters of a deleted profiler, by a consistent read: one that it missed would stay for ever. */
export const removeResults = async (profiler: string): Promise<void> => {
  for await (const counters of countersOf(profiler, true)) await removeAll(counters);
};

const countersOf = (profiler: string, ConsistentRead = false): AsyncGenerator<CounterItem[]> =>
  pages<CounterItem>({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': resultsOf(profiler) },
    ConsistentRead,
  });

/** The number of answers to a profiler, and of those to each of its options. */
export interface Results {
  total: number;
  options: { id: string; option: string; count: number }[];
}

/**
 * The results of a profiler, some two seconds late. 1 read unit, and 0.5 for 4 KB of counters: at most 16 shards for each
 * option.
 *
 * @throws profiler_not_found — unknown, deleted, or another account's
 */
export const readResults = async (account: string, profiler: string): Promise<Results> => {
  const { options } = await readProfiler(account, profiler);
  const counts = await countsOf(profiler);
  const each = options.map(({ id, option }) => ({ id, option, count: counts.get(id) ?? 0 }));
  return { total: each.reduce((sum, { count }) => sum + count, 0), options: each };
};

/** The number of answers, by option. */
export const countsOf = async (profiler: string): Promise<Map<string, number>> => {
  const counts = new Map<string, number>();
  for await (const counters of countersOf(profiler)) {
    for (const counter of counters) {
      const option = optionOfResult(counter);
      counts.set(option, (counts.get(option) ?? 0) + counter.count);
    }
  }
  return counts;
};
