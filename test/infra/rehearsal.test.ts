/** `npm run test:deploy` without Python or MiniStack, and what it leaves out of the stack. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { withoutUnsupported } from '../deploy/assembly.ts';

const newFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'without-python-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
};

/** Runs the script with this folder as PATH, by default as in CI. */
const rehearse = async (path: string, CI = 'true') => {
  const TMPDIR = await newFolder();
  const { status, stdout, stderr } = spawnSync(process.execPath, ['test/deploy/main.ts'], {
    env: { ...process.env, CI, PATH: path, TMPDIR, LOCAL_FOLDER: TMPDIR },
    encoding: 'utf8',
  });
  return { status, stdout, stderr, left: (await readdir(TMPDIR)).filter(isOfRehearsal) };
};

/** Whether a temporary folder is one of the rehearsal. */
const isOfRehearsal = (name: string): boolean => name.startsWith('rehearsal-');

/** Writes a program `python3`: a shell script. */
const writeProgram = async (folder: string, script: string): Promise<void> => {
  const program = join(folder, 'python3');
  await writeFile(program, `#!/bin/sh\n${script}\n`);
  await chmod(program, 0o755);
};

/** A folder with a program `python3` of this version, which fails otherwise. */
const python = async (version: string): Promise<string> => {
  const folder = await newFolder();
  await writeProgram(folder, `[ "$1" = -c ] && echo ${version} && exit\necho No module of that name; exit 1`);
  return folder;
};

test('without Python, the rehearsal fails in CI, and names what to install', { tags: 'long' }, async () => {
  expect(await rehearse(await newFolder())).toEqual({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /^SetupError: There is no python3 on the PATH: install Python 3\.11 or newer\. .+ python3-venv\.\n$/,
    ),
    left: [],
  });
});

test('without Python, the rehearsal prints one line and exits with 0 outside of CI', { tags: 'long' }, async () => {
  expect(await rehearse(await newFolder(), '')).toEqual({
    status: 0,
    stdout: 'Nothing was tested, because there is no python3 on the PATH.\n',
    stderr: '',
    left: [],
  });
});

test.each([
  ['3 10', /^SetupError: python3 is version 3\.10: install Python 3\.11 or newer\.\n$/],
  [
    '3 12',
    /^SetupError: python3 cannot create a virtual environment\. .* install the package python3-venv\.\nNo module of that name\n$/,
  ],
])(
  'with Python, the rehearsal is never skipped: Python %s that cannot install MiniStack is an error',
  { tags: 'long' },
  async (version, message) => {
    expect(await rehearse(await python(version))).toEqual({
      status: 1,
      stdout: expect.stringMatching(/^FAILED .+ MiniStack is installed\n$/),
      stderr: expect.stringMatching(message),
      left: [],
    });
  },
);

test('Ctrl-C ends all programs, even one that ignores SIGTERM, and leaves no files', { tags: 'long' }, async () => {
  const path = await newFolder();
  const TMPDIR = await newFolder();
  const pidFile = join(path, 'pid');
  await writeProgram(
    path,
    `[ "$1" = -c ] && echo 3 12 && exit\ntrap '' TERM\necho $$ > ${pidFile}\nwhile :; do /bin/sleep 1; done`,
  );
  const child = spawn(process.execPath, ['test/deploy/main.ts'], {
    env: { ...process.env, PATH: path, TMPDIR, LOCAL_FOLDER: TMPDIR },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  const pid = await vi.waitUntil(async () => Number(await readFile(pidFile, 'utf8').catch(() => 0)) || undefined, {
    timeout: 50_000,
  });
  expect(isRunning(pid)).toBe(true);
  child.kill('SIGINT');
  expect(await ended).toEqual([1, null]);
  await vi.waitUntil(() => !isRunning(pid), { timeout: 50_000 });
  expect((await readdir(TMPDIR)).filter(isOfRehearsal)).toEqual([]);
});

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('what MiniStack does not support is left out, with all references to it', () => {
  const alarm = { Type: 'AWS::CloudWatch::Alarm', Properties: { MetricName: 'Errors' } };
  const Resources = {
    Plain: alarm,
    Math: { ...alarm, Properties: { Metrics: [] } },
    Query: { Type: 'AWS::Logs::QueryDefinition', Properties: {} },
    Budget: { Type: 'AWS::Budgets::Budget', Properties: {} },
    Dashboard: {
      Type: 'AWS::CloudWatch::Dashboard',
      Properties: {
        Body: { 'Fn::Join': [',', [{ 'Fn::GetAtt': ['Math', 'Arn'] }, { 'Fn::GetAtt': ['Plain', 'Arn'] }]] },
      },
      DependsOn: ['Query', 'Plain'],
    },
  };
  const { template, excluded } = withoutUnsupported({ Resources });
  expect(template.Resources).toEqual({
    Plain: alarm,
    Dashboard: {
      Type: 'AWS::CloudWatch::Dashboard',
      Properties: { Body: { 'Fn::Join': [',', ['excluded:Math', { 'Fn::GetAtt': ['Plain', 'Arn'] }]] } },
      DependsOn: ['Plain'],
    },
  });
  expect(excluded).toEqual([
    'Math (alarm with metric math)',
    'Query (saved query)',
    'Budget (budget)',
    '1 references to them in Dashboard (AWS::CloudWatch::Dashboard)',
  ]);
  expect(() => withoutUnsupported(template)).toThrow('The stack has no saved query: shorten the list.');
});
