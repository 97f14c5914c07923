/**
 * Fences, shown: what the functions called in AWS while all stack tests ran, held against their roles in the template. A
 * call outside of its role fails, and so does a grant that nothing has used. Runs after the stack tests; `.local/fences.json`
 * is the whole of it: each function's grants, and the calls that used them.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { rightsFor, rightsOf } from '../../infra/local/aws/iam/policies.ts';
import type { MadeCall } from '../../infra/local/aws/iam/roles.ts';
import { readTemplate } from '../../infra/local/aws/template/template.ts';
import { localFolder } from '../../infra/local/stack-file.ts';
import { callsFile, testAssembly } from '../support/calls.ts';

const read = async (): Promise<MadeCall[]> => {
  const recorded = await readFile(callsFile, 'utf8').catch(() => {
    throw new Error('No stack test has run yet. Run them all: npx vitest run');
  });
  return recorded
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
};

const ANYWHERE = 'http://127.0.0.1';

const { functions, mappings } = await readTemplate(testAssembly, {
  tableName: 'table',
  baseUrl: ANYWHERE,
  bridgeUrl: ANYWHERE,
  awsUrl: ANYWHERE,
});

/** Calls of the functions' code, and those by which event source mappings feed them. */
const calls: MadeCall[] = [
  ...(await read()),
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

function inWords({ action, resource, partition }: MadeCall): string {
  return [action, resource, partition].filter(Boolean).join(' ');
}

await writeFile(join(localFolder, 'fences.json'), JSON.stringify(fences, null, 2));

test.each(fences)('$id called nothing outside of its role', ({ outside }) => {
  expect(outside).toEqual([]);
});

test.each(fences)('$id has no right that nothing used', ({ grants }) => {
  expect(grants.filter(({ used }) => used.length === 0).map(({ grant }) => grant)).toEqual([]);
});

test('nobody called but functions of the stack', () => {
  const ids = new Set(functions.map(({ id }) => id));
  expect(calls.filter((call) => !ids.has(call.function))).toEqual([]);
});
