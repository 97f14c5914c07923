/**
 * The records of one test run, for its last tests and for people. Each run has its own folder, so that runs do not read
 * or overwrite each other's files.
 */
import { appendFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { MadeCall } from '../../infra/local/aws/iam/roles.ts';
import { isRunning, localFolder } from '../../infra/operator/local-stack/stack-file.ts';

export interface RunRecord {
  /** The synthesised stack of the stack tests. */
  assembly: string;
  /** The folder with the files of functions that run in the process of a test. */
  functionFolder: string;
  /** The log lines of the local stack. */
  log: string;
  /** The kinds of AWS calls of the functions, on all stacks of the stack tests: one JSON line each. */
  calls: string;
  /** Calls to the table, as `TableCall`: one JSON line each. */
  tableCalls: string;
  /** The paths of the stack test files that a run should have: those of `npm test`, or all. */
  expected: string[];
  /** The paths of the stack test files that ran, one per line. */
  ran: string;
  /** The names of the failed stack tests, one per line. */
  failed: string;
  /** Each function's rights, and the calls that used them. */
  fences: string;
  /** The stack tests of the run, by its filters. */
  tests: Tests;
}

/** Which stack tests a run has: all, those of `npm test`, the others, or a choice by name or tag, or of what has changed. */
export type Tests = 'all' | 'quick' | 'long' | 'some';

/** The calls of a complete run of the quick tests, which a run of the long ones completes. */
export interface QuickRun {
  /** The hash of the template: the functions and roles of the run. */
  stack: string;
  ran: string[];
  calls: string[];
  tableCalls: string[];
}

const runs = join(localFolder, 'test-runs');

/** The last complete run of the quick tests. */
export const quickRun = join(localFolder, 'quick-run.json');

/** A call to the table of each kind: of the last complete run of the quick tests, and of the long ones after it. */
export const lastTableCalls = join(localFolder, 'table-calls.jsonl');

/** Creates an empty folder for the run of this process. Removes the folders of ended processes. */
export const startRecord = async (expected: string[], tests: Tests): Promise<Omit<RunRecord, 'assembly'>> => {
  await mkdir(runs, { recursive: true });
  const over = (await readdir(runs)).filter((pid) => Number(pid) === process.pid || !isRunning(Number(pid)));
  for (const pid of over) await rm(join(runs, pid), { recursive: true, force: true });
  const folder = join(runs, String(process.pid));
  await mkdir(folder);
  return {
    functionFolder: join(folder, 'function'),
    log: join(folder, 'stack.log'),
    calls: join(folder, 'calls.jsonl'),
    tableCalls: join(folder, 'table-calls.jsonl'),
    expected,
    ran: join(folder, 'ran.txt'),
    failed: join(folder, 'failed.txt'),
    fences: join(folder, 'fences.json'),
    tests,
  };
};

/** Appends a line. Concurrent processes may append: each line is written whole. */
export const addLine = (file: string, line: string): void => appendFileSync(file, `${line}\n`);

/** Returns a function that appends a call to the file. */
export const callRecorder =
  (file: string) =>
  (call: MadeCall): void =>
    addLine(file, JSON.stringify(call));

/** The distinct lines of a file. Returns an empty list if the file does not exist. */
export const readLines = async (file: string): Promise<string[]> => {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return [...new Set(text.split('\n').slice(0, -1))];
};
