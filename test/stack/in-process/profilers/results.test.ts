/**
 * Results of profilers, step by step: they equal the remaining answers, in any order of answers, counts and removals.
 *
 * @module-tag long
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { registerUser } from '../../../../infra/operator/queries/users-admin.ts';
import type { AnswerItem } from '../../../../shared/profilers/answer.ts';
import { recordAnswer } from '../../../../shared/profilers/answers.ts';
import { answerKey, answersOf, resultsOf } from '../../../../shared/profilers/entities.ts';
import { createProfiler } from '../../../../shared/profilers/profilers.ts';
import { type CountableAnswer, countAnswers, readResults, removeAnswer } from '../../../../shared/profilers/results.ts';
import { CounterShards } from '../../../../shared/stats/counter-shards.ts';
import type { Key } from '../../../../shared/table/keys.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { consumedBy } from '../../support/consumed.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { itemsOf } from '../../support/whole-table.ts';
import { newAccountId, newPhone } from '../../support/world.ts';

useOwnTable('results');
captureLog();

const answersTo = (profiler: string) => itemsOf<AnswerItem>({ pk: answersOf(profiler) });

const panelists = Promise.withResolvers<string[]>();

/** Four registered panelists, for all tests. */
const somePanelists = async (): Promise<string[]> => {
  const phones = Array.from({ length: 4 }, newPhone);
  for (const phone_number of phones) await registerUser({ phone_number, panelist: true });
  panelists.resolve(phones);
  return phones;
};

const newProfiler = async () => {
  const account = newAccountId();
  const { id, options } = await createProfiler(account, { question: 'Well?', options: ['yes', 'no'] });
  return { account, id, options: options.map((option) => option.id) };
};

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('answer' as const), who: fc.nat(3), what: fc.nat(1) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('count' as const), late: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), who: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.constant({ do: 'all at once' as const }) },
);

test('results always equal the counted answers that are left, and no counter is negative', async () => {
  const phones = await somePanelists();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
      const { account, id, options } = await newProfiler();
      // What the stream has delivered so far: it may repeat anything.
      const seen: CountableAnswer[] = [];
      const count = async (late: boolean) => {
        const items = await answersTo(id);
        if (!late) seen.push(...items);
        await countAnswers(late ? seen : items, new CounterShards());
      };
      const remove = (who: number) => removeAnswer(answerKey(id, phones[who] ?? ''));
      for (const one of steps) {
        if (one.do === 'answer') {
          const given = { profiler_id: id, option_id: options[one.what] ?? '', phone_number: phones[one.who] ?? '' };
          await recordAnswer(account, given).catch(({ code }) => expect(code).toBe('already_answered'));
        }
        if (one.do === 'count') await count(one.late);
        if (one.do === 'remove') await remove(one.who);
        if (one.do === 'all at once') await Promise.all([count(false), count(true), remove(0), remove(1)]);
      }
      const left = await answersTo(id);
      const counted = left.filter((item) => item.counted === true);
      const results = await readResults(account, id);
      expect(results.options.map(({ id: option, count: number }) => [option, number])).toEqual(
        options.map((option) => [option, counted.filter(({ option_id }) => option_id === option).length]),
      );
      for (const { count: number } of await itemsOf<Key & { count: number }>({ pk: resultsOf(id) })) {
        expect(number).toBeGreaterThanOrEqual(0);
      }
      await count(false);
      expect((await readResults(account, id)).total).toBe(left.length);
    }),
    { numRuns: 12 },
  );
});

test.skipIf(process.env.DYNAMODB_ENDPOINT)(
  'counting an answer costs 2 write units and 2 for its counter, and the results 1.5 read units',
  async () => {
    const { account, id, options } = await newProfiler();
    for (const phone_number of await panelists.promise) {
      await recordAnswer(account, { profiler_id: id, option_id: options[0] ?? '', phone_number });
    }
    const answers = await answersTo(id);
    expect(await consumedBy(() => countAnswers(answers))).toMatchObject({ calls: 1, table: 4 * 2 + 2 });
    expect(await consumedBy(() => readResults(account, id))).toMatchObject({ calls: 2, table: 1.5 });
    const [first = { pk: '', sk: '' }] = answers;
    // The read, and two writes in a transaction.
    expect(await consumedBy(() => removeAnswer(first))).toMatchObject({ calls: 2, table: 1 + 2 + 2 });
  },
);
