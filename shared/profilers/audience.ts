/** Audiences: how many panelists gave certain answers to several of an account's profilers, in round numbers. */
import { chargeAllowance } from '../accounts/allowances.ts';
import { inParallel } from '../core/parallel.ts';
import { invalidRequest, Problem } from '../core/problems.ts';
import { pages } from '../table/client.ts';
import type { AnswerItem } from './answer.ts';
import { phoneOfAnswer } from './answers.ts';
import { answersOf } from './entities.ts';
import { findAnswerable, hasOption } from './profilers.ts';
import { countsOf } from './results.ts';

/** A profiler, and the options of which a panelist chose one. */
export interface Condition {
  profiler_id: string;
  option_ids: string[];
}

/** The number of panelists, rounded down to a multiple of ten. Fewer than ten are not counted. */
export type AudienceSize = { count: number } | { count: null; fewer_than: number };

/** Counts are multiples of this number. */
const STEP = 10;
/** Most answers that a request reads. */
const MAX_ANSWERS = 200_000;

/**
 * Counts the panelists who meet all conditions. 1 read unit for each profiler; 0.5 for 4 KB of counters,
 * and for 4 KB of answers: some 5,500 for 200,000 answers; 1 write unit for the allowance.
 *
 * @throws profiler_not_found — unknown, deleted, or another account's
 * @throws invalid_request — not an option of its profiler
 * @throws allowance_exceeded — the account has counted too many audiences today
 * @throws audience_too_large — the profilers have over 200,000 answers together
 */
export const countAudience = async (account: string, conditions: Condition[]): Promise<AudienceSize> => {
  await checkConditions(account, conditions);
  await chargeAllowance(account, 'audiences', 1);
  const totals = new Map<string, number>();
  await inParallel(conditions, conditions.length, async ({ profiler_id }) => {
    totals.set(
      profiler_id,
      [...(await countsOf(profiler_id)).values()].reduce((sum, count) => sum + count, 0),
    );
  });
  const totalOf = ({ profiler_id }: Condition): number => totals.get(profiler_id) ?? 0;
  const budget = new ReadBudget(conditions.map(totalOf));
  let audience: Set<string> | undefined;
  for (const condition of conditions.toSorted((a, b) => totalOf(a) - totalOf(b))) {
    audience = await panelistsMeeting(condition, audience, budget);
    if (audience.size === 0) break;
  }
  return rounded(audience?.size ?? 0);
};

const rounded = (size: number): AudienceSize =>
  size < STEP ? { count: null, fewer_than: STEP } : { count: size - (size % STEP) };

/** Checks that the profilers are the account's own, and that the options are theirs. */
const checkConditions = async (account: string, conditions: Condition[]): Promise<void> => {
  const errors = await Promise.all(
    conditions.map(async ({ profiler_id, option_ids }, place) => {
      const profiler = await findAnswerable(account, profiler_id);
      return option_ids.flatMap((id, index) =>
        hasOption(profiler, id)
          ? []
          : [{ pointer: `#/all/${place}/option_ids/${index}`, detail: 'is no option of the profiler' }],
      );
    }),
  );
  if (errors.flat().length > 0) throw invalidRequest(errors.flat());
};

/** How many more answers a request may read. The counters are some seconds late, so that reads count, too. */
class ReadBudget {
  #left = MAX_ANSWERS;

  /** @throws audience_too_large */
  constructor(totals: number[]) {
    if (totals.reduce((sum, total) => sum + total, 0) > MAX_ANSWERS) throw audienceTooLarge();
  }

  /** @throws audience_too_large */
  spend(answers: number): void {
    this.#left -= answers;
    if (this.#left < 0) throw audienceTooLarge();
  }
}

const audienceTooLarge = (): Problem =>
  new Problem(
    'audience_too_large',
    `These profilers have over ${MAX_ANSWERS} answers together. Name fewer of them, or profilers with fewer answers.`,
  );

/** The panelists who meet a condition; if others are given, those among them. */
const panelistsMeeting = async (
  { profiler_id, option_ids }: Condition,
  among: Set<string> | undefined,
  budget: ReadBudget,
): Promise<Set<string>> => {
  const wanted = new Set(option_ids);
  const found = new Set<string>();
  for await (const answers of pages<Pick<AnswerItem, 'pk' | 'sk' | 'option_id'>>({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': answersOf(profiler_id) },
    // A fifth of the bytes: they take most of the time.
    ProjectionExpression: 'sk, option_id',
  })) {
    budget.spend(answers.length);
    for (const answer of answers) {
      const phone = phoneOfAnswer(answer);
      if (wanted.has(answer.option_id) && (among === undefined || among.has(phone))) found.add(phone);
    }
  }
  return found;
};
