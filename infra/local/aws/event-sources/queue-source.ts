/** An event source mapping of a queue: has its function called with the messages, as many at a time as it allows. */

import { MAX_CALLS } from '../lambda/lambda-pool.ts';
import { type Queue, QueueError, type Received } from '../queues/queue.ts';
import { toRecord } from '../queues/queue-api.ts';
import type { QueueMapping } from '../template/definitions.ts';
import { failedItems } from './item-failures.ts';

/** Milliseconds from one look for messages to the next. */
const LOOK = 10;

interface QueueSourceSettings {
  queue: Queue;
  invoke: (functionId: string, event: unknown) => Promise<unknown>;
  /**
   * How many times as long as a real minute one lasts here. At this pace the rest of a message's hiding passes once its
   * function has failed: nobody works on it any more, and nobody should have to wait so long for a test.
   */
  pace: number;
}

export class QueueSource {
  readonly #mapping: QueueMapping;
  readonly #settings: QueueSourceSettings;
  /** More than run would only wait for a thread while their hiding passes. */
  readonly #most: number;
  readonly #running = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  #stopped = false;

  /** Begins at once. */
  constructor(mapping: QueueMapping, settings: QueueSourceSettings) {
    this.#mapping = mapping;
    this.#settings = settings;
    this.#most = Math.min(mapping.concurrency, MAX_CALLS);
    this.#timer = setInterval(() => this.#look(), LOOK);
  }

  /** Takes no more messages. Fulfils when no call is under way; what those calls leave is there again at once. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await Promise.all(this.#running);
  }

  #look(): void {
    while (!this.#stopped && this.#running.size < this.#most) {
      const batch = this.#settings.queue.receive(this.#mapping.batchSize);
      if (batch.length === 0) return;
      const running = this.#handle(batch).finally(() => {
        this.#running.delete(running);
        this.#look();
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
      const answer = await invoke(target, { Records: batch.map((one) => toRecord(one, queue.definition.arn)) });
      return reportsFailures ? failedItems(answer, ids) : [];
    } catch {
      // The function's own log lines tell why.
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
      // It was hidden for too short a time, and comes again.
      if (!(error instanceof QueueError)) throw error;
    }
  }
}
