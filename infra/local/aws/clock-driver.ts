/** What a movement of the clock needs of an emulator: whether it is at rest, when something is due, and how to hurry it. */
import type { EventSources } from './event-sources/event-sources.ts';
import type { IsNeeded, Schedules } from './event-sources/schedules.ts';
import type { LocalFunction } from './lambda/lambda-pool.ts';
import type { Queues } from './queues/queues.ts';
import type { Clock } from './time/clock.ts';

/** What an emulator works on: see `ClockDriver.inProgress`. */
export type Progress = 'work' | 'records' | 'batches';

/** The parts of the stack that is loaded now. */
interface Loaded {
  functions: Map<string, LocalFunction>;
  eventSources: EventSources | undefined;
  schedules: Schedules | undefined;
}

export class ClockDriver {
  readonly #queues: Queues;
  readonly #clock: Clock;
  readonly #loaded: () => Loaded;

  constructor({ queues, clock }: { queues: Queues; clock: Clock }, loaded: () => Loaded) {
    this.#queues = queues;
    this.#clock = clock;
    this.#loaded = loaded;
  }

  /**
   * What is in progress: `work` if a function runs without waiting for a later time, or must be called now; else `records`
   * if there may be records of the stream that are not read, and `batches` if records wait for more to form a batch with.
   */
  get inProgress(): Progress | undefined {
    const { functions, eventSources } = this.#loaded();
    const calls = [...functions.values()].reduce((sum, pool) => sum + pool.calls, 0);
    const later = this.#clock.sleepers.filter((until) => until > this.#clock.now()).length;
    const visible = Object.values(this.#queues.counts()).reduce((sum, one) => sum + one.visible, 0);
    if (calls > later || visible > 0) return 'work';
    if (eventSources?.isDone === false) return 'records';
    return (eventSources?.waiting ?? 0) > 0 ? 'batches' : undefined;
  }

  /** When a function or simulator continues that sleeps, or a message returns to its queue, in milliseconds since 1970. */
  get nextDue(): number | undefined {
    const { nextReturn } = this.#queues;
    const times = [
      ...this.#clock.sleepers,
      ...this.#clock.ownSleepers,
      ...(nextReturn === undefined ? [] : [nextReturn]),
    ];
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Sets the clock. Schedules whose time comes by this call only the targets that are needed. */
  setClock(time: number, isNeeded: IsNeeded): void {
    this.#loaded().schedules?.setClock(time, isNeeded);
  }

  /** Makes readers of the stream read again at once, instead of after a pause. */
  readNow(): void {
    this.#loaded().eventSources?.readNow();
  }

  /** Handles records of the stream that wait for more, instead of at the end of the batching window. */
  closeBatches(): void {
    this.#loaded().eventSources?.closeBatches();
  }
}
