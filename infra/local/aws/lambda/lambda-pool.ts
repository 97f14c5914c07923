/**
 * A function on this machine: worker threads that run its bundle, one call at a time each, as Lambda's environments do.
 * Threads start when calls arrive, more of them while calls are queued, and end after five minutes without calls. If there
 * are several threads that mostly wait, they run several calls each: a thread costs 25 MB and 0.1 seconds of a core,
 * too much for hundreds of waiting calls.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Latency } from '../latency.ts';
import type { FunctionDefinition } from '../template/definitions.ts';
import { ThreadClock } from '../time/thread-clock.ts';
import { IdleCores } from './idle-cores.ts';
import type { Call, CallResult, Outcome, ThreadData } from './worker-thread.ts';

/** Lambda's limit for events and results, in bytes. */
export const MAX_PAYLOAD = 6 * 1024 * 1024;

/**
 * While calls are queued, the pool checks at this interval (in milliseconds) whether it needs more threads. If calls end
 * too slowly for the queue, it starts one per idle core of the machine. If no call ends, it starts one: at once if all
 * threads wait for something, and later if they work. So calls that wait get threads, and quick calls share a few: more
 * would only slow them down.
 */
const GROWTH_INTERVAL = 50;
/** Calls of working threads count as stuck after so many checks without an end; those of resting threads at once. */
const STUCK = 10;
/** How many checks it may take to run the queued calls before they count as too many. */
const SLOW_FACTOR = 4;
const MAX_STARTING = 4;
/** Maximum number of concurrent calls of a function. */
export const MAX_CALLS = 250;
/**
 * With at least so many threads, resting threads take further calls. A thread rests if it works less than this share.
 */
const SHARING = { threads: 8, rest: 0.1 };
/** A thread without calls ends after so many milliseconds. */
const IDLE = 300_000;

/** Why calls end without a result of their function, besides the name of an error. */
const CLOSED = 'Closed';
const TIMED_OUT = 'TimedOut';

/** The line with which Lambda reports the end of a call that the function did not end itself. */
const endLine = (requestId: string, reason: string, time: number): string => {
  const how = reason === TIMED_OUT ? { status: 'timeout' } : { status: 'error', errorType: `Runtime.${reason}` };
  return JSON.stringify({ time: new Date(time).toISOString(), type: 'platform.report', record: { requestId, ...how } });
};

/** The call failed: the function threw an error, exited, timed out, or returned too much. */
class FunctionError extends Error {
  override readonly name = 'FunctionError';
}

/** A function on this machine. */
export interface LocalFunction {
  invoke(event: unknown): Promise<unknown>;
  /** The number of calls in progress, and of those that wait for a thread. */
  readonly calls: number;
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
  /** Milliseconds that it had worked at the last check, and whether it mostly waited before that. */
  worked: number;
  rests: boolean;
  /** Callbacks that end its calls, by request id. */
  calls: Map<string, (outcome: Outcome) => void>;
  idle: NodeJS.Timeout | undefined;
}

/**
 * Lets threads share what they have compiled: compilation is more than half of a thread's start. Off with coverage, which
 * it would make less exact.
 */
const compileCacheIn = (folder: string): Record<string, string> =>
  process.env.NODE_V8_COVERAGE ? {} : { NODE_COMPILE_CACHE: join(folder, '../compile-cache') };

export class LambdaPool implements LocalFunction {
  readonly #definition: FunctionDefinition;
  readonly #environment: Record<string, string>;
  readonly #onLine: (line: string) => void;
  readonly #clock: SharedArrayBuffer;
  readonly #latency: Latency | undefined;
  readonly #threads = new Set<Thread>();
  readonly #free: Thread[] = [];
  readonly #waiting: Waiting[] = [];
  #growth: NodeJS.Timeout | undefined;
  /** Calls that ended since the last check. */
  #ended = 0;
  #looked = 0;
  /** Checks in a row without an ended call. */
  #unproductive = 0;
  readonly #idleCores = new IdleCores();
  #closed = false;

  /** @param clock - the memory of the emulator's clock */
  constructor(
    definition: FunctionDefinition,
    environment: Record<string, string>,
    onLine: (line: string) => void,
    clock: SharedArrayBuffer,
    latency?: Latency,
  ) {
    this.#definition = definition;
    this.#environment = environment;
    this.#onLine = onLine;
    this.#clock = clock;
    this.#latency = latency;
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
      if (this.#waiting.length > 0 && this.#growth === undefined) this.#lookSoon();
    });
    if ('error' in outcome) throw new FunctionError(outcome.error);
    if (Buffer.byteLength(outcome.result) > MAX_PAYLOAD) throw new FunctionError('ResponseSizeTooLarge');
    return JSON.parse(outcome.result);
  }

  get calls(): number {
    return this.#running() + this.#waiting.length;
  }

  /** Ends a thread with its calls, as a crash would. Returns whether there was a thread with calls. */
  kill(): boolean {
    const thread = [...this.#threads].find(({ calls }) => calls.size > 0);
    if (thread) void this.#end(thread, 'Killed');
    return thread !== undefined;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#growth);
    for (const waiting of this.#waiting.splice(0)) waiting.settle({ error: CLOSED });
    await Promise.all([...this.#threads].map((thread) => this.#end(thread, CLOSED)));
  }

  /** Gives the oldest queued calls to free threads. */
  #next(): void {
    while (this.#waiting.length > 0) {
      const thread = this.#free.pop();
      const waiting = thread && this.#waiting.shift();
      if (!waiting) return;
      this.#run(thread, waiting);
    }
  }

  #lookSoon(): void {
    this.#checkThreads();
    this.#idleCores.read();
    this.#ended = 0;
    this.#growth = setTimeout(() => this.#grow(), GROWTH_INTERVAL);
  }

  #grow(): void {
    this.#growth = undefined;
    const waiting = this.#waiting.length;
    if (waiting === 0 || this.#closed) return;
    const starting = [...this.#threads].filter((thread) => thread.starting).length;
    this.#checkThreads();
    this.#unproductive = this.#ended === 0 ? this.#unproductive + 1 : 0;
    const allRest = [...this.#threads].every((thread) => thread.rests && !thread.starting);
    const isStuck = this.#unproductive >= (allRest ? 1 : STUCK);
    const idleCores = Math.floor(this.#idleCores.read()) - starting;
    const isSlow = waiting > this.#ended * SLOW_FACTOR;
    const due = isSlow ? Math.max(idleCores, isStuck ? 1 : 0) : 0;
    if (!isSlow || !this.#share()) {
      for (let more = Math.min(due, waiting, MAX_STARTING - starting); more > 0; more -= 1) this.#start();
    }
    this.#lookSoon();
  }

  /**
   * Gives every resting thread one more call, if there are enough threads. Returns whether there was a resting thread.
   */
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

  /** Updates which threads rest. */
  #checkThreads(): void {
    const elapsed = performance.now() - this.#looked;
    this.#looked += elapsed;
    for (const thread of this.#threads) {
      const { active } = thread.worker.performance.eventLoopUtilization();
      thread.rests = active - thread.worked < elapsed * SHARING.rest;
      thread.worked = active;
    }
  }

  #run(thread: Thread, { event, settle }: Waiting): void {
    clearTimeout(thread.idle);
    const { timeout } = this.#definition;
    const timer = setTimeout(() => void this.#end(thread, TIMED_OUT), timeout);
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
    const workerData: ThreadData = { bundle: join(folder, `${file}.mjs`), export: exported, clock: this.#clock };
    const worker = new Worker(new URL('./worker-thread.ts', import.meta.url), {
      workerData,
      env: { ...this.#environment, LAMBDA_TASK_ROOT: folder, ...compileCacheIn(folder) },
      execArgv: ['--enable-source-maps', '--disable-warning=ExperimentalWarning'],
      resourceLimits: { maxOldGenerationSizeMb: memory },
      stdout: true,
      stderr: true,
    });
    const thread: Thread = { worker, starting: true, worked: 0, rests: false, calls: new Map(), idle: undefined };
    this.#threads.add(thread);
    for (const stream of [worker.stdout, worker.stderr]) createInterface(stream).on('line', this.#onLine);
    const start = this.#latency && pause(this.#latency.coldStart(), undefined, { ref: false });
    worker.once('online', async () => {
      await start;
      thread.starting = false;
      this.#release(thread);
    });
    worker.on('message', ({ requestId, outcome }: CallResult) => {
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
    const index = this.#free.indexOf(thread);
    if (index !== -1) this.#free.splice(index, 1);
    for (const [requestId, end] of thread.calls) {
      if (reason !== CLOSED) this.#onLine(endLine(requestId, reason, new ThreadClock(this.#clock).now()));
      end({ error: reason });
    }
    // A thread that cannot start fails a call: otherwise the pool would start new threads forever.
    if (thread.starting) this.#waiting.shift()?.settle({ error: reason });
    if (this.#waiting.length > 0 && this.#threads.size === 0) this.#start();
  }

  /** Ends a thread at once, with its calls. */
  async #end(thread: Thread, reason: string): Promise<void> {
    this.#lose(thread, reason);
    await thread.worker.terminate();
  }
}
