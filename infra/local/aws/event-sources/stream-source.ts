/**
 * An event source mapping of the table's stream. Reads the shards, each in order and parents before their children, and
 * calls the function with the records that match its filter: for each shard one batch at a time, or with a parallelization
 * factor as many as that. Those that begin together are done before the next ones begin.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { MAX_PAYLOAD } from '../lambda/lambda-pool.ts';
import type { StreamMapping } from '../template/definitions.ts';
import { BatchHandler, type BatchHandlerSettings } from './batch-handler.ts';
import { type Page, type Stream, StreamError, type StreamRecord } from './stream.ts';
import type { Writes } from './writes.ts';

/**
 * Milliseconds between two polls: of records, at least `soon`, and at most `records` if no write is reported; of
 * shards, for which the embedded database looks at all records; and after an error.
 */
const POLL = { soon: 20, records: 400, shards: 5_000, error: 200 };

/** The position of a mapping in a shard. */
interface Position {
  /** The sequence number of the last record that is done. */
  after: string | undefined;
  ended: boolean;
}

/** The positions of a mapping, by shard. */
export type Positions = Map<string, Position>;

interface StreamSourceSettings extends Omit<BatchHandlerSettings, 'signal' | 'streamArn'> {
  stream: Stream;
  writes: Writes;
  /** The positions to start at. The source updates them. */
  positions: Positions;
  /** Milliseconds until records that were written can be handled. Default: 0. */
  delay?: () => number;
}

/** A record that waits to be handled. */
interface Waiting {
  record: StreamRecord;
  /** From when on it can be handled, in milliseconds since 1970. */
  arrives: number;
}

export class StreamSource {
  readonly #mapping: StreamMapping;
  readonly #stream: Stream;
  readonly #writes: Writes;
  readonly #positions: Positions;
  readonly #delay: () => number;
  readonly #handler: BatchHandler;
  readonly #stopping = new AbortController();
  readonly #signal = this.#stopping.signal;
  readonly #readers = new Map<string, Promise<void>>();
  /** The number of writes up to which each reader has handled all records, and how many records wait for more. */
  readonly #done = new Map<string, { writes: number; waiting: number }>();
  /** Ends the readers' pauses after an empty read. */
  #hurry = new AbortController();
  /** Shards whose waiting records form a batch now. */
  readonly #closing = new Set<string>();
  readonly #running: Promise<void>;

  /** Starts at once. */
  constructor(
    mapping: StreamMapping,
    { stream, writes, positions, delay = () => 0, ...settings }: StreamSourceSettings,
  ) {
    this.#mapping = mapping;
    this.#stream = stream;
    this.#writes = writes;
    this.#positions = positions;
    this.#delay = delay;
    this.#handler = new BatchHandler(mapping, { ...settings, streamArn: stream.arn, signal: this.#signal });
    this.#running = this.#persist(() => this.#findShards());
  }

  /** Stops reading. Resolves when no call is in progress. The records of interrupted calls are read again later. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await Promise.all(this.#readers.values());
  }

  /** Whether all records of these writes are handled, or wait for more records to form a batch with. */
  isDone(writes: number): boolean {
    return this.#readers.size > 0 && [...this.#done.values()].every((reader) => reader.writes === writes);
  }

  /** Makes readers read again at once that have read nothing, and pause. */
  readNow(): void {
    this.#hurry.abort();
    this.#hurry = new AbortController();
  }

  /** The number of records that wait for more records. */
  get waiting(): number {
    return [...this.#done.values()].reduce((sum, { waiting }) => sum + waiting, 0);
  }

  /** Handles records that wait for more records now, instead of at the end of the batching window. */
  closeBatches(): void {
    for (const [shard, { waiting }] of this.#done) if (waiting > 0) this.#closing.add(shard);
  }

  /** Repeats a task until it succeeds or the source is stopped, even if the database cannot be reached. */
  async #persist(task: () => Promise<void>): Promise<void> {
    while (!this.#signal.aborted) {
      try {
        return await task();
      } catch (error) {
        if (this.#signal.aborted) return;
        if (!(error instanceof StreamError)) throw error;
        await pause(POLL.error, undefined, { signal: this.#signal }).catch(() => undefined);
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
      await pause(POLL.shards, undefined, { signal: this.#signal });
    }
  }

  /** Reads a shard to its end. */
  async #read(shard: string): Promise<void> {
    const { batchSize, parallelization, window, filter } = this.#mapping;
    const max = batchSize * parallelization;
    const position = this.#position(shard);
    const done = (records: StreamRecord[]): void => {
      position.after = records.at(-1)?.dynamodb.SequenceNumber ?? position.after;
    };
    const waiting: Waiting[] = [];
    let since = 0;
    let iterator: string | undefined = await this.#iterator(shard, position);
    while (iterator !== undefined) {
      const written = this.#writes.count;
      const { records, next }: Page = await this.#stream.read(iterator, this.#signal);
      // A poll takes all records that there are: those that follow arrive with those that wait for it.
      const polled = waiting.at(-1)?.arrives ?? 0;
      const arrives = polled > Date.now() || records.length === 0 ? polled : Date.now() + this.#delay();
      if (waiting.length === 0) since = arrives;
      waiting.push(...records.filter(filter).map((record) => ({ record, arrives })));
      for (;;) {
        const isClosing = this.#closing.has(shard);
        const isOpen = !isClosing && Date.now() - since < window;
        // The last records of a shard do not wait.
        const there = isClosing || next === undefined ? waiting : waiting.filter((one) => one.arrives <= Date.now());
        if (there.length === 0) break;
        const batch = there.slice(0, max).map(({ record }) => record);
        const lanes = lanesOf(batch, parallelization);
        const isFull =
          there.length > max ||
          lanes.some((lane) => sizeOfBatch(lane, batchSize) < lane.length || lane.length === batchSize);
        if (!isFull && next !== undefined && isOpen) break;
        await this.#handleLanes(shard, lanes, done);
        waiting.splice(0, batch.length);
        since = waiting[0]?.arrives ?? since;
        done(batch);
      }
      if (waiting.length === 0) this.#closing.delete(shard);
      this.#done.set(shard, { writes: records.length > 0 ? -1 : written, waiting: waiting.length });
      // The last records may not match the filter.
      if (waiting.length === 0) done(records);
      iterator = next;
      if (records.length > 0) continue;
      await pause(POLL.soon, undefined, { signal: AbortSignal.any([this.#signal, this.#hurry.signal]) }).catch(() =>
        this.#signal.throwIfAborted(),
      );
      await this.#writes.moreThan(written, waiting.length > 0 ? POLL.soon : POLL.records, this.#signal);
    }
    position.ended = true;
    this.#done.delete(shard);
  }

  /** Handles lanes at the same time, each batch by batch. `done` receives records only if their order is certain. */
  async #handleLanes(shard: string, lanes: StreamRecord[][], done: (records: StreamRecord[]) => void): Promise<void> {
    const note = lanes.length === 1 ? done : () => undefined;
    const handled = await Promise.allSettled(
      lanes.map(async (lane) => {
        for (let left = lane; left.length > 0; ) {
          const size = sizeOfBatch(left, this.#mapping.batchSize);
          await this.#handler.handle(shard, left.slice(0, size), note);
          left = left.slice(size);
        }
      }),
    );
    for (const one of handled) if (one.status === 'rejected') throw one.reason;
  }

  async #iterator(shard: string, position: Position): Promise<string> {
    try {
      return await this.#stream.iterator(shard, position.after, this.#signal);
    } catch (error) {
      // The last position has expired: read all records that the stream still has.
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

/** Divides records into as many lanes, in order: those of one item are always in the same lane. */
const lanesOf = (records: StreamRecord[], count: number): StreamRecord[][] => {
  const lane = ({ dynamodb }: StreamRecord): number => crc32(JSON.stringify(dynamodb.Keys)) % count;
  return [...Map.groupBy(records, lane).values()];
};

const sizes = new WeakMap<StreamRecord, number>();

/** The bytes of a record. They are needed again at each read while the record waits for more. */
const sizeOf = (record: StreamRecord): number => {
  const size = sizes.get(record) ?? Buffer.byteLength(JSON.stringify(record));
  sizes.set(record, size);
  return size;
};

/** How many records form a batch: limited by the batch size, and by the payload of a call. */
const sizeOfBatch = (records: StreamRecord[], max: number): number => {
  let bytes = 0;
  const tooMuch = records.slice(0, max).findIndex((record) => {
    bytes += sizeOf(record);
    return bytes > MAX_PAYLOAD;
  });
  return tooMuch === -1 ? Math.min(records.length, max) : Math.max(tooMuch, 1);
};
