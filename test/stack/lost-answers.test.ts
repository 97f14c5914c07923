/** A write that took effect, and whose answer was lost on the way: the client repeats it, and nobody may notice. */
import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { createAccount, listTokens, updateAccount } from '../../shared/accounts.ts';
import { recordAnswer } from '../../shared/answers.ts';
import { createProfiler, deleteProfiler, listProfilers } from '../../shared/profilers.ts';
import { documents } from '../../shared/table/client.ts';
import { newCaller, newPanelist, newPhone, newVendor } from './support/world.ts';

let lost = 0;
let losing = false;

/** Loses the first answer to each write, below the client's own attempts. */
documents.middlewareStack.add(
  (next, { commandName }) => {
    let attempts = 0;
    return async (args) => {
      attempts += 1;
      const result = await next(args);
      if (!losing || attempts > 1 || !/Put|Update|Transact/.test(commandName ?? '')) return result;
      lost += 1;
      throw Object.assign(new Error('socket hang up'), { name: 'TimeoutError', code: 'ECONNRESET' });
    };
  },
  { step: 'finalizeRequest', priority: 'low' },
);

const withLostAnswers = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  lost = 0;
  losing = true;
  const result = await work();
  expect(lost).toBeGreaterThan(0);
  return result;
};

afterEach(() => {
  losing = false;
});

const draft = { question: 'Well?', options: ['yes', 'no'] };

test('a profiler is created once, and the answer names it', async () => {
  const { account } = await newVendor();
  const { id } = await withLostAnswers(() => createProfiler(account, draft));
  expect((await listProfilers(account)).profilers.map((profiler) => profiler.id)).toEqual([id]);
});

test('a profiler is deleted, and not said to be unknown', async () => {
  const { account } = await newVendor();
  const { id } = await createProfiler(account, draft);
  await withLostAnswers(() => deleteProfiler(account, id));
  losing = false;
  await expect(deleteProfiler(account, id)).rejects.toThrow('profiler_not_found');
});

test('an answer is recorded', async () => {
  const { account } = await newVendor();
  const { id, options } = await createProfiler(account, draft);
  const answer = { profiler_id: id, option_id: options[0]?.id ?? '', phone_number: await newPanelist() };
  await withLostAnswers(() => recordAnswer(account, answer));
});

test('an account is opened and changed, and a token issued', async () => {
  const id = `lost-${randomUUID().slice(0, 18)}`;
  const [first, second] = [newPhone(), newPhone()];
  await withLostAnswers(() => createAccount({ name: 'Lost', id, bot_number: first }));
  expect(await withLostAnswers(() => updateAccount(id, { bot_number: second }))).toMatchObject({ bot_number: second });
  const { account } = await withLostAnswers(() => newCaller('stats'));
  expect(await listTokens(account)).toHaveLength(1);
});
