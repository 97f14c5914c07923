/** Runs an operator command in the test's process, or in a separate one. */
import { spawn } from 'node:child_process';
import { vi } from 'vitest';
import { runCommand } from '../../infra/operator/program.ts';
import { replaceEnvironment } from './first-environment.ts';

/** Runs a command in this process, in another environment if one is given. Returns its exit code and its output. */
export const runHere = async (args: string[], environment?: NodeJS.ProcessEnv) => {
  const written = { stdout: '', stderr: '' };
  const before = { ...process.env };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      written[name] += text;
      return true;
    }),
  );
  if (environment !== undefined) replaceEnvironment(environment);
  try {
    await runCommand(args);
    return { code: process.exitCode ?? 0, ...written };
  } finally {
    process.exitCode = undefined;
    // Commands set the table that they use.
    replaceEnvironment(before);
    for (const spy of spies) spy.mockRestore();
  }
};

/** Starts a command in a separate process, which ends with the test. */
export const spawnOperator = (args: string[], env = process.env) => {
  const child = spawn(process.execPath, ['infra/operator/main.ts', ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
    });
  }
  return { child, written };
};
