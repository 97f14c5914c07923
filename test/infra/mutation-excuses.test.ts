/** The comments that excuse mutants: a wrong one would hide what tests do not find. */
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

test('each comment to Stryker excuses the next line alone, names its mutators, and gives a reason', () => {
  expect(malformed).toEqual([]);
  expect(excuses.length).toBeGreaterThan(0);
});

test('each mutator that a comment names has a mutant on that line', () => {
  expect(excuses.filter(({ mutants }) => mutants.length === 0)).toEqual([]);
});
