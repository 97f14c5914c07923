/** A test that fails is repeated once in some parts of `.ci/run`, which name it, and never in `npm test`. */
import { spawnSync } from 'node:child_process';
import { glob, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import config from '../../vitest.config.ts';
import { isLongFile } from '../support/tags.ts';

test('npm test repeats nothing', async () => {
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8'));
  expect(scripts.test).not.toContain('retry');
  expect(JSON.stringify(config)).not.toContain('"retry"');
  // Files with this tag are not part of it.
  for await (const file of glob('test/{unit,infra,local,stack,fences}/**/*.test.ts')) {
    const source = await readFile(file, 'utf8');
    if (!isLongFile(source)) expect(source, file).not.toMatch(/^\s*retry: \d|\{ retry: \d/m);
  }
});

test('four parts of .ci/run repeat a test that fails once', async () => {
  const parts = (await readFile('.ci/run', 'utf8')).split(/^run_/m).slice(1);
  const repeating = parts.filter((part) => part.includes(' -- --retry=1')).map((part) => part.split('(')[0]);
  expect(repeating).toEqual(['long', 'endurance', 'browser', 'clients']);
});

test('a test that passes only when it is repeated is named before the summary', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'repeats-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const vitest = JSON.stringify(resolve('node_modules/vitest/dist/index.js'));
  await writeFile(
    join(folder, 'some.test.mjs'),
    `import { describe, expect, test } from ${vitest};
     let runs = 0;
     describe('a group', () => test('passes at last', () => expect((runs += 1)).toBe(2)));
     test('passes at once', () => undefined);`,
  );
  const summary = JSON.stringify(resolve('test/support/summary.ts'));
  await writeFile(
    join(folder, 'vitest.config.mjs'),
    `import { summary } from ${summary}; export default { test: { reporters: [summary, 'default'] } };`,
  );
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [resolve('node_modules/vitest/vitest.mjs'), 'run', '--root', folder, ...args], {
      encoding: 'utf8',
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined },
    });
  const repeated = run('--retry=1');
  expect({ status: repeated.status, stderr: repeated.stderr }).toEqual({ status: 0, stderr: '' });
  expect(repeated.stdout.match(/^flaky: .+$/gm)).toEqual(['flaky: some.test.mjs > a group > passes at last']);
  expect(repeated.stdout).toMatch(/^flaky: .+\n {2}\S.*$/m);
  expect(repeated.stdout.indexOf('flaky: ')).toBeLessThan(repeated.stdout.indexOf('Test Files'));
  expect(run()).toMatchObject({ status: 1, stdout: expect.not.stringContaining('flaky: ') });
});
