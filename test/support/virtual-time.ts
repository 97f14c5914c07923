/** A clock that jumps from one event to the next, so that minutes of traffic take a second. */
import { setImmediate as afterMicrotasks } from 'node:timers/promises';

export class VirtualTime {
  /** Milliseconds since 1970. */
  now = Date.UTC(2026, 10, 22);
  /** Few at a time, by their time. */
  readonly #events: { at: number; resolve: () => void }[] = [];

  /** Resolves after that time. */
  sleep(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const at = this.now + ms;
    // The first of those at the same time stays the first.
    const index = this.#events.findLastIndex((event) => event.at <= at);
    this.#events.splice(index + 1, 0, { at, resolve });
    return promise;
  }

  /** Lets everything happen until a time. */
  async runUntil(time: number): Promise<void> {
    await afterMicrotasks();
    for (let [next] = this.#events; next !== undefined && next.at <= time; [next] = this.#events) {
      this.#events.shift();
      this.now = Math.max(this.now, next.at);
      next.resolve();
      await afterMicrotasks();
    }
    this.now = Math.max(this.now, time);
  }
}
