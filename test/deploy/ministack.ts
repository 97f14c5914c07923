/** The emulator MiniStack as a process, with its data in a temporary folder. */
import type { ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../infra/local/aws/loopback.ts';
import { type Environment, end, start } from './processes.ts';

/** The time limit of the start, in milliseconds, for a busy machine. */
const TIMEOUT_MS = 60_000;

/** Most lines of the log that a failure prints. */
const SHOWN = 40;

interface Options {
  /** The Python that has MiniStack. */
  python: string;
  /** An empty folder for its files. */
  folder: string;
  /** Where its output is written. */
  log: string;
  env: Environment;
}

export class Ministack {
  /** The endpoint of all services. */
  readonly endpoint: string;
  readonly #child: ChildProcess;
  readonly #log: string;

  private constructor(child: ChildProcess, endpoint: string, log: string) {
    this.#child = child;
    this.endpoint = endpoint;
    this.#log = log;
  }

  static async start({ python, folder, log, env }: Options): Promise<Ministack> {
    const port = await freePort();
    // Its scripts are CommonJS, and Node.js reads the next package.json above them.
    await writeFile(join(folder, 'package.json'), '{}');
    const child = start(python, ['-m', 'ministack'], {
      cwd: folder,
      env: {
        ...env,
        TMPDIR: folder,
        GATEWAY_PORT: `${port}`,
        // Without it, the emulator serves every network of this machine.
        BIND_HOST: '127.0.0.1',
        MINISTACK_HOST: 'localhost',
        // By default, the quota depends on the memory of this machine.
        LAMBDA_ACCOUNT_CONCURRENCY: '1000',
        // Functions inherit them. Only those with the modules of the local stack read them.
        ALLOW_LOOPBACK: 'true',
        TABLE_TIMEOUT_MS: '30000',
      },
    });
    const file = createWriteStream(log);
    child.stdout?.pipe(file);
    child.stderr?.pipe(file);
    const ministack = new Ministack(child, `http://127.0.0.1:${port}`, log);
    await ministack.#untilItAnswers();
    return ministack;
  }

  async #untilItAnswers(): Promise<void> {
    for (const limit = Date.now() + TIMEOUT_MS; this.#child.exitCode === null && Date.now() < limit; await pause(100)) {
      const answer = await fetch(`${this.endpoint}/_ministack/health`).catch(() => undefined);
      await answer?.arrayBuffer();
      if (answer?.ok) return;
    }
    throw new Error('MiniStack does not start.');
  }

  /** The last lines of its log that report a problem. */
  async problems(): Promise<string> {
    const lines = (await readFile(this.#log, 'utf8')).split('\n');
    return lines
      .filter((line) => /\[(WARNING|ERROR)\]| (WARNING|ERROR) |"level":"(warn|error)"/.test(line))
      .slice(-SHOWN)
      .join('\n');
  }

  async close(): Promise<void> {
    await end(this.#child);
  }
}
