/**
 * A copy of the table as it was half a second ago, in the same database, with the same keys and indexes. It follows the
 * table's stream, so that it receives all writes, including those of operators and tests.
 */
import { setTimeout as pause } from 'node:timers/promises';
import * as v from 'valibot';
import type { Stream } from '../event-sources/stream.ts';
import { StreamSource } from '../event-sources/stream-source.ts';
import { Writes } from '../event-sources/writes.ts';
import { signedCall } from '../signed-call.ts';
import type { StreamMapping } from '../template/definitions.ts';

/** Default delay of the copy, in milliseconds. */
const BEHIND = 500;
/** Average age in milliseconds of a record when it is read from the stream. */
const IN_STREAM = 200;
/** Milliseconds before a failed batch is written again. */
const RETRY_DELAY = 200;
/** Milliseconds by which a change may be applied too late. */
const TOLERANCE = 500;
/** Maximum number of writes in a batch. */
const BATCH = 25;

const attributes = v.record(v.string(), v.unknown());

const batch = v.object({
  Records: v.array(v.object({ dynamodb: v.object({ Keys: attributes, NewImage: v.optional(attributes) }) })),
});

type Change = v.InferOutput<typeof batch>['Records'][number]['dynamodb'];

/** Delivers every record, with unlimited age and retries. */
const mapping: StreamMapping = {
  kind: 'stream',
  id: 'Replica',
  function: 'Replica',
  batchSize: 1_000,
  parallelization: 1,
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
  /** When the changes are due that are not applied yet, oldest first, in milliseconds since 1970. */
  readonly #due: number[] = [];

  /** Starts at once. The table of the copy must exist. */
  constructor(endpoint: string, { stream, table, behind = BEHIND, held = () => false }: ReplicaSettings) {
    this.#endpoint = endpoint;
    this.#table = table;
    this.#behind = behind;
    this.#held = held;
    this.#source = new StreamSource(mapping, {
      stream,
      // Nothing reports writes here: the source polls.
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

  /** Whether it is further behind than it should be, because it has many changes to apply. Never while it is held. */
  get isLate(): boolean {
    const [oldest] = this.#due;
    return oldest !== undefined && !this.#held() && Date.now() > oldest + TOLERANCE;
  }

  /** Applies changes after the delay, and after all earlier changes. */
  #take(changes: Change[]): void {
    const due = Date.now() + this.#behind - IN_STREAM;
    this.#due.push(due);
    this.#applied = this.#applied.then(() => this.#applyAt(due, changes));
  }

  async #applyAt(due: number, changes: Change[]): Promise<void> {
    const { signal } = this.#closing;
    await pause(Math.max(due - Date.now(), 0), undefined, { signal }).catch(() => undefined);
    while (this.#held() && !signal.aborted) await pause(IN_STREAM);
    // A batch may contain an item only once: its last change.
    const latest = [...new Map(changes.map((change) => [nameOf(change), change])).values()];
    for (let start = 0; start < latest.length && !signal.aborted; start += BATCH) {
      await this.#write(latest.slice(start, start + BATCH));
    }
    this.#due.shift();
  }

  async #write(changes: Change[]): Promise<void> {
    const requests = changes.map(({ Keys, NewImage }) =>
      NewImage === undefined ? { DeleteRequest: { Key: Keys } } : { PutRequest: { Item: NewImage } },
    );
    const input = { RequestItems: { [this.#table]: requests } };
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const call = { endpoint: this.#endpoint, target: 'DynamoDB_20120810.BatchWriteItem', input, signal };
      const response = await signedCall(call).catch(() => undefined);
      if (response?.status === 200) return;
      // A busy database accepts it later. A rejected batch is a bug of the replica.
      if (response !== undefined && response.status < 500) throw new Error(response.text);
      await pause(RETRY_DELAY);
    }
  }
}

/** A name for the changed item. Keys are sorted, because their order varies. */
const nameOf = ({ Keys }: Change): string =>
  JSON.stringify(Object.entries(Keys).sort(([one], [other]) => (one < other ? -1 : 1)));
