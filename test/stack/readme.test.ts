import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { delimiter, dirname } from 'node:path';
import { expect, inject, test } from 'vitest';
import { problemCatalogue } from '../../shared/problems.ts';
import { newPanelist, newVendor } from './support/world.ts';

test('the first requests of the README work when pasted', async () => {
  const readme = await readFile('README.md', 'utf8');
  const [, script = ''] = /<!-- test: these requests are run -->\n```sh\n([^`]+)```/.exec(readme) ?? [];
  const { token } = await newVendor();
  const { status, stdout } = spawnSync('bash', ['-euc', script], {
    encoding: 'utf8',
    env: {
      BASE_URL: inject('stack').base_url,
      TOKEN: token,
      PANELIST: await newPanelist(),
      PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
    },
  });
  expect(status).toBe(0);
  const [created = '', list = '', read = '', answered, deleted, gone = '', notFound] = stdout.trim().split('\n');
  const { profiler_id, options } = JSON.parse(created);
  expect(Object.keys(options)).toEqual(['tea', 'coffee', 'neither']);
  expect(JSON.parse(list)).toEqual([{ id: profiler_id, ...JSON.parse(read) }]);
  expect([answered, deleted, JSON.parse(gone).code, notFound]).toEqual(['204', '204', 'profiler_not_found', '404']);
});

test('the README explains every problem, with its status', async () => {
  const readme = await readFile('README.md', 'utf8');
  for (const [code, { status }] of Object.entries(problemCatalogue)) {
    expect(readme).toMatch(new RegExp(`\\| ${status} +\\| \`${code}\` +\\|`));
  }
});
