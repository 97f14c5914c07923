/** The emulator's clock as the emulator and its user see it: they can set it. */
import { OFFSET, SLEEPERS, ThreadClock } from './thread-clock.ts';

/** Milliseconds between two movements of a clock that runs faster. */
const TICK = 20;

export class Clock extends ThreadClock {
  /** For the threads of functions. */
  readonly memory: SharedArrayBuffer;
  readonly #watchers = new Set<() => void>();
  #rate = 1;
  #ticks: NodeJS.Timeout | undefined;

  constructor() {
    const memory = new SharedArrayBuffer((SLEEPERS + 1) * BigInt64Array.BYTES_PER_ELEMENT);
    super(memory);
    this.memory = memory;
  }

  /** Milliseconds by which the clock differs from real time. */
  get offset(): number {
    return Number(Atomics.load(this.cells, OFFSET));
  }

  /** How many times faster than real time the clock runs. */
  get rate(): number {
    return this.#rate;
  }

  /** When the functions that sleep wake up, in milliseconds since 1970. */
  get sleepers(): number[] {
    return Array.from(this.cells.subarray(OFFSET + 1))
      .filter((until) => until !== 0n)
      .map(Number);
  }

  /** Sets the present, in milliseconds since 1970. Everyone who waits for an earlier time continues. */
  set(present: number): void {
    this.#move(Math.round(present) - Date.now());
  }

  /** Returns to real time, also to its rate. */
  reset(): void {
    this.run(1);
    this.#move(0);
  }

  /** Runs so many times faster than real time. */
  run(rate: number): void {
    clearInterval(this.#ticks);
    this.#rate = rate;
    if (rate === 1) return;
    let last = Date.now();
    this.#ticks = setInterval(() => {
      const present = Date.now();
      this.#move(this.offset + Math.round((present - last) * (rate - 1)));
      last = present;
    }, TICK).unref();
  }

  /** Calls back whenever the clock was set. Returns a function that ends this. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  #move(offset: number): void {
    Atomics.store(this.cells, OFFSET, BigInt(offset));
    Atomics.notify(this.cells, OFFSET);
    for (const watcher of this.#watchers) watcher();
  }
}
