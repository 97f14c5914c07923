/** Tells those who watch that something has changed: a moment later, so that what changes together is told once. */

/** In milliseconds. */
const MOMENT = 30;

export class Changes {
  readonly #watchers = new Set<() => void>();
  #soon: NodeJS.Timeout | undefined;

  /** Notes a change that happens now, or has happened. */
  note(): void {
    if (this.#watchers.size === 0) return;
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      for (const watcher of this.#watchers) watcher();
    }, MOMENT).unref();
  }

  /** Calls the watcher after changes, until the function is called that this answers. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }
}
