/** The bodies of the last uploads, so that they can be sent again. */

/** How many are kept, and how many bytes of all. */
const MOST = { files: 20, bytes: 24 * 1024 * 1024 };

export class KeptFiles {
  readonly #files = new Map<string, Buffer>();
  #bytes = 0;

  /** Keeps the body of a request, and gives up the oldest ones. */
  add(request: string, body: Buffer): void {
    this.#files.set(request, body);
    this.#bytes += body.length;
    for (const [oldest, { length }] of this.#files) {
      if (this.#files.size <= MOST.files && this.#bytes <= MOST.bytes) return;
      this.#files.delete(oldest);
      this.#bytes -= length;
    }
  }

  /** The body of a request; undefined if it is not kept, or not any more. */
  get(request: string): Buffer | undefined {
    return this.#files.get(request);
  }

  clear(): void {
    this.#files.clear();
    this.#bytes = 0;
  }
}
