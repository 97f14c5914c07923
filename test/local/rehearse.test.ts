/**
 * `npm run rehearse`: its guide, faults of the app network, and wrong options.
 *
 * @module-tag long
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { withOutputs } from '../support/guide-outputs.ts';

const GUIDE = 'infra/docs/tools/rehearse.md';

/** Each attempt reads what may prevent it. */
const readsIn = (out = ''): number => Number(/^read units of a message +(?<units>[\d.]+)/m.exec(out)?.groups?.units);

test('the guide shows the outputs of its commands (npm run guides writes them); calls that fail cost more units', {
  timeout: 700_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'rehearse-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const env = { ...process.env, LOCAL_FOLDER: folder, NODE_OPTIONS: '' };
  const replacements = { [relative(process.cwd(), folder)]: '.local' };
  const { guide, outputs } = await withOutputs(await readFile(GUIDE, 'utf8'), { env, replacements });
  await expect(guide).toMatchFileSnapshot(resolve(GUIDE));
  const [usual, failing] = outputs;
  expect(readsIn(failing)).toBeGreaterThan(readsIn(usual));
  expect(await readdir(folder)).toContain('rehearsal.svg');
});

test('a wrong option ends the command with its name, before anything is played', async () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['test/rehearse/main.ts', '--profile', 'party'], {
    encoding: 'utf8',
  });
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: '',
    stderr: 'error: --profile must be one of: api, campaign.\n',
  });
});
