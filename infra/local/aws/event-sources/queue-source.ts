/** An event source mapping of a queue: calls the function with messages, up to its concurrency. */

import { MAX_CALLS } from '../lambda/lambda-pool.ts';
import { type Queue, QueueError, type Received } from '../queues/queue.ts';
import { toRecord } from '../queues/queue-api.ts';
import type { QueueMapping } from '../template/definitions.ts';
import { failedItems } from './item-failures.ts';

/** Milliseconds between two polls of the queue. */
const POLL_INTERVAL = 10;

interface QueueSourceSettings {
  queue: Queue;
  invoke: (functionId: string, event: unknown) => Promise<unknown>;
  /**
   * Length of a minute here, relative to a real one. After its function has failed, a message's visibility timeout
   * passes at this pace, so that tests do not wait for it.
   */
  pace: number;
}

export class QueueSource {
  readonly #mapping: QueueMapping;
  readonly #settings: QueueSourceSettings;
  /** Maximum number of calls. Further messages would only wait for a thread while their visibility timeout passes. */
  readonly #max: number;
  readonly #running = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  #stopped = false;

  /** Starts at once. */
  constructor(mapping: QueueMapping, settings: QueueSourceSettings) {
    this.#mapping = mapping;
    this.#settings = settings;
    this.#max = Math.min(mapping.concurrency, MAX_CALLS);
    this.#timer = setInterval(() => this.#poll(), POLL_INTERVAL);
  }

  /**
   * Stops polling. Resolves when no call is in progress. Unhandled messages of these calls are visible again at once.
   */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await Promise.all(this.#running);
  }

  #poll(): void {
    while (!this.#stopped && this.#running.size < this.#max) {
      const batch = this.#settings.queue.receive(this.#mapping.batchSize);
      if (batch.length === 0) return;
      const running = this.#handle(batch).finally(() => {
        this.#running.delete(running);
        this.#poll();
      });
      this.#running.add(running);
    }
  }

  async #handle(batch: Received[]): Promise<void> {
    const left = await this.#leftBy(batch);
    for (const { message, handle } of batch) {
      if (left.includes(message.id)) this.#leave(handle);
      else this.#delete(handle);
    }
  }

  /** Ids of the messages that the function did not handle. */
  async #leftBy(batch: Received[]): Promise<string[]> {
    const { function: target, reportsFailures } = this.#mapping;
    const { queue, invoke } = this.#settings;
    const ids = batch.map(({ message }) => message.id);
    try {
      const result = await invoke(target, { Records: batch.map((one) => toRecord(one, queue.definition.arn)) });
      return reportsFailures ? failedItems(result, ids) : [];
    } catch {
      // The function logs the cause.
      return ids;
    }
  }

  #leave(handle: string): void {
    const { queue, pace } = this.#settings;
    const rest = queue.hiddenFor(handle);
    if (this.#stopped) queue.takeBack(handle);
    else if (rest > 0) queue.hide(handle, rest * pace);
  }

  #delete(handle: string): void {
    try {
      this.#settings.queue.delete(handle);
    } catch (error) {
      // Its visibility timeout has passed, so it is delivered again.
      if (!(error instanceof QueueError)) throw error;
    }
  }
}
