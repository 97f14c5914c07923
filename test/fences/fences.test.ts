/**
 * @module-tag fences
 *
 * Fences: compares the AWS calls that functions made during the stack tests of this run with their roles in the
 * template. A call outside of its role fails. If all stack tests ran, an unused right fails too. The run's folder in
 * `.local/test-runs` contains `fences.json`: each function's rights, and the calls that used them.
 */
import { glob, writeFile } from 'node:fs/promises';
import { describe, expect, inject, test } from 'vitest';
import { rightsFor, rightsOf } from '../../infra/local/aws/iam/policies.ts';
import type { MadeCall } from '../../infra/local/aws/iam/roles.ts';
import { readLocalTemplate } from '../../infra/local/local-stack.ts';
import { type RunRecord, readLines } from '../support/run-record.ts';

const ANYWHERE = 'http://127.0.0.1';

const inWords = ({ action, resource, partition }: MadeCall): string =>
  [action, resource, partition].filter(Boolean).join(' ');

const judge = async ({ assembly, calls: record, fences: report }: RunRecord) => {
  const { functions, mappings } = await readLocalTemplate(assembly, {
    tableName: 'table',
    baseUrl: ANYWHERE,
    bridgeUrl: ANYWHERE,
    awsUrl: ANYWHERE,
  });
  // The calls of the functions' code, and those of event source mappings.
  const calls: MadeCall[] = [
    ...(await readLines(record)).map((line) => JSON.parse(line)),
    ...mappings.flatMap(({ function: id, needs }) => needs.map((touch) => ({ function: id, ...touch }))),
  ];
  const fences = functions.map(({ id, policy }) => {
    const theirs = calls.filter((call) => call.function === id).map((call) => ({ call, by: rightsFor(policy, call) }));
    const grants = rightsOf(policy).map((grant) => ({
      grant,
      used: theirs.filter(({ by }) => by.includes(grant)).map(({ call }) => inWords(call)),
    }));
    return { id, grants, outside: theirs.filter(({ by }) => by.length === 0).map(({ call }) => inWords(call)) };
  });
  await writeFile(report, JSON.stringify(fences, null, 2));
  return { calls, fences };
};

/** The reason why unused rights are not reported, or undefined if all stack tests ran and passed. */
const whyIncomplete = async ({ ran, failed, isNarrowed }: RunRecord): Promise<string | undefined> => {
  const done = new Set(await readLines(ran));
  for await (const file of glob('test/stack/**/*.test.ts')) {
    if (!done.has(file)) return `${done.size} files of stack tests ran, and ${file} did not`;
  }
  if (isNarrowed) return 'only some of the stack tests were to run';
  const failures = await readLines(failed);
  return failures.length > 0 ? `${failures.length} stack tests failed` : undefined;
};

const run = inject('run');

if (run === undefined) {
  test.skip('roles are not compared with calls, because no stack tests ran', () => undefined);
} else {
  const { calls, fences } = await judge(run);
  const incomplete = await whyIncomplete(run);
  if (incomplete !== undefined) console.info(`No right is reported as unused: ${incomplete}.`);

  test.each(fences)('$id made no call outside of its role', ({ outside }) => {
    expect(outside).toEqual([]);
  });

  describe.skipIf(incomplete !== undefined)('all stack tests ran:', () => {
    test.each(fences)('$id has no unused right', ({ grants }) => {
      expect(grants.filter(({ used }) => used.length === 0).map(({ grant }) => grant)).toEqual([]);
    });
  });

  test('only functions of the stack made calls', () => {
    const ids = new Set(fences.map(({ id }) => id));
    expect(calls.filter((call) => !ids.has(call.function))).toEqual([]);
  });
}
