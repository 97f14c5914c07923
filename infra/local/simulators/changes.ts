/** Notifies watchers of changes, after a short delay, so that changes at the same time cause one notification. */

const DELAY_MS = 30;

export class Changes {
  readonly #watchers = new Set<() => void>();
  readonly #delayMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(delayMs = DELAY_MS) {
    this.#delayMs = delayMs;
  }

  /** Notifies watchers of a change. */
  notify(): void {
    if (this.#watchers.size === 0) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const watcher of this.#watchers) watcher();
    }, this.#delayMs).unref();
  }

  /** Calls the watcher after changes, until the returned function is called. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }
}
