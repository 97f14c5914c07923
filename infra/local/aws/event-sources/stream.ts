/** A client of DynamoDB Streams. Records are plain JSON, in the form in which functions receive them. */
import { signedCall } from '../signed-call.ts';

/** A change of the table. Times are seconds since 1970. */
export interface StreamRecord {
  eventName: string;
  dynamodb: {
    SequenceNumber: string;
    ApproximateCreationDateTime: number;
    Keys: Image;
    /** How the item is now. A removed item has none. */
    NewImage?: Image;
  };
}

/** An item in the form of DynamoDB's API. */
export type Image = Record<string, { S?: string }>;

export interface Shard {
  ShardId: string;
  ParentShardId?: string;
}

export interface Page {
  records: StreamRecord[];
  /** The iterator of the next page; undefined if the shard has ended. */
  next: string | undefined;
}

/** The stream cannot be read. The name is DynamoDB's error name, or `Unreachable`. */
export class StreamError extends Error {
  override readonly name: string;

  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

/** Pages that are kept for readers that are behind. */
const MAX_RECORDS = 16;

export class Stream {
  readonly arn: string;
  readonly #endpoint: string;
  readonly #onRecords: (records: StreamRecord[]) => void;
  /** The last pages with records, by their iterators. */
  readonly #kept = new Map<string, Page>();
  /** Reads under way, by their iterators. */
  readonly #reads = new Map<string, Promise<Page>>();

  /** @param onRecords - called with records as soon as they are read; several readers read the same records */
  constructor(endpoint: string, arn: string, onRecords: (records: StreamRecord[]) => void = () => undefined) {
    this.#endpoint = endpoint;
    this.arn = arn;
    this.#onRecords = onRecords;
  }

  /** All shards. @throws StreamError, or the signal's reason, as the other methods do */
  async shards(signal: AbortSignal): Promise<Shard[]> {
    const shards: Shard[] = [];
    let last: string | undefined;
    do {
      const { StreamDescription } = await this.#call<{
        StreamDescription: { Shards: Shard[]; LastEvaluatedShardId?: string };
      }>('DescribeStream', { StreamArn: this.arn, ExclusiveStartShardId: last }, signal);
      shards.push(...StreamDescription.Shards);
      last = StreamDescription.LastEvaluatedShardId;
    } while (last !== undefined);
    return shards;
  }

  /** An iterator for a shard: after a sequence number, or at its oldest record. */
  async iterator(shard: string, after: string | undefined, signal: AbortSignal): Promise<string> {
    const position =
      after === undefined
        ? { ShardIteratorType: 'TRIM_HORIZON' }
        : { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: after };
    const input = { StreamArn: this.arn, ShardId: shard, ...position };
    const { ShardIterator } = await this.#call<{ ShardIterator: string }>('GetShardIterator', input, signal);
    return ShardIterator;
  }

  /**
   * The records from an iterator on. Those that another reader has read lately come from memory, because the database is
   * slow; the database is asked for later ones only.
   */
  async read(iterator: string, signal: AbortSignal): Promise<Page> {
    const known: StreamRecord[] = [];
    let next = iterator;
    for (let page = this.#kept.get(next); page !== undefined; page = this.#kept.get(next)) {
      known.push(...page.records);
      if (page.next === undefined) return { records: known, next: undefined };
      next = page.next;
    }
    const page = await this.#readLater(next, signal);
    return { ...page, records: [...known, ...page.records] };
  }

  /** The page at an iterator at which no page is kept. Readers that ask for it at the same time share it. */
  async #readLater(iterator: string, signal: AbortSignal): Promise<Page> {
    const other = this.#reads.get(iterator);
    const shared = other && (await other.catch(() => undefined));
    // An empty page may be older than a write that the reader knows of.
    if (shared !== undefined && shared.records.length > 0) return shared;
    const read = this.#readPage(iterator, signal);
    this.#reads.set(iterator, read);
    try {
      const page = await read;
      if (page.records.length > 0) this.#keep(iterator, page);
      return page;
    } finally {
      if (this.#reads.get(iterator) === read) this.#reads.delete(iterator);
    }
  }

  #keep(iterator: string, page: Page): void {
    this.#kept.set(iterator, page);
    for (const old of [...this.#kept.keys()].slice(0, -MAX_RECORDS)) this.#kept.delete(old);
  }

  async #readPage(iterator: string, signal: AbortSignal): Promise<Page> {
    const { Records, NextShardIterator } = await this.#call<{
      Records: StreamRecord[];
      NextShardIterator?: string | null;
    }>('GetRecords', { ShardIterator: iterator }, signal);
    this.#onRecords(Records);
    return { records: Records, next: NextShardIterator ?? undefined };
  }

  async #call<Output>(action: string, input: object, signal: AbortSignal): Promise<Output> {
    const target = `DynamoDBStreams_20120810.${action}`;
    const { status, body } = await signedCall({ endpoint: this.#endpoint, target, input, signal })
      .then(({ status: code, text }) => ({ status: code, body: JSON.parse(text) }))
      .catch((error: unknown) => {
        signal.throwIfAborted();
        throw new StreamError('Unreachable', String(error));
      });
    if (status === 200) return body as Output;
    const { __type = '', message = '' } = body as { __type?: string; message?: string };
    throw new StreamError(__type.replace(/^.*#/, ''), message);
  }
}
