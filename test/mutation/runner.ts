/**
 * Runs tests for Stryker, in processes that are kept from mutant to mutant. Effects of an earlier mutant could make a
 * test fail. Therefore a mutant counts as killed only if the failed test passes directly afterwards without the mutant.
 */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import type { Logger } from '@stryker-mutator/api/logging';
import { commonTokens, declareFactoryPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin';
import {
  type DryRunOptions,
  type DryRunResult,
  DryRunStatus,
  type MutantRunOptions,
  type MutantRunResult,
  MutantRunStatus,
  type TestResult,
  type TestRunner,
  TestStatus,
} from '@stryker-mutator/api/test-runner';
import { createVitest, type TestCase, type TestModule, type TestProject, type Vitest } from 'vitest/node';
import { LOCAL_STACK } from '../../infra/local/runtime/condition.ts';
import { tags } from '../support/tags.ts';
import type { Coverage, Purpose } from './attach.ts';
import { KeptForks } from './kept-fork.ts';
import { concerns, namePattern, projects } from './suite.ts';

/** Timeouts of tests, in milliseconds. */
const LIMITS = { testTimeout: 12_000, hookTimeout: 60_000, poll: 5_000 };

/** The maximum duration of a mutant's tests in total, in milliseconds, as measured without a mutant. */
const BUDGET = 25_000;

/** A file's time limit: this factor times its duration without a mutant, plus so many milliseconds. */
const PATIENCE = { factor: 10, least: 30_000 };

/** The file, in Stryker's folder, in which the first runner records durations for the others. */
const DURATIONS = 'durations.json';

/** The maximum share of tests that fail without a mutant. */
const TOO_MANY = 0.02;

/** The number of tests that run first: those that have found most mutants of the same source file so far. */
const FAVOURITES = 3;

/** The number of tries of a mutant whose tests also fail without it. */
const TRIES = 3;

interface Test {
  file: string;
  name: string;
}

interface Planned extends Test {
  id: string;
}

/** The outcome of tests of one file: the failed ones; `hung` if it took too long; `broken` if no test ran. */
type Outcome = { failed: TestCase[]; ran: number; hits: number } | 'hung' | 'broken';

class KeptRunner implements TestRunner {
  readonly #log: Logger;
  readonly #forks = new KeptForks();
  /** Milliseconds that each test took without a mutant, by its id. */
  #durations: Record<string, number> = {};
  /** How many mutants each test has found here, by source file and the test's id. */
  readonly #kills = new Map<string, Map<string, number>>();
  #vitest: Vitest | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  capabilities() {
    return { reloadEnvironment: true };
  }

  async init(): Promise<void> {
    process.env.NODE_ENV = 'test';
    process.env.VITEST = '1';
    this.#vitest = await createVitest('test', {
      config: false,
      watch: false,
      reporters: [{}],
      pool: this.#forks,
      isolate: false,
      execArgv: [`--conditions=${LOCAL_STACK}`],
      fileParallelism: false,
      maxConcurrency: 1,
      includeTaskLocation: true,
      testTimeout: LIMITS.testTimeout,
      hookTimeout: LIMITS.hookTimeout,
      expect: { poll: { timeout: LIMITS.poll } },
      testNamePattern: namePattern,
      tags,
      projects,
    });
  }

  async dryRun({ files = [] }: DryRunOptions): Promise<DryRunResult> {
    const sources = files.map((file) => relative('.', file));
    const all = await this.#running.globTestSpecifications();
    const specifications = all.filter(({ moduleId }) => concerns(relative('.', moduleId), sources));
    this.#prepare({ kind: 'cover' });
    const { testModules, unhandledErrors } = await this.#running.runTestSpecifications(specifications);
    const tests = testModules.flatMap((module) => [...module.children.allTests()]);
    const durations = tests.map((test): [string, number] => [idOf(test), test.diagnostic()?.duration ?? 0]);
    await writeFile(DURATIONS, JSON.stringify(Object.fromEntries(durations)));
    // The rest of work that a test has interrupted may fail after the test, and a file whose preparation fails on a busy
    // machine has no tests that ran.
    const outside = [...testModules.flatMap((module) => module.errors()), ...unhandledErrors];
    for (const error of outside) this.#log.warn(`Outside of tests: ${messageOf(error)}`);
    // A test that fails without a mutant, for example on a busy machine, cannot find mutants.
    const failed = tests.filter((test) => test.result().state === 'failed');
    for (const test of failed) this.#log.warn(`Excluded, because it fails: ${idOf(test)}: ${failureOf(test)}`);
    if (failed.length > tests.length * TOO_MANY) {
      return { status: DryRunStatus.Error, errorMessage: `${failed.length} of ${tests.length} tests fail.` };
    }
    const coverage = merge(testModules.flatMap((module) => module.meta().coverage ?? []));
    for (const test of failed) delete coverage.perTest[idOf(test)];
    return {
      status: DryRunStatus.Complete,
      tests: tests.filter((test) => !failed.includes(test)).map(toResult),
      mutantCoverage: coverage,
    };
  }

  async mutantRun(options: MutantRunOptions): Promise<MutantRunResult> {
    if (existsSync(DURATIONS)) this.#durations = JSON.parse(await readFile(DURATIONS, 'utf8'));
    for (let left = TRIES; ; left -= 1) {
      if (options.reloadEnvironment) await this.#forks.end();
      const result = await this.#hold(options);
      if (result !== 'unclear') return result;
      await this.#forks.end();
      if (left === 1) return { status: MutantRunStatus.Error, errorMessage: 'The tests fail without the mutant, too.' };
    }
  }

  async dispose(): Promise<void> {
    await this.#vitest?.close();
    await this.#forks.end();
  }

  get #running(): Vitest {
    if (this.#vitest === undefined) throw new Error('The runner has not been started.');
    return this.#vitest;
  }

  /** Runs a mutant's tests by file until one fails, in the order of `#plan`. */
  async #hold({ activeMutant, hitLimit, testFilter = [] }: MutantRunOptions): Promise<MutantRunResult | 'unclear'> {
    const purpose: Purpose = { kind: 'mutant', mutant: activeMutant.id, hitLimit };
    let nrOfTests = 0;
    for (const { file, tests, time } of this.#plan(activeMutant.fileName, testFilter)) {
      const outcome = await this.#runFile(file, tests, purpose, time);
      if (outcome === 'hung') return { status: MutantRunStatus.Timeout };
      if (outcome === 'broken') return 'unclear';
      nrOfTests += outcome.ran;
      if (hitLimit !== undefined && outcome.hits > hitLimit) {
        return { status: MutantRunStatus.Timeout, reason: `The mutant was executed ${outcome.hits} times.` };
      }
      const [first] = outcome.failed;
      if (first === undefined) continue;
      const again = await this.#runFile(file, [{ file, name: first.fullName }], { kind: 'none' }, time);
      if (typeof again === 'string' || again.failed.length > 0) return 'unclear';
      this.#remember(activeMutant.fileName, idOf(first));
      return {
        status: MutantRunStatus.Killed,
        killedBy: outcome.failed.map(idOf),
        failureMessage: failureOf(first),
        nrOfTests,
      };
    }
    return { status: MutantRunStatus.Survived, nrOfTests };
  }

  /** The tests within the time budget, by file: first those that found most mutants of the source, then quick files. */
  #plan(source: string, testFilter: string[]) {
    const tests = testFilter.map(read);
    const kills = this.#kills.get(source) ?? new Map<string, number>();
    const favourites = tests
      .filter(({ id }) => kills.has(id))
      .sort((one, other) => (kills.get(other.id) ?? 0) - (kills.get(one.id) ?? 0))
      .slice(0, FAVOURITES);
    const others = tests
      .filter((test) => !favourites.includes(test))
      .sort((one, other) => this.#timeOf([one]) - this.#timeOf([other]));
    let time = this.#timeOf(favourites);
    const planned = others.filter((test, place) => {
      time += this.#timeOf([test]);
      return place === 0 || time <= BUDGET;
    });
    return [...this.#byFile(favourites), ...this.#byFile(planned)];
  }

  /** Groups tests by file, quick files first. */
  #byFile(tests: Planned[]) {
    const files = Map.groupBy(tests, ({ file }) => file);
    return Array.from(files, ([file, of]) => ({ file, tests: of, time: this.#timeOf(of) })).sort(
      (one, other) => one.time - other.time,
    );
  }

  #remember(source: string, test: string): void {
    const kills = this.#kills.get(source) ?? new Map<string, number>();
    kills.set(test, (kills.get(test) ?? 0) + 1);
    this.#kills.set(source, kills);
  }

  #timeOf(tests: Planned[]): number {
    return tests.reduce((sum, { id }) => sum + (this.#durations[id] ?? 0), 0);
  }

  async #runFile(file: string, tests: Test[], purpose: Purpose, usual: number): Promise<Outcome> {
    const path = resolve(file);
    const project = this.#projectOf(path);
    const specification = project.createSpecification(path, { testNames: tests.map(({ name }) => name) });
    this.#prepare(purpose);
    let hung = false;
    const limit = setTimeout(
      () => {
        hung = true;
        void this.#forks.end();
      },
      usual * PATIENCE.factor + PATIENCE.least,
    );
    const begun = performance.now();
    try {
      const { testModules } = await this.#running.runTestSpecifications([specification]);
      if (hung) return 'hung';
      return toOutcome(testModules);
    } catch (error) {
      if (hung) return 'hung';
      throw error;
    } finally {
      clearTimeout(limit);
      const took = Math.round(performance.now() - begun);
      this.#log.debug(`${file}: ${tests.length} tests, ${purpose.kind}: ${took} ms, usually ${Math.round(usual)}`);
    }
  }

  #projectOf(path: string): TestProject {
    const project = this.#running.projects.find((one) => one.matchesTestGlob(path));
    if (project === undefined) throw new Error(`${path} is not a test.`);
    return project;
  }

  #prepare(purpose: Purpose): void {
    this.#running.state.filesMap.clear();
    this.#running.provide('purpose', purpose);
  }
}

const toOutcome = (modules: readonly TestModule[]): Outcome => {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const failed = tests.filter((test) => test.result().state === 'failed');
  const passed = tests.filter((test) => test.result().state === 'passed');
  if (failed.length + passed.length === 0) return 'broken';
  const hits = modules.reduce((sum, module) => sum + (module.meta().hits ?? 0), 0);
  return { failed, ran: failed.length + passed.length, hits };
};

/** A test's id, with a relative path, because Stryker runs copies of the sources. */
const idOf = (test: TestCase): string => `${test.module.relativeModuleId}#${test.fullName}`;

const read = (id: string): Planned => {
  const place = id.indexOf('#');
  return { id, file: id.slice(0, place), name: id.slice(place + 1) };
};

const toResult = (test: TestCase): TestResult => {
  const { state } = test.result();
  const base = {
    id: idOf(test),
    name: test.fullName,
    timeSpentMs: test.diagnostic()?.duration ?? 0,
    fileName: test.module.moduleId,
    ...(test.location && {
      startPosition: { line: test.location.line - 1, column: test.location.column - 1 },
    }),
  };
  return { ...base, status: state === 'passed' ? TestStatus.Success : TestStatus.Skipped };
};

const failureOf = (test: TestCase): string => test.result().errors?.[0]?.message ?? 'The test failed.';

const messageOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);

const merge = (parts: Coverage[]): Coverage => {
  const merged: Coverage = { static: {}, perTest: {} };
  for (const part of parts) {
    add(merged.static, part.static);
    for (const [test, reached] of Object.entries(part.perTest)) {
      merged.perTest[test] ??= {};
      add(merged.perTest[test], reached);
    }
  }
  return merged;
};

const add = (to: Record<string, number>, from: Record<string, number>): void => {
  for (const [mutant, times] of Object.entries(from)) to[mutant] = (to[mutant] ?? 0) + times;
};

const create = Object.assign((log: Logger): TestRunner => new KeptRunner(log), {
  inject: tokens(commonTokens.logger),
});

export const strykerPlugins = [declareFactoryPlugin(PluginKind.TestRunner, 'kept', create)];
