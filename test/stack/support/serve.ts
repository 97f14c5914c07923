/** Serves the stack once for all stack tests. */
import { randomInt } from 'node:crypto';
import { mkdir, symlink } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { TestProject } from 'vitest/node';
import { seeded } from '../../../infra/local/seeded.ts';
import { synthesise } from '../../../infra/local/synthesise.ts';
import { type RunRecord, startRecord, type Tests } from '../../support/run-record.ts';
import { LONG, QUICK } from '../../support/tags.ts';
import { startStack, type TestStack } from './start-stack.ts';
import { recordTableCalls } from './table-calls.ts';

declare module 'vitest' {
  interface ProvidedContext {
    stack: TestStack;
    run: RunRecord;
  }
}

/** The share of eventually consistent reads that are stale. */
const STALE = 0.25;
/** The time that a transaction holds its items, in milliseconds. */
const HELD_FOR = 3;

/** Tests of lists read only once, so list reads are never stale. */
const mayBeStale = (caller: string): boolean => !/^List(Logs|Jobs)/.test(caller);

/** The length of a minute in milliseconds. An attempt times out after a sixth of it, and sweep runs once in it. */
const MINUTE = 6_000;
/** In tests of endurance, which serve stacks of their own: the schedules of this one would only take processor time. */
const RESTING_MINUTE = 3_600_000;

/** The files of functions beside their code. Functions in the process of a test have one folder for all of them. */
const FILES = { portal: 'readPortal', docs: 'readDocumentation' };

/** Which tests the filters leave. */
const testsOf = ({ config: { testNamePattern, tagsFilter = [] } }: TestProject['vitest']): Tests => {
  const [filter, ...more] = tagsFilter;
  if (testNamePattern !== undefined || more.length > 0) return 'some';
  if (filter === undefined) return 'all';
  return filter === QUICK ? 'quick' : filter === LONG ? 'long' : 'some';
};

export default async (project: TestProject) => {
  const { testFiles } = await project.globTestFiles();
  const record = await startRecord(
    testFiles.map((file) => relative('.', file)),
    testsOf(project.vitest),
  );
  const { STALE_READS: seed = String(randomInt(1e9)) } = process.env;
  console.info(`Reads are stale, and transactions conflict, as with STALE_READS=${seed} (none: STALE_READS=none).`);
  const consistency = seed !== 'none' && {
    staleReads: { share: STALE, random: seeded(Number(seed)), of: mayBeStale },
    transactionsHeldFor: HELD_FOR,
  };
  const { served, close } = await startStack({
    // Without approval, `updateAccount` uses all its rights; tests of approval ask for names in their own process.
    assembly: synthesise(process.env.NODE_V8_COVERAGE ? 'linked' : 'minified', {
      approveNames: false,
      documentation: true,
    }),
    log: record.log,
    calls: record.calls,
    table: `business-api-test-${process.pid}-${Date.now()}`,
    minute: project.name === 'endurance' ? RESTING_MINUTE : MINUTE,
    dynamodbEndpoint: process.env.DYNAMODB_ENDPOINT || undefined,
    ...consistency,
  });
  if (project.name === 'stack' && !process.env.DYNAMODB_ENDPOINT)
    recordTableCalls(served.dynamodb_endpoint, record.tableCalls);
  const run: RunRecord = { ...record, assembly: served.assembly };
  await mkdir(run.functionFolder);
  for (const [files, name] of Object.entries(FILES))
    await symlink(join(served.assembly, `bundle.${name}`, files), join(run.functionFolder, files), 'junction');
  project.provide('stack', served);
  // Tests of another project check the record.
  project.vitest.provide('run', run);
  project.onTestsRerun(async () => project.vitest.provide('run', { ...run, tests: 'some' }));
  return close;
};
