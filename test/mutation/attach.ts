/**
 * Runs before each test file: has the mutant of this run be active while the file's tests run, or has what they reach be
 * counted, by test. The instrumented sources look into `__stryker__` for the one and write the other there.
 */
import { afterAll, afterEach, beforeAll, beforeEach, inject, type RunnerTestCase } from 'vitest';

/** How often each mutant was reached, by its id. */
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

/** What a run is for: to find out what tests reach, or to hold them against a mutant, or against none. */
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

/** As the runner writes it. */
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
    // In place: the sources hold on to the object.
    Object.assign(mutantCoverage, { static: {}, perTest: {} });
  });
}

if (purpose.kind === 'mutant') {
  let failed = false;

  beforeAll(() => {
    Object.assign(stryker, { activeMutant: purpose.mutant, hitCount: 0, hitLimit: purpose.hitLimit });
  });

  beforeEach(({ skip }) => {
    if (failed) skip('The mutant is found already.');
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
