/**
 * `npm run test:long`: the tests that `npm test` leaves out. Only files that name the tag are loaded, because loading takes
 * longer than most tests.
 *
 * With `--except=dynamodb-local`, it leaves out those that `npm run test:dynamodb-local` runs too and that use the database
 * in the same way there: not through functions of the stack, whose reads are stale here.
 */
import { spawnSync } from 'node:child_process';
import { glob, readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { ON_DYNAMODB_LOCAL } from './support/on-dynamodb-local.ts';
import { hasLongTests, LONG } from './support/tags.ts';

const EXCEPT = '--except=dynamodb-local';
const IN_PROCESS = 'test/stack/in-process/';

const given = process.argv.slice(2);
const left = given.includes(EXCEPT) ? ON_DYNAMODB_LOCAL.filter((file) => file.startsWith(IN_PROCESS)) : [];

const files: string[] = [];
for await (const file of glob('test/{unit,infra,local,stack}/**/*.test.ts')) {
  if (!left.includes(file) && hasLongTests(await readFile(file, 'utf8'))) files.push(file);
}

const { status } = spawnSync(
  'vitest',
  ['run', '--tags-filter', LONG, ...files.sort(), 'test/fences/', ...given.filter((option) => option !== EXCEPT)],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      PATH: [join(import.meta.dirname, '../node_modules/.bin'), process.env.PATH].join(delimiter),
    },
  },
);

process.exitCode = status ?? 1;
