/**
 * `npm run test:long`: the tests that `npm test` leaves out. Only files that name the tag are loaded, because loading takes
 * longer than most tests.
 */
import { spawnSync } from 'node:child_process';
import { glob, readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { hasLongTests, LONG } from './support/tags.ts';

const files: string[] = [];
for await (const file of glob('test/{unit,infra,local,stack}/**/*.test.ts')) {
  if (hasLongTests(await readFile(file, 'utf8'))) files.push(file);
}

const { status } = spawnSync(
  'vitest',
  ['run', '--tags-filter', LONG, ...files.sort(), 'test/fences/', ...process.argv.slice(2)],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      PATH: [join(import.meta.dirname, '../node_modules/.bin'), process.env.PATH].join(delimiter),
    },
  },
);

process.exitCode = status ?? 1;
