/** Runs all event source mappings of a template. */

import type { FaultInjection } from '../fault-injection.ts';
import type { Latency } from '../latency.ts';
import type { Queues } from '../queues/queues.ts';
import type { Mapping } from '../template/definitions.ts';
import { QueueSource } from './queue-source.ts';
import type { Stream } from './stream.ts';
import { type Positions, StreamSource } from './stream-source.ts';
import type { Writes } from './writes.ts';

const MINUTE = 60_000;

export interface EventSourcesSettings {
  queues: Queues;
  stream: Stream;
  writes: Writes;
  /** Milliseconds that count as one minute. */
  minute: number;
  faultInjection: FaultInjection;
  latency: Latency | undefined;
  invoke: (functionId: string, event: unknown) => Promise<unknown>;
}

export class EventSources {
  readonly #settings: EventSourcesSettings;
  /** The position of each mapping of the stream. */
  readonly #positions = new Map<string, Positions>();
  #sources: (QueueSource | StreamSource)[] = [];

  constructor(settings: EventSourcesSettings) {
    this.#settings = settings;
  }

  /** Starts these mappings. Each continues at the position where a mapping with the same id has stopped. */
  start(mappings: Mapping[]): void {
    this.#sources = mappings.map((mapping) => this.#start(mapping));
  }

  /** Stops all mappings. Resolves when no call is in progress; the caller must end calls that do not end themselves. */
  async stop(): Promise<void> {
    await Promise.all(this.#sources.splice(0).map((source) => source.stop()));
  }

  /** Whether all records of the stream are handled, or wait for more to form a batch with. */
  get isDone(): boolean {
    const { writes } = this.#settings;
    return this.#streams.every((source) => source.isDone(writes.count));
  }

  /** The number of records of the stream that wait for more. */
  get waiting(): number {
    return this.#streams.reduce((sum, { waiting }) => sum + waiting, 0);
  }

  /** Makes readers of the stream read again at once, instead of after a pause. */
  readNow(): void {
    for (const source of this.#streams) source.readNow();
  }

  /** Handles the records of the stream that wait for more. */
  closeBatches(): void {
    for (const source of this.#streams) source.closeBatches();
  }

  get #streams(): StreamSource[] {
    return this.#sources.filter((source) => source instanceof StreamSource);
  }

  #start(mapping: Mapping): QueueSource | StreamSource {
    const { queues, stream, writes, minute, faultInjection, latency, invoke } = this.#settings;
    if (mapping.kind === 'queue') {
      return new QueueSource(mapping, { queue: queues.get(mapping.queue), invoke, pace: minute / MINUTE });
    }
    const positions: Positions = this.#positions.get(mapping.id) ?? new Map();
    this.#positions.set(mapping.id, positions);
    const tell = (queue: string, message: unknown) => queues.get(queue).note(JSON.stringify(message));
    const paced = { ...mapping, window: (mapping.window * minute) / MINUTE };
    const delay = () => latency?.stream() ?? 0;
    return new StreamSource(paced, { stream, writes, positions, tell, faultInjection, delay, invoke });
  }
}
