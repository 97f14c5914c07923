/** Requests of profilers. */
import { randomUUID } from 'node:crypto';
import type { profilers } from '../../../shared/api/areas/profilers.ts';
import { timestamp } from '../../../shared/core/clock.ts';
import { newId } from '../../../shared/core/ids.ts';
import { recordAnswer } from '../../../shared/profilers/answers.ts';
import { answerKey, profilerKey, resultKey } from '../../../shared/profilers/entities.ts';
import { createProfiler } from '../../../shared/profilers/profilers.ts';
import { countAnswers } from '../../../shared/profilers/results.ts';
import { put, putAll } from '../../../shared/table/client.ts';
import { ofPerson } from '../../../shared/table/keys.ts';
import { answersInTable, newBusiness } from '../in-process/failing-calls/world.ts';
import { newPanelist } from '../support/world.ts';
import {
  ANSWER,
  COUNTER,
  COUNTERS,
  consistent,
  eventual,
  inTransaction,
  PAGE,
  PROFILE,
  PROFILER,
} from './kilobytes.ts';
import type { Scenarios } from './scenarios.ts';
import { key, largestUser, longestKey, scaled } from './world.ts';

const question = { question: 'Well?', options: ['yes', 'no'] };

/** A new profiler with an answer. */
const newAnswer = async () => {
  const { account } = await newBusiness();
  const { id, options } = await createProfiler(account, question);
  const option = options[0]?.id ?? '';
  await recordAnswer(account, { profiler_id: id, option_id: option, phone_number: await newPanelist() });
  return { account, id, option };
};

const MAX_STORED = 349_900;

/** A profiler as large as may be stored: with a long question, or as many options as possible. */
const largestProfiler = async (account: string, max: 'text' | 'options' = 'text') => {
  const options =
    max === 'text' ? ['yes', 'no'] : Array.from({ length: 6_500 }, (_, index) => index.toString(36).padStart(3, '0'));
  const used = max === 'text' ? 120 : 6_500 * 53;
  return createProfiler(account, { question: 'x'.repeat(Math.max(MAX_STORED - used, 1)), options });
};

/** Answers to a profiler, of so many panelists. */
const putAnswers = (profiler: string, option_id: string, count: number): Promise<void> =>
  putAll(
    Array.from({ length: count }, (_, index) => {
      const phone = `27820${String(index).padStart(10, '0')}`;
      const created = timestamp();
      const counted = { counted: true, counted_in: 15 };
      return { ...answerKey(profiler, phone), option_id, created, ...counted, ...ofPerson(phone, created) };
    }),
  );

/** Ten answers of users with the longest profile, each to another profiler. */
const largestAnswers = async (account: string, { panelists }: { panelists: boolean }): Promise<object[]> => {
  const answers = [];
  for (let index = 0; index < 10; index += 1) {
    const { id, options } = await createProfiler(account, question);
    answers.push({ profiler_id: id, option_id: options[0]?.id, phone_number: await largestUser(panelists) });
  }
  return answers;
};

/** Counters of a profiler's options, with all shards. */
const putResults = (profiler: string, options: { id: string }[]): Promise<void> =>
  putAll(
    options.flatMap(({ id }) =>
      Array.from({ length: 16 }, (_, shard) => ({ ...resultKey(profiler, id, shard), count: 0 })),
    ),
  );

export const profilersScenarios: Scenarios<typeof profilers> = {
  createProfiler: {
    prepare: async () => ({ headers: key, body: question }),
    // The idempotency key's item, which no caller can read, and the profiler.
    parts: 2,
    max: { read: 0, write: 1 + inTransaction(PROFILER) + 2, of: 'of 350 KB' },
    worst: {
      prepare: async () => ({
        headers: longestKey,
        body: { question: 'x'.repeat(MAX_STORED - 120), options: ['yes', 'no'] },
      }),
      beyond: () => ({ body: { question: 'x'.repeat(MAX_STORED + 120), options: ['yes', 'no'] } }),
    },
  },
  listProfilers: {
    prepare: async ({ account }) => {
      await createProfiler(account, question);
      return {};
    },
    readsOnly: true,
    max: { read: 8 * consistent(PAGE), write: 0, of: '8 MB of profilers, or of deleted ones' },
    worst: {
      // More than eight pages of 1 MB of deleted ones: a list of others ends when the response is full.
      prepare: async ({ account }) => {
        for (let index = 0; index < 26; index += 1)
          await put({ ...profilerKey(account, newId()), deleted_at: timestamp(), options: 'x'.repeat(340_000) });
        return {};
      },
    },
  },
  readProfiler: {
    prepare: async ({ account }) => {
      const { id } = await createProfiler(account, question);
      return { path: { id } };
    },
    readsOnly: true,
    max: { read: consistent(PROFILER), write: 0, of: 'of 350 KB' },
    worst: { prepare: async ({ account }) => ({ path: { id: (await largestProfiler(account)).id } }) },
  },
  deleteProfiler: {
    prepare: async ({ account }) => {
      const { id } = await createProfiler(account, question);
      return { path: { id } };
    },
    repeatStatus: 404,
    max: { read: 0, write: inTransaction(PROFILER) + 6, of: 'of 350 KB' },
    worst: { prepare: async ({ account }) => ({ path: { id: (await largestProfiler(account)).id } }) },
  },
  answerProfiler: {
    prepare: async ({ account }) => {
      const { id, options } = await createProfiler(account, question);
      const body = { profiler_id: id, option_id: options[0]?.id, phone_number: await newPanelist() };
      return { body };
    },
    max: { read: 2 + consistent(PROFILE) + eventual(PROFILE), write: 2, of: 'of a user who is no panelist' },
    worst: [false, true].map((isPanelist) => ({
      prepare: async ({ account }) => {
        const { id, options } = await largestProfiler(account);
        const phone_number = await largestUser(isPanelist);
        return { body: { profiler_id: id, option_id: options[0]?.id, phone_number } };
      },
      ...(!isPanelist && { status: 422 }),
    })),
  },
  answerProfilers: {
    prepare: async ({ account }) => {
      const { id, options } = await createProfiler(account, question);
      const valid = { profiler_id: id, option_id: options[0]?.id, phone_number: await newPanelist() };
      return { body: [valid, { ...valid, phone_number: await newPanelist() }, 7] };
    },
    parts: 2,
    continues: true,
    max: {
      read: 1 + 500 * (1 + consistent(PROFILE) + eventual(PROFILE)),
      write: 500 * 2,
      of: '500 answers, each to another profiler',
    },
    worst: [
      {
        // One in 50 of 500 answers: each to another profiler, and of a user with the longest profile who is not a panelist.
        prepare: async ({ account }) => ({ body: await largestAnswers(account, { panelists: false }) }),
        beyond: () => ({ body: Array.from({ length: 501 }, () => ({})) }),
        whole: ({ read, write }) => ({ read: 1 + (read - 1) * 50, write }),
      },
      {
        prepare: async ({ account }) => ({ body: await largestAnswers(account, { panelists: true }) }),
        whole: scaled(50),
      },
    ],
  },
  countAudience: {
    prepare: async () => {
      const { account, id, option } = await newAnswer();
      return { account, body: { all: [{ profiler_id: id, option_ids: [option] }] } };
    },
    chargesOnly: true,
    max: {
      read: 5 + 5 * eventual(COUNTERS * COUNTER) + eventual(200_000 * ANSWER) + eventual(PAGE),
      write: 1,
      of: '200,000 answers, and five profilers with 6,700 options',
    },
    worst: {
      // One in 500 of 200,000 answers, and of the counters of five profilers with 6,700 options.
      prepare: async ({ account }) => {
        const { id, options } = await createProfiler(account, {
          question: '?',
          options: Array.from({ length: 67 }, (_, option) => `${option}`),
        });
        await putResults(id, options);
        await putAnswers(id, options[0]?.id ?? '', 400);
        const others = [];
        for (let index = 0; index < 4; index += 1)
          others.push(await createProfiler(account, { question: '?', options: ['yes', 'no'] }));
        const all = [id, ...others.map((other) => other.id)].map((profiler_id) => ({
          profiler_id,
          option_ids: [] as string[],
        }));
        all[0]?.option_ids.push(...options.map((option) => option.id));
        for (const [index, other] of others.entries()) all[index + 1]?.option_ids.push(other.options[0]?.id ?? '');
        return { body: { all } };
      },
      beyond: ({ body }) => {
        const { all } = body as { all: object[] };
        return { body: { all: [...all, { profiler_id: randomUUID(), option_ids: ['x'] }] } };
      },
      // The profilers are read once, with an empty page of counters for four; and the allowance is charged once.
      whole: ({ read, write }) => ({ read: 5 + (read - 5 - 4 * 0.5) * 500, write }),
    },
  },
  listAnswers: {
    prepare: async () => {
      const { account, id } = await newAnswer();
      return { account, path: { id } };
    },
    readsOnly: true,
    max: { read: consistent(PROFILER) + consistent(1_000 * ANSWER), write: 0, of: '1,000 answers' },
    worst: {
      prepare: async ({ account }) => {
        const { id, options } = await largestProfiler(account);
        await putAnswers(id, options[0]?.id ?? '', 1_000);
        return { path: { id }, query: { limit: '1000' } };
      },
      beyond: () => ({ query: { limit: '1001' } }),
    },
  },
  exportProfiler: {
    prepare: async () => {
      const { account, id } = await newAnswer();
      return { account, path: { id, file: 'answers.csv' } };
    },
    readsOnly: true,
    // The profiler is read with each thousand, and once more after the last.
    max: { read: 10 * consistent(PROFILER) + 5 * consistent(1_000 * ANSWER), write: 0, of: '5,000 answers' },
    worst: {
      // The first thousand of five.
      prepare: async ({ account }) => {
        const { id, options } = await largestProfiler(account);
        await putAnswers(id, options[0]?.id ?? '', 1_000);
        return { path: { id, file: 'answers.csv' } };
      },
      whole: ({ read, write }) => ({ read: read * 5, write }),
    },
  },
  readResults: {
    prepare: async () => {
      const { account, id } = await newAnswer();
      await countAnswers(await answersInTable());
      return { account, path: { id } };
    },
    readsOnly: true,
    max: { read: consistent(PROFILER) + eventual(COUNTERS * COUNTER), write: 0, of: '6,700 options' },
    worst: {
      // The counters of a hundredth of the options.
      prepare: async ({ account }) => {
        const { id, options } = await largestProfiler(account, 'options');
        await putResults(id, options.slice(0, 67));
        return { path: { id } };
      },
      whole: ({ read, write }) => ({ read: 86 + (read - 86) * 100, write }),
    },
  },
};
