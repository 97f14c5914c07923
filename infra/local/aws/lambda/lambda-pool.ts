/**
 * A function on this machine: worker threads that run its bundle, one call at a time each, as Lambda's environments do.
 * Threads start when calls come, more of them while calls wait, and go when they have had nothing to do for a while.
 * Where there are several, and all they do is wait for something, they take further calls: a thread takes 25 MB and a
 * tenth of a second of a core, which hundreds that wait are not worth.
 */
import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Worker } from 'node:worker_threads';
import type { FunctionDefinition } from '../template/definitions.ts';
import type { Answer, Call, Outcome, ThreadData } from './worker-thread.ts';

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
export const MAX_CALLS = 250;
/** From so many threads on, those that rest share what waits: a thread rests that works less than this share of the time. */
const SHARING = { threads: 8, rest: 0.1 };
/** A thread that had no call for this many milliseconds ends. */
const IDLE = 60_000;

/** The function could not do it: it threw, ended, ran out of time, or answered too much. */
class FunctionError extends Error {
  override readonly name = 'FunctionError';
}

/** A function on this machine, whatever runs it. */
export interface LocalFunction {
  invoke(event: unknown): Promise<unknown>;
  kill(): boolean;
  close(): Promise<void>;
}

interface Waiting {
  event: string;
  settle: (outcome: Outcome) => void;
}

interface Thread {
  worker: Worker;
  starting: boolean;
  /** Milliseconds that it has worked, and not waited, until the last look; and whether it mostly waited before that. */
  worked: number;
  rests: boolean;
  /** What ends its calls, by their request ids. */
  calls: Map<string, (outcome: Outcome) => void>;
  idle: NodeJS.Timeout | undefined;
}

/**
 * Has the threads of a function compile its bundle once: that takes more than half of what a thread takes to start. It
 * would make coverage less exact.
 */
const compileCacheIn = (folder: string): Record<string, string> =>
  process.env.NODE_V8_COVERAGE ? {} : { NODE_COMPILE_CACHE: join(folder, 'compile-cache') };

export class LambdaPool implements LocalFunction {
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

  /** Ends a thread that is at work, as a crash would, with its calls. Answers whether there was one. */
  kill(): boolean {
    const thread = [...this.#threads].find(({ calls }) => calls.size > 0);
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
    if (!isSlow || !this.#share()) {
      for (let more = Math.min(due, waiting, MAX_STARTING - starting); more > 0; more -= 1) this.#start();
    }
    this.#lookSoon();
  }

  /** Gives every thread that rests one more call, where there are several. Answers whether there was one. */
  #share(): boolean {
    if (this.#threads.size < SHARING.threads) return false;
    const resting = [...this.#threads].filter(({ starting, rests }) => !starting && rests);
    for (const thread of resting) {
      const waiting = this.#running() < MAX_CALLS ? this.#waiting.shift() : undefined;
      if (waiting) this.#run(thread, waiting);
    }
    return resting.length > 0;
  }

  #running(): number {
    return [...this.#threads].reduce((sum, { calls }) => sum + calls.size, 0);
  }

  /** Looks how many cores the threads have kept busy since the last look. */
  #busyCores(): number {
    const elapsed = performance.now() - this.#looked;
    this.#looked += elapsed;
    let worked = 0;
    for (const thread of this.#threads) {
      const { active } = thread.worker.performance.eventLoopUtilization();
      thread.rests = active - thread.worked < elapsed * SHARING.rest;
      worked += active - thread.worked;
      thread.worked = active;
    }
    return worked / elapsed;
  }

  #run(thread: Thread, { event, settle }: Waiting): void {
    clearTimeout(thread.idle);
    const { timeout } = this.#definition;
    const timer = setTimeout(() => void this.#end(thread, 'TimedOut'), timeout);
    const call: Call = { requestId: randomUUID(), event, deadline: Date.now() + timeout };
    thread.calls.set(call.requestId, (outcome) => {
      clearTimeout(timer);
      thread.calls.delete(call.requestId);
      settle(outcome);
    });
    thread.worker.postMessage(call);
  }

  #start(): void {
    if (this.#closed || this.#threads.size >= MAX_CALLS) return;
    const { folder, handler, memory } = this.#definition;
    const [file = '', exported = ''] = handler.split('.');
    const workerData: ThreadData = { bundle: join(folder, `${file}.mjs`), export: exported };
    const worker = new Worker(new URL('./worker-thread.ts', import.meta.url), {
      workerData,
      env: { ...this.#environment, ...compileCacheIn(folder) },
      execArgv: ['--enable-source-maps', '--disable-warning=ExperimentalWarning'],
      resourceLimits: { maxOldGenerationSizeMb: memory },
      stdout: true,
      stderr: true,
    });
    const thread: Thread = { worker, starting: true, worked: 0, rests: false, calls: new Map(), idle: undefined };
    this.#threads.add(thread);
    for (const stream of [worker.stdout, worker.stderr]) createInterface(stream).on('line', this.#onLine);
    worker.once('online', () => {
      thread.starting = false;
      this.#release(thread);
    });
    worker.on('message', ({ requestId, outcome }: Answer) => {
      this.#ended += 1;
      thread.calls.get(requestId)?.(outcome);
      if (thread.calls.size === 0) this.#release(thread);
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
    for (const end of thread.calls.values()) end({ error: reason });
    // One that could not even start would be followed by others without end.
    if (thread.starting) this.#waiting.shift()?.settle({ error: reason });
    if (this.#waiting.length > 0 && this.#threads.size === 0) this.#start();
  }

  /** Ends a thread at once, whatever it does. */
  async #end(thread: Thread, reason: string): Promise<void> {
    this.#lose(thread, reason);
    await thread.worker.terminate();
  }
}
