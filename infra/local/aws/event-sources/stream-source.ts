/**
 * An event source mapping of the table's stream: reads its shards, each in order and parents before their children, and
 * has the function called with the records that are for it, one batch at a time for each shard.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { MAX_PAYLOAD } from '../lambda/lambda-pool.ts';
import type { StreamMapping } from '../template/definitions.ts';
import { BatchHandler, type BatchHandlerSettings } from './batch-handler.ts';
import { type Page, type Stream, StreamError, type StreamRecord } from './stream.ts';
import type { Writes } from './writes.ts';

/**
 * Milliseconds from one look for records to the next: at least, and at most where nobody tells of a write. The same from
 * one for shards to the next, and after an error.
 */
const LOOK = { soon: 10, records: 200, shards: 1_000, again: 200 };

/** How far a mapping has come in a shard. */
interface Position {
  /** The sequence number of the last record that is done. */
  after: string | undefined;
  ended: boolean;
}

/** How far a mapping has come, by shard. */
export type Positions = Map<string, Position>;

interface StreamSourceSettings extends Omit<BatchHandlerSettings, 'signal' | 'streamArn'> {
  stream: Stream;
  writes: Writes;
  /** Where to begin; kept up to date. */
  positions: Positions;
}

export class StreamSource {
  readonly #mapping: StreamMapping;
  readonly #stream: Stream;
  readonly #writes: Writes;
  readonly #positions: Positions;
  readonly #handler: BatchHandler;
  readonly #stopping = new AbortController();
  readonly #signal = this.#stopping.signal;
  readonly #readers = new Map<string, Promise<void>>();
  readonly #running: Promise<void>;

  /** Begins at once. */
  constructor(mapping: StreamMapping, { stream, writes, positions, ...settings }: StreamSourceSettings) {
    this.#mapping = mapping;
    this.#stream = stream;
    this.#writes = writes;
    this.#positions = positions;
    this.#handler = new BatchHandler(mapping, { ...settings, streamArn: stream.arn, signal: this.#signal });
    this.#running = this.#persist(() => this.#findShards());
  }

  /** Reads no more. Fulfils when no call is under way; the records of such a call are not done. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await Promise.all(this.#readers.values());
  }

  /** Does something until it is done or the source is stopped, whatever happens to the database. */
  async #persist(task: () => Promise<void>): Promise<void> {
    while (!this.#signal.aborted) {
      try {
        return await task();
      } catch (error) {
        if (this.#signal.aborted) return;
        if (!(error instanceof StreamError)) throw error;
        await pause(LOOK.again, undefined, { signal: this.#signal }).catch(() => undefined);
      }
    }
  }

  async #findShards(): Promise<void> {
    for (;;) {
      const shards = await this.#stream.shards(this.#signal);
      const known = new Set(shards.map(({ ShardId }) => ShardId));
      for (const { ShardId: id, ParentShardId: parent = '' } of shards) {
        const isParentDone = !known.has(parent) || this.#position(parent).ended;
        if (!isParentDone || this.#position(id).ended || this.#readers.has(id)) continue;
        const reader = this.#persist(() => this.#read(id));
        this.#readers.set(id, reader);
      }
      await pause(LOOK.shards, undefined, { signal: this.#signal });
    }
  }

  /** Reads a shard to its end. */
  async #read(shard: string): Promise<void> {
    const { batchSize, window, filter } = this.#mapping;
    const position = this.#position(shard);
    const done = (records: StreamRecord[]): void => {
      position.after = records.at(-1)?.dynamodb.SequenceNumber ?? position.after;
    };
    const waiting: StreamRecord[] = [];
    let since = 0;
    let iterator: string | undefined = await this.#iterator(shard, position);
    while (iterator !== undefined) {
      const written = this.#writes.count;
      const { records, next }: Page = await this.#stream.read(iterator, this.#signal);
      if (waiting.length === 0) since = Date.now();
      waiting.push(...records.filter(filter));
      while (waiting.length > 0) {
        const size = sizeOfBatch(waiting, batchSize);
        const isFull = size < waiting.length || size === batchSize;
        if (!isFull && next !== undefined && Date.now() - since < window) break;
        await this.#handler.handle(shard, waiting.splice(0, size), done);
      }
      // The last records may not have been for the function.
      if (waiting.length === 0) done(records);
      iterator = next;
      if (records.length > 0) continue;
      await pause(LOOK.soon, undefined, { signal: this.#signal });
      await this.#writes.moreThan(written, waiting.length > 0 ? LOOK.soon : LOOK.records, this.#signal);
    }
    position.ended = true;
  }

  async #iterator(shard: string, position: Position): Promise<string> {
    try {
      return await this.#stream.iterator(shard, position.after, this.#signal);
    } catch (error) {
      // What we have read last is so old that it is gone: then all that is there is to be read.
      if (error instanceof StreamError && error.name === 'TrimmedDataAccessException') position.after = undefined;
      throw error;
    }
  }

  #position(shard: string): Position {
    const position = this.#positions.get(shard) ?? { after: undefined, ended: false };
    this.#positions.set(shard, position);
    return position;
  }
}

/** How many of the records make a batch: as many as it may have, and as one call takes. */
const sizeOfBatch = (records: StreamRecord[], most: number): number => {
  let bytes = 0;
  const tooMuch = records.slice(0, most).findIndex((record) => {
    bytes += Buffer.byteLength(JSON.stringify(record));
    return bytes > MAX_PAYLOAD;
  });
  return tooMuch === -1 ? Math.min(records.length, most) : Math.max(tooMuch, 1);
};
