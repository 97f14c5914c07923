/**
 * @module-tag fences
 *
 * Fences: compares the AWS calls that functions made during the stack tests of this run with their roles in the
 * template, in each way in which IAM may evaluate transactions. A call outside of its role fails. If all stack tests ran, or
 * the long ones after the quick ones of the same stack, an unused right fails too. The run's folder in `.local/test-runs`
 * contains `fences.json`: each function's rights, and the calls that used them. If the run is complete, its calls to the table
 * are kept for DynamoDB Local.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { deniedAsWhole } from '../../infra/constructs/function/table-rights.ts';
import {
  deniedRequest,
  rightsOf,
  rightsUsed,
  type Statement,
  type TransactionEvaluation,
  transactionEvaluations,
} from '../../infra/local/aws/iam/policies.ts';
import type { MadeCall } from '../../infra/local/aws/iam/roles.ts';
import { readLocalTemplate } from '../../infra/local/local-stack.ts';
import { oneOfEachKind } from '../stack/support/table-calls.ts';
import { lastTableCalls, type QuickRun, quickRun, type RunRecord, readLines } from '../support/run-record.ts';
import { functionAccess } from '../support/table-access.ts';
import { hasLongTests } from '../support/tags.ts';

const ANYWHERE = 'http://127.0.0.1';

const inWords = ({ touches }: MadeCall): string =>
  touches.map(({ action, resource, partition }) => [action, resource, partition].filter(Boolean).join(' ')).join(', ');

/** Statements that the guide lists for a function, in case IAM evaluates transactions as a whole. */
const listedFor = (functionId: string, table: string): Statement[] =>
  functionAccess
    .filter(({ id }) => functionId.startsWith(`${id}Function`))
    .flatMap(({ access }) => deniedAsWhole(access))
    .map(({ actions, partitions }) => ({
      actions: actions.map((action) => `dynamodb:${action}`),
      resources: [`${table}.Arn`],
      leadingKeys: partitions,
    }));

const judge = async ({ assembly, calls: record, fences: report }: RunRecord, before: QuickRun | undefined) => {
  const { table, functions, mappings } = await readLocalTemplate(assembly, {
    tableName: 'table',
    baseUrl: ANYWHERE,
    bridgeUrl: ANYWHERE,
    awsUrl: ANYWHERE,
  });
  // The calls of the functions' code, and those of event source mappings.
  const calls: MadeCall[] = [
    ...[...(before?.calls ?? []), ...(await readLines(record))].map((line) => JSON.parse(line)),
    ...mappings.flatMap(({ function: id, needs }) => needs.map((touch) => ({ function: id, touches: [touch] }))),
  ];
  const fences = functions.map(({ id, policy }) => {
    const theirs = calls.filter((call) => call.function === id);
    const outside = (statements: Statement[], evaluation: TransactionEvaluation) =>
      theirs.filter(({ touches }) => deniedRequest(statements, touches, evaluation) !== undefined).map(inWords);
    const uses = theirs.map((call) => ({ call, rights: rightsUsed(policy, call.touches) }));
    const grants = rightsOf(policy).map((grant) => ({
      grant,
      used: uses.filter(({ rights }) => rights.includes(grant)).map(({ call }) => inWords(call)),
    }));
    const listed = listedFor(id, table.id);
    return {
      id,
      grants,
      outside: {
        'per item': outside(policy, 'per item'),
        'per action': outside(policy, 'per action'),
        'whole call': outside([...policy, ...listed], 'whole call'),
      },
      /** Whether the role needs a statement that the guide lists, and a call would be denied without it. */
      isListed: listed.length > 0,
      isDenied: outside(policy, 'whole call').length > 0,
    };
  });
  await writeFile(report, JSON.stringify(fences, null, 2));
  return { calls, fences };
};

/** The reason why unused rights cannot be judged; undefined if all tests that a run should have ran and passed. */
const whyIncomplete = async (
  { expected, ran, failed, tests }: RunRecord,
  before: QuickRun | undefined,
): Promise<string | undefined> => {
  if (tests === 'long' && before === undefined)
    return 'no complete run of the quick tests of this stack is kept: run npm test before';
  if (tests === 'some') return 'only some of the stack tests were to run';
  const own = await readLines(ran);
  const done = new Set([...(before?.ran ?? []), ...own]);
  const isLeft = (file: string) =>
    !done.has(file) || (tests === 'long' && !own.includes(file) && hasLongTests(readFileSync(file, 'utf8')));
  const left = expected.find(isLeft);
  if (left !== undefined) return `${done.size} files of stack tests ran, and ${left} did not`;
  const failures = await readLines(failed);
  return failures.length > 0 ? `${failures.length} stack tests failed` : undefined;
};

const hashOf = async ({ assembly }: RunRecord): Promise<string> =>
  createHash('sha256')
    .update(await readFile(join(assembly, 'BusinessApi.template.json')))
    .digest('hex');

/** The run of the quick tests that a run of the long ones completes; undefined if there is none of the same stack. */
const findQuickRun = async (run: RunRecord): Promise<QuickRun | undefined> => {
  if (run.tests !== 'long') return undefined;
  const kept = await readFile(quickRun, 'utf8').catch(() => '{}');
  const found: Partial<QuickRun> = JSON.parse(kept);
  return found.stack === (await hashOf(run)) ? (found as QuickRun) : undefined;
};

/** Writes a file whole, also if the process ends, or another run writes it. */
const writeWhole = async (file: string, text: string): Promise<void> => {
  const written = `${file}.${process.pid}`;
  await writeFile(written, text);
  await rename(written, file);
};

/** Keeps the calls of the quick tests for a run of the long ones. */
const keepQuickRun = async (run: RunRecord): Promise<void> => {
  const kept: QuickRun = {
    stack: await hashOf(run),
    ran: await readLines(run.ran),
    calls: await readLines(run.calls),
    tableCalls: oneOfEachKind(await readLines(run.tableCalls)),
  };
  await writeWhole(quickRun, JSON.stringify(kept));
};

/** Keeps calls to the table for DynamoDB Local. */
const keepTableCalls = async ({ tableCalls }: RunRecord, before: QuickRun | undefined): Promise<void> => {
  const calls = oneOfEachKind([...(before?.tableCalls ?? []), ...(await readLines(tableCalls))]);
  await writeWhole(lastTableCalls, calls.map((line) => `${line}\n`).join(''));
};

const run = inject('run');

if (run === undefined) {
  test.skip('roles are not compared with calls, because no stack tests ran', () => undefined);
} else {
  const before = await findQuickRun(run);
  const { calls, fences } = await judge(run, before);
  const incomplete = await whyIncomplete(run, before);
  if (run.tests === 'quick' && incomplete === undefined) await keepQuickRun(run);
  if (incomplete === undefined) await keepTableCalls(run, before);
  const why = incomplete ?? (run.tests === 'quick' ? 'npm run test:long reports them' : undefined);
  if (why !== undefined) console.info(`No right is reported as unused: ${why}.`);

  describe.each(transactionEvaluations)('with transactions evaluated %s', (evaluation) => {
    test.each(fences)('$id made no call outside of its role', ({ outside }) => {
      expect(outside[evaluation]).toEqual([]);
    });
  });

  test.runIf(process.env.CI && run.tests === 'long')('unused rights are reported', () => {
    expect(why).toBeUndefined();
  });

  describe.skipIf(why !== undefined)('all stack tests ran:', () => {
    test.each(fences)('$id has no unused right', ({ grants }) => {
      expect(grants.filter(({ used }) => used.length === 0).map(({ grant }) => grant)).toEqual([]);
    });

    test('the guide lists the functions that need another statement if transactions are evaluated as a whole', () => {
      const ids = (which: 'isListed' | 'isDenied') => fences.filter((fence) => fence[which]).map(({ id }) => id);
      expect(ids('isDenied')).toEqual(ids('isListed'));
    });
  });

  test('only functions of the stack made calls', () => {
    const ids = new Set(fences.map(({ id }) => id));
    expect(calls.filter((call) => !ids.has(call.function))).toEqual([]);
  });
}
