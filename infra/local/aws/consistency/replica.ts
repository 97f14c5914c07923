/**
 * A copy of the table as it was half a second ago, in the same database and with the same keys and indexes. It follows
 * the table's stream, so that it has every write, whoever made it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import * as v from 'valibot';
import { SIGNED, type Stream } from '../event-sources/stream.ts';
import { StreamSource } from '../event-sources/stream-source.ts';
import { Writes } from '../event-sources/writes.ts';
import type { StreamMapping } from '../template/definitions.ts';

/** Milliseconds that the copy is behind, unless others are given. */
const BEHIND = 500;
/** Milliseconds that a record was in the stream for, on average, when it is read. */
const IN_STREAM = 100;
/** Milliseconds after which a batch that failed is written again. */
const AGAIN = 200;
/** A batch takes so many writes. */
const BATCH = 25;

const attributes = v.record(v.string(), v.unknown());

const batch = v.object({
  Records: v.array(v.object({ dynamodb: v.object({ Keys: attributes, NewImage: v.optional(attributes) }) })),
});

type Change = v.InferOutput<typeof batch>['Records'][number]['dynamodb'];

/** Every record, however old, as often as it takes. */
const mapping: StreamMapping = {
  kind: 'stream',
  id: 'Replica',
  function: 'Replica',
  batchSize: 1_000,
  reportsFailures: false,
  window: 0,
  filter: () => true,
  bisects: false,
  retries: Number.POSITIVE_INFINITY,
  oldest: Number.POSITIVE_INFINITY,
  onFailure: undefined,
  needs: [],
};

interface ReplicaSettings {
  stream: Stream;
  table: string;
  behind?: number | undefined;
  held?: (() => boolean) | undefined;
}

export class Replica {
  readonly #endpoint: string;
  readonly #table: string;
  readonly #source: StreamSource;
  readonly #closing = new AbortController();
  readonly #behind: number;
  readonly #held: () => boolean;
  #applied: Promise<void> = Promise.resolve();

  /** Begins at once. The copy must be there, by the name of `table`. */
  constructor(endpoint: string, { stream, table, behind = BEHIND, held = () => false }: ReplicaSettings) {
    this.#endpoint = endpoint;
    this.#table = table;
    this.#behind = behind;
    this.#held = held;
    this.#source = new StreamSource(mapping, {
      stream,
      // Nobody notes a write: so it looks for records five times a second.
      writes: new Writes(),
      positions: new Map(),
      faultInjection: {},
      tell: () => undefined,
      invoke: async (_, event) => this.#take(v.parse(batch, event).Records.map(({ dynamodb }) => dynamodb)),
    });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#source.stop();
    await this.#applied;
  }

  /** Applies changes when their time has come, after all that came before them. */
  #take(changes: Change[]): void {
    const due = Date.now() + this.#behind - IN_STREAM;
    this.#applied = this.#applied.then(() => this.#applyAt(due, changes));
  }

  async #applyAt(due: number, changes: Change[]): Promise<void> {
    const { signal } = this.#closing;
    await pause(Math.max(due - Date.now(), 0), undefined, { signal }).catch(() => undefined);
    while (this.#held() && !signal.aborted) await pause(IN_STREAM);
    // A batch has each item once: as it is last.
    const latest = [...new Map(changes.map((change) => [nameOf(change), change])).values()];
    for (let start = 0; start < latest.length && !signal.aborted; start += BATCH) {
      await this.#write(latest.slice(start, start + BATCH));
    }
  }

  async #write(changes: Change[]): Promise<void> {
    const requests = changes.map(({ Keys, NewImage }) =>
      NewImage === undefined ? { DeleteRequest: { Key: Keys } } : { PutRequest: { Item: NewImage } },
    );
    const headers = { ...SIGNED, 'x-amz-target': 'DynamoDB_20120810.BatchWriteItem' };
    const body = JSON.stringify({ RequestItems: { [this.#table]: requests } });
    while (!this.#closing.signal.aborted) {
      const response = await fetch(this.#endpoint, { method: 'POST', headers, body }).catch(() => undefined);
      if (response?.ok) return void (await response.arrayBuffer());
      // A busy database takes it later; what it rejects is a mistake here.
      if (response !== undefined && response.status < 500) throw new Error(await response.text());
      await pause(AGAIN);
    }
  }
}

/** The item that a change is of. Keys come in any order. */
const nameOf = ({ Keys }: Change): string =>
  JSON.stringify(Object.entries(Keys).sort(([one], [other]) => (one < other ? -1 : 1)));
