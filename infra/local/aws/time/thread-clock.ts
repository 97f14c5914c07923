/**
 * The emulator's clock as functions see it: real time, and an offset that all threads share. Due times and the waits of
 * functions follow it. Timeouts of requests and the time limits of functions stay real.
 */

/**
 * The cell that contains the offset in milliseconds, and the one with the last place that a thread has ever had. The cells
 * after them are the places of threads: each contains when the thread's first sleeper wakes up, or 0.
 */
export const OFFSET = 0;
export const LAST = 1;
export const FIRST = 2;
/** Most threads with sleepers that the clock knows. The sleepers of others wake up in time, too. */
export const SLEEPERS = 4_096;

/** Where code in a bundle finds the clock of its thread. */
const KEY = Symbol.for('aws-emulator.clock');
const thread = globalThis as { [KEY]?: ThreadClock };

export class ThreadClock {
  protected readonly cells: BigInt64Array<SharedArrayBuffer>;
  /** When the sleepers of this thread wake up. A call of a function may have several. */
  readonly #sleepers = new Set<{ until: number }>();
  #cell: number | undefined;

  constructor(memory: SharedArrayBuffer) {
    this.cells = new BigInt64Array(memory);
  }

  /** The clock of this thread, if it runs on an emulator. */
  static current(): ThreadClock | undefined {
    return thread[KEY];
  }

  /** Makes this the clock of this thread. Returns a function that ends this. */
  use(): () => void {
    thread[KEY] = this;
    return () => {
      delete thread[KEY];
    };
  }

  /** How many times faster than real time the clock runs. Threads of functions do not know it: 1. */
  get rate(): number {
    return 1;
  }

  /** Milliseconds since 1970. */
  now(): number {
    return Date.now() + Number(Atomics.load(this.cells, OFFSET));
  }

  /** Waits until so many milliseconds have passed on this clock. */
  async sleep(milliseconds: number): Promise<void> {
    const until = this.now() + milliseconds;
    const leave = this.enter(Math.ceil(until));
    try {
      for (;;) {
        const offset = Atomics.load(this.cells, OFFSET);
        const left = until - Date.now() - Number(offset);
        if (left <= 0) return;
        await Atomics.waitAsync(this.cells, OFFSET, offset, left).value;
      }
    } finally {
      leave();
    }
  }

  /** Notes when a sleeper wakes up, in milliseconds since 1970. Returns a function that ends this. */
  protected enter(until: number): () => void {
    const sleeper = { until };
    this.#sleepers.add(sleeper);
    this.#publish();
    return () => {
      this.#sleepers.delete(sleeper);
      this.#publish();
    };
  }

  /** Writes when the first sleeper of the thread wakes up to the thread's cell. */
  #publish(): void {
    const first = Math.min(...Array.from(this.#sleepers, ({ until }) => until));
    if (this.#sleepers.size > 0) this.#cell ??= this.#freeCell(BigInt(first));
    if (this.#cell === undefined) return;
    Atomics.store(this.cells, this.#cell, this.#sleepers.size > 0 ? BigInt(first) : 0n);
    if (this.#sleepers.size === 0) this.#cell = undefined;
  }

  #freeCell(until: bigint): number | undefined {
    for (let place = FIRST; place < FIRST + SLEEPERS; place += 1) {
      if (Atomics.compareExchange(this.cells, place, 0n, until) !== 0n) continue;
      this.#raiseLast(BigInt(place));
      return place;
    }
    return undefined;
  }

  #raiseLast(place: bigint): void {
    for (let last = Atomics.load(this.cells, LAST); last < place; last = Atomics.load(this.cells, LAST)) {
      Atomics.compareExchange(this.cells, LAST, last, place);
    }
  }
}
