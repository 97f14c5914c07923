/**
 * `npm run mutation:excuses [files]`: runs the mutants that comments excuse, in a copy of the project without these
 * comments. Default: all files of `shared/`. Exits with 1 if tests find all mutants of an excuse: then it is needless.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import { excusesIn } from './excuses.ts';

interface Report {
  files: Record<string, { mutants: { mutatorName: string; status: string; location: { start: { line: number } } }[] }>;
}

const COPY = '.local/mutation/without-excuses';

const files = process.argv.length > 2 ? process.argv.slice(2) : globSync('shared/**/*.ts');
const found = await Promise.all(files.map(excusesIn));
const excuses = found.flatMap(({ excuses }) => excuses);

await rm(COPY, { recursive: true, force: true });
const tracked = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).split('\0').filter(Boolean);
for (const file of tracked) {
  await mkdir(join(COPY, dirname(file)), { recursive: true });
  await cp(file, join(COPY, file));
}
for (const file of files) {
  const source = await readFile(file, 'utf8');
  await writeFile(join(COPY, file), source.replaceAll('// Stryker disable', '// Not disabled'));
}
await symlink(resolve('node_modules'), join(COPY, 'node_modules'));

const ranges = new Set(excuses.map(({ file, line }) => `${file}:${line}-${line}`));
const args = ['run', 'test/mutation/stryker.config.mjs', '--mutate', [...ranges].join(',')];
const PATH = [resolve('node_modules/.bin'), process.env.PATH].join(delimiter);
spawnSync('stryker', args, { cwd: COPY, stdio: 'inherit', env: { ...process.env, PATH } });

const report: Report = JSON.parse(await readFile(join(COPY, '.local/mutation/report.json'), 'utf8'));
const needless = excuses.filter(({ file, line, mutator }) =>
  (report.files[file]?.mutants ?? [])
    .filter(({ mutatorName, location }) => mutatorName === mutator && location.start.line === line)
    .every(({ status }) => status === 'Killed' || status === 'Timeout'),
);
for (const { file, line, mutator } of needless) {
  process.stdout.write(`Not needed, because tests find all of its mutants: ${file}:${line} ${mutator}\n`);
}
if (needless.length > 0) process.exitCode = 1;
