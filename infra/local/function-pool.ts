/**
 * A function on this machine: worker threads that run its bundle, one call at a time each, as Lambda's environments do.
 * Threads start when calls come, more of them while calls wait, and go when they have had nothing to do for a while.
 */
import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Worker } from 'node:worker_threads';
import type { FunctionDefinition } from './template/definitions.ts';
import type { Call, Outcome, ThreadData } from './worker-thread.ts';

/** Lambda takes and gives at most this many bytes. */
export const MAX_PAYLOAD = 6 * 1024 * 1024;

/**
 * While calls wait, it is looked every so many milliseconds whether more threads are due. One is when no call has ended
 * since the last look. Where calls end, but too few for those that wait, as many are as there are cores with nothing to
 * do. So calls that wait for something get threads, and quick ones, which more threads on the same cores would only slow
 * down, share a few.
 */
const GROWTH_INTERVAL = 50;
/** Calls may wait for so many looks before they are too many. */
const PATIENCE = 4;
const MAX_STARTING = 4;
/** A function runs so many calls at a time. */
export const MAX_THREADS = 250;
/** A thread that had no call for this many milliseconds ends. */
const IDLE = 60_000;

/** The function could not do it: it threw, ended, ran out of time, or answered too much. */
class FunctionError extends Error {
  override readonly name = 'FunctionError';
}

interface Waiting {
  event: string;
  settle: (outcome: Outcome) => void;
}

interface Thread {
  worker: Worker;
  starting: boolean;
  /** Milliseconds that it has worked, and not waited, until the last look. */
  worked: number;
  finish: ((outcome: Outcome) => void) | undefined;
  idle: NodeJS.Timeout | undefined;
}

export class FunctionPool {
  readonly #definition: FunctionDefinition;
  readonly #environment: Record<string, string>;
  readonly #onLine: (line: string) => void;
  readonly #threads = new Set<Thread>();
  readonly #free: Thread[] = [];
  readonly #waiting: Waiting[] = [];
  #growth: NodeJS.Timeout | undefined;
  /** Calls that ended since the last look. */
  #ended = 0;
  #looked = 0;
  #closed = false;

  constructor(definition: FunctionDefinition, environment: Record<string, string>, onLine: (line: string) => void) {
    this.#definition = definition;
    this.#environment = environment;
    this.#onLine = onLine;
  }

  /**
   * Calls the function.
   *
   * @throws FunctionError
   */
  async invoke(event: unknown): Promise<unknown> {
    const outcome = await new Promise<Outcome>((settle) => {
      this.#waiting.push({ event: JSON.stringify(event), settle });
      this.#next();
      if (this.#threads.size === 0) this.#start();
      if (this.#growth === undefined) this.#lookSoon();
    });
    if ('error' in outcome) throw new FunctionError(outcome.error);
    if (Buffer.byteLength(outcome.result) > MAX_PAYLOAD) throw new FunctionError('ResponseSizeTooLarge');
    return JSON.parse(outcome.result);
  }

  /** Ends a thread that is at work, as a crash would. Answers whether there was one. */
  kill(): boolean {
    const thread = [...this.#threads].find(({ finish }) => finish !== undefined);
    if (thread) void this.#end(thread, 'Killed');
    return thread !== undefined;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#growth);
    for (const waiting of this.#waiting.splice(0)) waiting.settle({ error: 'Closed' });
    await Promise.all([...this.#threads].map((thread) => this.#end(thread, 'Closed')));
  }

  /** Gives free threads the calls that wait longest. */
  #next(): void {
    while (this.#waiting.length > 0) {
      const thread = this.#free.pop();
      const waiting = thread && this.#waiting.shift();
      if (!waiting) return;
      this.#run(thread, waiting);
    }
  }

  #lookSoon(): void {
    this.#looked = performance.now();
    this.#busyCores();
    this.#ended = 0;
    this.#growth = setTimeout(() => this.#grow(), GROWTH_INTERVAL);
  }

  #grow(): void {
    this.#growth = undefined;
    const waiting = this.#waiting.length;
    if (waiting === 0 || this.#closed) return;
    const starting = [...this.#threads].filter((thread) => thread.starting).length;
    const idleCores = Math.floor(availableParallelism() - this.#busyCores() - starting);
    const isStuck = this.#ended === 0;
    const isSlow = waiting > this.#ended * PATIENCE;
    const due = isSlow ? Math.max(idleCores, isStuck ? 1 : 0) : 0;
    for (let more = Math.min(due, waiting, MAX_STARTING - starting); more > 0; more -= 1) this.#start();
    this.#lookSoon();
  }

  /** How many cores the threads have kept busy since the last look. */
  #busyCores(): number {
    const elapsed = performance.now() - this.#looked;
    let worked = 0;
    for (const thread of this.#threads) {
      const { active } = thread.worker.performance.eventLoopUtilization();
      worked += active - thread.worked;
      thread.worked = active;
    }
    return worked / elapsed;
  }

  #run(thread: Thread, { event, settle }: Waiting): void {
    clearTimeout(thread.idle);
    const { timeout } = this.#definition;
    const timer = setTimeout(() => void this.#end(thread, 'TimedOut'), timeout);
    thread.finish = (outcome) => {
      clearTimeout(timer);
      thread.finish = undefined;
      settle(outcome);
    };
    const call: Call = { requestId: randomUUID(), event, deadline: Date.now() + timeout };
    thread.worker.postMessage(call);
  }

  #start(): void {
    if (this.#closed || this.#threads.size >= MAX_THREADS) return;
    const { folder, handler, memory } = this.#definition;
    const [file = '', exported = ''] = handler.split('.');
    const workerData: ThreadData = { bundle: join(folder, `${file}.mjs`), export: exported };
    const worker = new Worker(new URL('./worker-thread.ts', import.meta.url), {
      workerData,
      env: this.#environment,
      execArgv: ['--enable-source-maps', '--disable-warning=ExperimentalWarning'],
      resourceLimits: { maxOldGenerationSizeMb: memory },
      stdout: true,
      stderr: true,
    });
    const thread: Thread = { worker, starting: true, worked: 0, finish: undefined, idle: undefined };
    this.#threads.add(thread);
    for (const stream of [worker.stdout, worker.stderr]) createInterface(stream).on('line', this.#onLine);
    worker.once('online', () => {
      thread.starting = false;
      this.#release(thread);
    });
    worker.on('message', (outcome: Outcome) => {
      this.#ended += 1;
      thread.finish?.(outcome);
      this.#release(thread);
    });
    worker.once('error', ({ name }: Error) => this.#lose(thread, name));
    worker.once('exit', () => this.#lose(thread, 'Exited'));
  }

  #release(thread: Thread): void {
    if (!this.#threads.has(thread)) return;
    this.#free.push(thread);
    thread.idle = setTimeout(() => void this.#end(thread, 'Idle'), IDLE).unref();
    this.#next();
  }

  #lose(thread: Thread, reason: string): void {
    clearTimeout(thread.idle);
    this.#threads.delete(thread);
    const place = this.#free.indexOf(thread);
    if (place !== -1) this.#free.splice(place, 1);
    thread.finish?.({ error: reason });
    if (this.#waiting.length > 0 && this.#threads.size === 0) this.#start();
  }

  /** Ends a thread at once, whatever it does. */
  async #end(thread: Thread, reason: string): Promise<void> {
    this.#lose(thread, reason);
    await thread.worker.terminate();
  }
}
