/**
 * What one run of the tests leaves for its last tests and for people: a folder for each run, so that no run reads or
 * overwrites what another one wrote.
 */
import { appendFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { MadeCall } from '../../infra/local/aws/iam/roles.ts';
import { localFolder } from '../../infra/local/stack-file.ts';

export interface RunRecord {
  /** The synthesised stack that the stack tests run on. */
  assembly: string;
  /** The log lines of the served stack. */
  log: string;
  /** The kinds of calls that functions made in AWS, on all stacks of the stack tests: one a line, as JSON. */
  calls: string;
  /** The paths of the stack tests that ran, one a line. */
  ran: string;
  /** The names of the stack tests that failed, one a line. */
  failed: string;
  /** Each function's rights, and the calls that used them. */
  fences: string;
  /** Whether some stack tests were left out of files that ran: by a name, by tags, or because only changes run again. */
  isNarrowed: boolean;
}

const runs = join(localFolder, 'test-runs');

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Makes the folder of the run that this process is, empty. Removes those of processes that have ended. */
export const startRecord = async (isNarrowed: boolean): Promise<RunRecord> => {
  await mkdir(runs, { recursive: true });
  const over = (await readdir(runs)).filter((pid) => Number(pid) === process.pid || !isRunning(Number(pid)));
  for (const pid of over) await rm(join(runs, pid), { recursive: true, force: true });
  const folder = join(runs, String(process.pid));
  await mkdir(folder);
  return {
    assembly: join(folder, 'assembly'),
    log: join(folder, 'stack.log'),
    calls: join(folder, 'calls.jsonl'),
    ran: join(folder, 'ran.txt'),
    failed: join(folder, 'failed.txt'),
    fences: join(folder, 'fences.json'),
    isNarrowed,
  };
};

/** Adds a line. Several processes do, and each line is written whole. */
export const addLine = (file: string, line: string): void => appendFileSync(file, `${line}\n`);

/** Adds each kind of call to the file. */
export const callRecorder =
  (file: string) =>
  (call: MadeCall): void =>
    addLine(file, JSON.stringify(call));

/** The lines of a file, each once; none, if nobody has written it. */
export const readLines = async (file: string): Promise<string[]> => {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return [...new Set(text.split('\n').slice(0, -1))];
};
