/**
 * The comments that excuse mutants: a wrong comment would hide a gap in the tests.
 *
 * @module-tag long
 */
import { glob } from 'node:fs/promises';
import { beforeAll, expect, test } from 'vitest';
import { type Excuse, excusesIn } from '../mutation/excuses.ts';

const excuses: Excuse[] = [];
const malformed: string[] = [];

beforeAll(async () => {
  for await (const file of glob('shared/**/*.ts')) {
    const found = await excusesIn(file);
    excuses.push(...found.excuses);
    malformed.push(...found.malformed);
  }
});

test('each Stryker comment excuses only the next line, names its mutators, and gives a reason', () => {
  expect(malformed).toEqual([]);
  expect(excuses.length).toBeGreaterThan(0);
});

test('each mutator in a Stryker comment has a mutant on the next line', () => {
  expect(excuses.filter(({ mutants }) => mutants.length === 0)).toEqual([]);
});
