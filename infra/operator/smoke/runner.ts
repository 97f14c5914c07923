/** Runs the steps of a smoke test one after the other, and removes what they created, whatever happens. */
import { now } from '../../../shared/core/clock.ts';
import { describeFailure } from '../failures.ts';
import { type Leftovers, removeRun } from './clean-up.ts';
import type { Day, Step } from './day.ts';
import { StepFailure } from './http.ts';
import type { Run } from './run.ts';

export interface StepResult {
  step: string;
  title: string;
  result: 'passed' | 'failed' | 'skipped';
  duration_ms: number;
  /** More about the result: why it failed or was skipped. */
  detail?: string;
}

/** The step that is done before all others: without an account there is nothing to test. */
const ACCOUNT = { name: 'account', title: 'A temporary account is created' };
/** The last step. */
const REMOVAL = { name: 'removal', title: 'Everything that the test created is removed' };

/** How many steps there are in all. */
export const countOf = (steps: Record<string, Step>): number => Object.keys(steps).length + 2;

interface Options {
  /** Creates the temporary account. */
  begin: () => Promise<Day>;
  /** Called before each step. */
  onStep: (title: string, index: number) => void;
  signal: AbortSignal;
}

/** The result of each step. */
export const runSteps = async (
  run: Run,
  steps: Record<string, Step>,
  { begin, onStep, signal }: Options,
): Promise<StepResult[]> => {
  const results: StepResult[] = [];
  const record = async (name: string, title: string, work: () => Promise<string | undefined>): Promise<void> => {
    onStep(title, results.length);
    results.push({ step: name, title, ...(await timed(work, signal)) });
  };
  let day: Day | undefined;
  await record(ACCOUNT.name, ACCOUNT.title, async () => {
    day = await begin();
    return day.run.account;
  });
  for (const [name, step] of Object.entries(steps)) {
    const obstacle = day === undefined ? 'there is no account' : obstacleTo(step, day, results);
    if (day === undefined || obstacle !== undefined || signal.aborted) {
      const detail = signal.aborted ? INTERRUPTED : (obstacle ?? '');
      results.push({ step: name, title: step.title, result: 'skipped', duration_ms: 0, detail });
    } else {
      const present = day;
      await record(name, step.title, () => step.run(present));
    }
  }
  onStep(REMOVAL.title, results.length);
  results.push({ step: REMOVAL.name, title: REMOVAL.title, ...(await removed(run)) });
  return results;
};

/** Removes what a run has left. */
export const removed = (run: Run): Promise<Pick<StepResult, 'result' | 'duration_ms' | 'detail'>> =>
  timed(async () => {
    const left: Leftovers = await removeRun(run);
    if (left.length > 0) throw new StepFailure(`left in the table: ${left.join(', ')}`);
    return undefined;
  });

const INTERRUPTED = 'interrupted';

/** Why a step cannot run; undefined if it can. */
const obstacleTo = (
  { needs = [], ofAppNetwork }: Step,
  { withoutAppNetwork }: Day,
  results: StepResult[],
): string | undefined => {
  if (ofAppNetwork && withoutAppNetwork) return 'needs the app network';
  const missing = results.find(({ step, result }) => needs.includes(step) && result !== 'passed');
  return missing && `needs "${missing.title}"`;
};

const timed = async (
  work: () => Promise<string | undefined>,
  signal?: AbortSignal,
): Promise<Pick<StepResult, 'result' | 'duration_ms' | 'detail'>> => {
  const start = now();
  try {
    const detail = await work();
    return { result: 'passed', duration_ms: now() - start, ...(detail !== undefined && { detail }) };
  } catch (error) {
    const duration_ms = now() - start;
    if (signal?.aborted) return { result: 'skipped', duration_ms, detail: INTERRUPTED };
    return {
      result: 'failed',
      duration_ms,
      detail: error instanceof StepFailure ? error.message : describeFailure(error),
    };
  }
};
