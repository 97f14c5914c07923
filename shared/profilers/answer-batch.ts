/** Several answers in one request: each one is judged by itself. */
import * as v from 'valibot';
import { chargeUnknown, requireContacts } from '../accounts/allowances.ts';
import { inParallel } from '../core/parallel.ts';
import { Problem, type ProblemCode } from '../core/problems.ts';
import { panelistsAmong } from '../users/users.ts';
import { errorInBody } from '../validation/validation-errors.ts';
import { type Answer, answer } from './answer.ts';
import { checkOption, panelistNotFound, storeAnswer } from './answers.ts';
import { type Answerable, findAnswerable } from './profilers.ts';

/** Profilers that are read at the same time. */
const PROFILERS = 10;
/** Panelists whose answers to a profiler are stored at the same time. */
const PANELISTS = 10;

/** What became of an answer: recorded now or before, rejected because another one is final, or rejected. */
export type Judgement =
  | { status: 204 }
  | { status: 409 | 422; code: ProblemCode; detail: string; errors?: { pointer: string; detail: string }[] };

/** An answer of the request, and its place. */
interface Given {
  place: number;
  answer: Answer;
}

/**
 * Records answers, in the order of the request for each panelist and profiler. A repeat of the request changes nothing. 1
 * read unit for each profiler, and 1 for the allowance; 0.5 for each panelist, and 2 write units for each answer. 1.5 read units
 * for each other number, and 1 write unit for all of them, by which the allowance is charged.
 *
 * @returns a judgement for each answer, in the same order
 * @throws allowance_exceeded — the account may not be told of so many numbers today; nothing is recorded or told
 */
export const recordAnswers = async (account: string, given: unknown[]): Promise<Judgement[]> => {
  const judged = new Map<number, Judgement>();
  const valid = given.flatMap((candidate, place): Given[] => {
    const { success, output, issues = [] } = v.safeParse(answer, candidate);
    if (success) return [{ place, answer: output }];
    const errors = issues.map((issue) => errorInBody(issue, [String(place)]));
    judged.set(place, { status: 422, code: 'invalid_request', detail: 'The answer is not valid. See errors.', errors });
    return [];
  });
  const phones = [...new Set(valid.map(({ answer: { phone_number } }) => phone_number))];
  await requireContacts(account, phones.length);
  const panelists = await panelistsAmong(phones);
  await chargeUnknown(account, phones.length - panelists.size);
  const byProfiler = [...Map.groupBy(valid, ({ answer: { profiler_id } }) => profiler_id)];
  await inParallel(byProfiler, PROFILERS, async ([id, answers]) => {
    const profiler = await findAnswerable(account, id).catch(asProblem);
    const byPanelist = [...Map.groupBy(answers, ({ answer: { phone_number } }) => phone_number).values()];
    await inParallel(byPanelist, PANELISTS, async (ofOne) => {
      for (const { place, answer: one } of ofOne) judged.set(place, await judge(one, profiler, panelists));
    });
  });
  return given.flatMap((_, place) => judged.get(place) ?? []);
};

/** Records an answer, if it is valid. */
const judge = async (one: Answer, profiler: Answerable | Problem, panelists: Set<string>): Promise<Judgement> => {
  try {
    if (profiler instanceof Problem) throw profiler;
    checkOption(profiler, one);
    if (!panelists.has(one.phone_number)) throw panelistNotFound();
    await storeAnswer(one);
    return { status: 204 };
  } catch (error) {
    const { code, detail } = asProblem(error);
    return { status: code === 'already_answered' ? 409 : 422, code, detail };
  }
};

/** A problem of the answer. Other errors concern the whole request. */
const asProblem = (error: unknown): Problem => {
  if (error instanceof Problem) return error;
  throw error;
};
