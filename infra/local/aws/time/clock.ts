/** The emulator's clock as the emulator and its user see it: they can set it. */
import { FIRST, LAST, OFFSET, SLEEPERS, ThreadClock } from './thread-clock.ts';

/** Milliseconds between two movements of a clock that runs faster. */
const TICK = 20;

export class Clock extends ThreadClock {
  /** For the threads of functions. */
  readonly memory: SharedArrayBuffer;
  readonly #watchers = new Set<() => void>();
  /** When the sleepers of this thread wake up, such as simulators. */
  readonly #own = new Set<{ until: number }>();
  #rate = 1;
  #ticks: NodeJS.Timeout | undefined;

  constructor() {
    const memory = new SharedArrayBuffer((FIRST + SLEEPERS) * BigInt64Array.BYTES_PER_ELEMENT);
    super(memory);
    this.memory = memory;
  }

  /** Milliseconds by which the clock differs from real time. */
  get offset(): number {
    return Number(Atomics.load(this.cells, OFFSET));
  }

  override get rate(): number {
    return this.#rate;
  }

  /** When the first sleeper of each function's call wakes up, in milliseconds since 1970. */
  get sleepers(): number[] {
    const times: number[] = [];
    const last = Number(Atomics.load(this.cells, LAST));
    for (let index = FIRST; index <= last; index += 1) {
      const until = this.cells[index];
      if (until) times.push(Number(until));
    }
    return times;
  }

  /** When the sleepers of this thread wake up, in milliseconds since 1970. They are not calls of functions. */
  get ownSleepers(): number[] {
    return Array.from(this.#own, ({ until }) => until);
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

  protected override enter(until: number): () => void {
    const sleeper = { until };
    this.#own.add(sleeper);
    return () => this.#own.delete(sleeper);
  }

  #move(offset: number): void {
    Atomics.store(this.cells, OFFSET, BigInt(offset));
    Atomics.notify(this.cells, OFFSET);
    for (const watcher of this.#watchers) watcher();
  }
}
