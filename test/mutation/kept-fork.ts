/**
 * A Vitest pool that keeps its process from run to run: dependencies are loaded once for many runs. Vitest's own pools
 * end their processes after each run, and loading takes longer than most tests.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import {
  distDir,
  type PoolOptions,
  type PoolRunnerInitializer,
  type PoolWorker,
  type WorkerRequest,
} from 'vitest/node';

/** Runs after which a process is replaced, because each run loads the sources again, and never frees them. */
const RUNS = 200;

class KeptFork implements PoolWorker {
  readonly name = 'kept';
  readonly #options: Pick<PoolOptions, 'env' | 'execArgv'>;
  /** Listeners of the present run. */
  #listeners = new EventEmitter();
  #child: ChildProcess | undefined;
  #ready: unknown;
  #runs = 0;
  /** Whether Vitest waits for the process. Vitest fails if a process exits that it has stopped. */
  #isRunning = false;

  constructor(options: Pick<PoolOptions, 'env' | 'execArgv'>) {
    this.#options = options;
  }

  on(event: string, callback: (argument: unknown) => void): void {
    this.#listeners.on(event, callback);
  }

  off(event: string, callback: (argument: unknown) => void): void {
    this.#listeners.off(event, callback);
  }

  /** Only the first run sets up the process. A stop message is not passed on, so that the process continues. */
  send(message: WorkerRequest): void {
    this.#isRunning = message.type !== 'stop';
    if (message.type === 'start' && this.#ready !== undefined) this.#answer(this.#ready);
    else if (message.type === 'stop') this.#answer({ type: 'stopped', __vitest_worker_response__: true });
    else this.#child?.send(message);
  }

  async start(): Promise<void> {
    this.#runs += 1;
    if (this.#runs > RUNS) await this.end();
    if (this.#child !== undefined) return;
    const { env, execArgv } = this.#options;
    const child = fork(join(distDir, 'workers/forks.js'), [], {
      env: env as NodeJS.ProcessEnv,
      execArgv,
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      serialization: 'advanced',
    });
    child.stdout?.resume();
    this.#child = child;
    this.#runs = 0;
    child.on('message', (message: { type?: unknown }) => {
      if (message?.type === 'started') this.#ready = message;
      this.#listeners.emit('message', message);
    });
    child.on('exit', (code) => {
      this.#child = undefined;
      this.#ready = undefined;
      if (this.#isRunning) this.#listeners.emit('exit', code);
    });
    child.on('error', (error) => this.#listeners.emit('error', error));
  }

  /** Ends a run, but not the process. */
  async stop(): Promise<void> {
    this.#listeners = new EventEmitter();
  }

  deserialize(data: unknown): unknown {
    return data;
  }

  /** Kills the process. The next run starts a new one. */
  async end(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await exited;
  }

  #answer(message: unknown): void {
    queueMicrotask(() => this.#listeners.emit('message', message));
  }
}

/** Creates workers with one process per project. */
export class KeptForks implements PoolRunnerInitializer {
  readonly name = 'kept';
  readonly #forks = new Map<string, KeptFork>();

  createPoolWorker({ project, env, execArgv }: PoolOptions): PoolWorker {
    const kept = this.#forks.get(project.name) ?? new KeptFork({ env, execArgv });
    this.#forks.set(project.name, kept);
    return kept;
  }

  /** Ends all processes. */
  async end(): Promise<void> {
    await Promise.all([...this.#forks.values()].map((kept) => kept.end()));
  }
}
