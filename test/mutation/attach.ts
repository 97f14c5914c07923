/**
 * Runs before each test file. Activates the run's mutant during the file's tests, or collects the coverage of each
 * test. The instrumented sources read the mutant from `__stryker__`, and write the coverage to it.
 */
import { afterAll, afterEach, beforeAll, beforeEach, inject, type RunnerTestCase } from 'vitest';

/** The number of times that each mutant was executed, by its id. */
type Reached = Record<string, number>;

export interface Coverage {
  static: Reached;
  perTest: Record<string, Reached>;
}

interface Stryker {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  mutantCoverage?: Coverage;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
}

/** The purpose of a run: to collect coverage, or to run tests with a mutant or without one. */
export type Purpose =
  | { kind: 'cover' }
  | { kind: 'mutant'; mutant: string; hitLimit: number | undefined }
  | { kind: 'none' };

declare module 'vitest' {
  interface ProvidedContext {
    purpose: Purpose;
  }
  interface TaskMeta {
    coverage?: Coverage;
    hits?: number;
  }
}

const shared = globalThis as { __stryker__?: Stryker };
shared.__stryker__ ??= {};
const stryker = shared.__stryker__;
const purpose = inject('purpose');

/** The id of a test, as in the runner. */
const idOf = ({ file, fullTestName }: RunnerTestCase): string => `${file.name}#${fullTestName}`;

if (purpose.kind === 'cover') {
  beforeEach(({ task }) => {
    stryker.currentTestId = idOf(task);
  });

  afterEach(() => {
    stryker.currentTestId = undefined;
  });

  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads what a hook asks for out of its pattern
  afterAll(({}, suite) => {
    const { mutantCoverage } = stryker;
    if (mutantCoverage === undefined) return;
    suite.meta.coverage = { ...mutantCoverage };
    // In place, because the sources have a reference to the object.
    Object.assign(mutantCoverage, { static: {}, perTest: {} });
  });
}

if (purpose.kind === 'mutant') {
  let failed = false;

  beforeAll(() => {
    Object.assign(stryker, { activeMutant: purpose.mutant, hitCount: 0, hitLimit: purpose.hitLimit });
  });

  beforeEach(({ skip }) => {
    if (failed) skip('Another test has already found the mutant.');
  });

  afterEach(({ task }) => {
    failed ||= task.result?.state === 'fail';
  });

  // biome-ignore lint/correctness/noEmptyPattern: as above
  afterAll(({}, suite) => {
    suite.meta.hits = stryker.hitCount ?? 0;
    Object.assign(stryker, { activeMutant: undefined, hitCount: undefined });
  });
}
