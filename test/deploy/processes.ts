/**
 * The programs that the rehearsal starts. Each has a process group of its own, so that it ends with all that it has
 * started itself, also after a failure and Ctrl-C.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

export type Environment = Record<string, string>;

/** A program that does not end is ended after this many milliseconds. */
const TIMEOUT_MS = 600_000;

/** Milliseconds that a program has to end by itself after a signal. */
const FAREWELL = 5_000;

const SETPRIV = '/usr/bin/setpriv';

const running = new Set<ChildProcess>();

/** Starts a program. If the system supports it, the program ends with this process, even if that is killed. */
export const start = (
  command: string,
  args: string[],
  { env, cwd }: { env: NodeJS.ProcessEnv; cwd?: string },
): ChildProcess => {
  const [program = command, ...all] = [
    ...(existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'TERM'] : []),
    command,
    ...args,
  ];
  const child = spawn(program, all, { env, cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  // A program that cannot be started has no process. The event `close` follows.
  child.once('error', () => running.delete(child));
  return child;
};

export interface Ended {
  /** Null if a signal ended the program, or it could not be started. */
  status: number | null;
  stdout: string;
  /** Both outputs, in their order. */
  output: string;
}

/** Runs a program to its end. */
export const run = async (
  command: string,
  args: string[],
  options: { env: NodeJS.ProcessEnv; cwd?: string },
): Promise<Ended> => {
  const child = start(command, args, options);
  let [stdout, output] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    output += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const limit = setTimeout(() => void end(child), TIMEOUT_MS);
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(limit);
  running.delete(child);
  return { status, stdout, output };
};

/** Ends a program with its whole group. */
export const end = async (child: ChildProcess): Promise<void> => {
  const isOver = () => child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
  signalGroup(child, 'SIGTERM');
  for (const limit = Date.now() + FAREWELL; !isOver() && Date.now() < limit; ) await pause(20);
  endNow(child);
};

/** Ends all programs at once, when this process has no time left. */
export const endAllNow = (): void => {
  for (const child of running) endNow(child);
};

/** The group may outlive its first process. */
const endNow = (child: ChildProcess): void => {
  signalGroup(child, 'SIGKILL');
  running.delete(child);
};

const signalGroup = ({ pid }: ChildProcess, signal: NodeJS.Signals): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Nothing of the group is running.
  }
};
