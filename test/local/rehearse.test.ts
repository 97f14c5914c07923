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
import { shareAssemblies } from '../support/shared-assemblies.ts';

const GUIDE = 'infra/docs/tools/rehearse.md';

/** Each attempt reads what may prevent it. */
const readsIn = (out = ''): number => Number(/^read units of a message +(?<units>[\d.]+)/m.exec(out)?.groups?.units);

test('the guide shows the outputs of its commands (npm run guides writes them), which tell what failing calls cost', {
  timeout: 700_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'rehearse-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await shareAssemblies(folder);
  const env = { ...process.env, LOCAL_FOLDER: folder, NODE_OPTIONS: '' };
  const replacements = { [relative(process.cwd(), folder)]: '.local' };
  const { guide, ended } = await withOutputs(await readFile(GUIDE, 'utf8'), { env, replacements });
  await expect(guide).toMatchFileSnapshot(resolve(GUIDE));
  // The third one removes the picture, so that the last one must not draw another.
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0, 1]);
  expect(await readdir(folder)).not.toContain('rehearsal.svg');
  const [usual, failing] = ended;
  expect(readsIn(failing?.output)).toBeGreaterThan(readsIn(usual?.output));
});

test('a wrong option ends the command with its name, before anything is played', async () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['test/rehearse/main.ts', '--profile', 'party'], {
    env: { ...process.env, NODE_OPTIONS: '' },
    encoding: 'utf8',
    timeout: 100_000,
  });
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: '',
    stderr: 'error: --profile must be one of: api, campaign.\n',
  });
});
