/**
 * `npm run rehearse`: its guide, faults of the app network, and wrong options.
 *
 * @module-tag long
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { withOutputs } from '../support/guide-outputs.ts';

const GUIDE = 'infra/docs/tools/rehearse.md';

/** The environment of a command that writes its files into a folder, which is removed after the test. */
const withFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'rehearse-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return { folder, env: { ...process.env, LOCAL_FOLDER: folder, NODE_OPTIONS: '' } };
};

/** Runs the command, and returns what it printed, its exit code, and the files that it wrote. */
const rehearse = async (...options: string[]) => {
  const { folder, env } = await withFolder();
  const run = spawn(process.execPath, ['test/rehearse/main.ts', ...options], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, errors, [code]] = await Promise.all([text(run.stdout), text(run.stderr), once(run, 'exit')]);
  return { out, errors, code, files: await readdir(folder) };
};

/** Each attempt reads what may prevent it. */
const readsIn = (out: string): number => Number(/^read units of a message +(?<units>[\d.]+)/m.exec(out)?.groups?.units);

test('the guide shows the outputs of its commands (npm run guides writes them)', { timeout: 700_000 }, async () => {
  const { folder, env } = await withFolder();
  const replacements = { [relative(process.cwd(), folder)]: '.local' };
  const written = await withOutputs(await readFile(GUIDE, 'utf8'), { env, replacements });
  await expect(written).toMatchFileSnapshot(resolve(GUIDE));
});

test('calls that fail cost more units, and the prediction names them as a source', { timeout: 700_000 }, async () => {
  const plan = ['--messages', '1e6', '--accounts', '2', '--played', '40'];
  const usual = await rehearse(...plan);
  expect(usual).toMatchObject({ code: 0, files: expect.arrayContaining(['rehearsal.svg']) });
  const failing = await rehearse(...plan, '--failing', '0.33');
  expect(failing.code).toBe(0);
  expect(failing.out).toMatch(/this run of 40 messages, 33 % of calls failing$/m);
  expect(readsIn(failing.out)).toBeGreaterThan(readsIn(usual.out));
});

test('an app network that accepts nothing ends the command with how far it came, and nothing is predicted', async () => {
  const { out, errors, code, files } = await rehearse('--played', '5', '--failing', '1', '--timeout', '5');
  expect({ out, code }).toEqual({ out: '', code: 1 });
  expect(files).not.toContain('rehearsal.svg');
  expect(errors).toContain('error: No progress for 5 s. Of 5 messages: 0 on phones. ');
});

test('a wrong option ends the command with its name, before anything is played', async () => {
  const { out, errors, code } = await rehearse('--profile', 'party');
  expect({ out, errors, code }).toEqual({
    out: '',
    errors: 'error: --profile must be one of: api, campaign.\n',
    code: 1,
  });
});
