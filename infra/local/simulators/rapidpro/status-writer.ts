/**
 * RapidPro's writes of statuses (infra/docs/wire-facts.md, "RapidPro: messages from users"): in batches, one statement
 * each. If a batch has two rows for a message, the statement applies one and loses the other. A later batch overwrites
 * an earlier one.
 */
import { once } from 'node:events';
import { pause } from '../../../../shared/core/clock.ts';
import type { SentMessage } from './sending.ts';

/** How often a batch is written, in minutes. */
const INTERVAL = 1 / 120;

interface StatusWriterOptions {
  /** Milliseconds that count as a minute. */
  minute: number;
  /** Aborted when the simulator closes. */
  closing: AbortSignal;
}

export class StatusWriter {
  readonly #options: StatusWriterOptions;
  #batch: Map<SentMessage, SentMessage['status']> | undefined;
  #written: Promise<void> = Promise.resolve();

  constructor(options: StatusWriterOptions) {
    this.#options = options;
  }

  /**
   * Writes a status with the next batch, unless the batch has a status of the message already. Returns when written: at once, if
   * the simulator closes.
   */
  write(message: SentMessage, status: SentMessage['status']): Promise<void> {
    const batch = this.#batch ?? new Map();
    if (!batch.has(message)) batch.set(message, status);
    if (this.#batch === undefined) {
      this.#batch = batch;
      this.#written = this.#writeSoon();
    }
    return this.#written;
  }

  async #writeSoon(): Promise<void> {
    const { minute, closing } = this.#options;
    if (!closing.aborted) await Promise.race([pause(INTERVAL * minute), once(closing, 'abort')]);
    for (const [message, status] of this.#batch ?? []) message.status = status;
    this.#batch = undefined;
  }
}
