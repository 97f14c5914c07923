/** The local stack, as `npm start` runs it in a process of its own. */
import type { ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { StackFile } from '../../infra/operator/local-stack/stack-file.ts';
import { end, start } from '../deploy/processes.ts';
import { shareAssemblies } from '../support/shared-assemblies.ts';

export interface RunningStack extends StackFile {
  process: ChildProcess;
  /** The path of the file with its output. */
  log: string;
}

/** The time limit of the start, in milliseconds, for a busy machine. */
const TIMEOUT_MS = 180_000;

const ENTRY = join(import.meta.dirname, '../../infra/local/start.ts');

/**
 * Starts a stack on free ports, with its files in `folder`.
 *
 * @throws Error — the stack ended, or did not start in time
 */
export const startStack = async (folder: string): Promise<RunningStack> => {
  const log = join(folder, 'stack.log');
  await shareAssemblies(folder);
  const child = start(process.execPath, [ENTRY], { env: { ...process.env, PORT: '0', LOCAL_FOLDER: folder } });
  const output = createWriteStream(log);
  child.stdout?.pipe(output);
  child.stderr?.pipe(output);
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  for (const limit = Date.now() + TIMEOUT_MS; Date.now() < limit && !hasEnded(); ) {
    const text = await readFile(join(folder, 'stack.json'), 'utf8').catch(() => undefined);
    if (text !== undefined) return { ...JSON.parse(text), process: child, log };
    await pause(200);
  }
  await end(child);
  throw new Error(`The local stack does not start:\n${await readFile(log, 'utf8')}`);
};
