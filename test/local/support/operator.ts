/** Runs an operator command in the test's process, or in a separate one. */
import { spawn } from 'node:child_process';
import { vi } from 'vitest';
import { runCommand } from '../../../infra/operator/program.ts';
import { replaceEnvironment } from '../../support/first-environment.ts';

/** Runs a command in this process. Returns its exit code and its output, with the line of its target. */
export const runHere = async (...args: string[]) => {
  const written = { stdout: '', stderr: '' };
  const environment = { ...process.env };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      written[name] += text;
      return true;
    }),
  );
  try {
    await runCommand(args);
    return { code: process.exitCode ?? 0, ...written };
  } finally {
    process.exitCode = undefined;
    // Commands set the table that they use.
    replaceEnvironment(environment);
    for (const spy of spies) spy.mockRestore();
  }
};

/** Starts a command in a separate process, which ends with the test. */
export const spawnOperator = (...args: string[]) => {
  const child = spawn(process.execPath, ['infra/operator/main.ts', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
    });
  }
  return { child, written };
};
