/**
 * Invokes a function with records of the stream as Lambda does. After a failure, it retries from the record that the
 * function named, or bisects the batch, until all records are handled or discarded.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { FaultInjection } from '../fault-injection.ts';
import type { StreamMapping } from '../template/definitions.ts';
import { arnOf, REGION } from '../template/references.ts';
import { failedItems } from './item-failures.ts';
import type { StreamRecord } from './stream.ts';

/** Milliseconds before a retry of the same records: doubled each time, up to `max`. */
const PAUSE = { first: 50, max: 1_000 };

export interface BatchHandlerSettings {
  streamArn: string;
  invoke: (functionId: string, event: unknown) => Promise<unknown>;
  /** Receives the message about discarded records. */
  tell: (queueId: string, message: unknown) => void;
  faultInjection: FaultInjection;
  signal: AbortSignal;
}

/** Records to be handled in one call. */
interface Part {
  records: StreamRecord[];
  /** How often these records failed together. */
  failures: number;
  /** Whether fault injection repeats them. */
  repeated: boolean;
}

export class BatchHandler {
  readonly #mapping: StreamMapping;
  readonly #settings: BatchHandlerSettings;

  constructor(mapping: StreamMapping, settings: BatchHandlerSettings) {
    this.#mapping = mapping;
    this.#settings = settings;
  }

  /**
   * Resolves when all records of a batch are done.
   *
   * @param done - receives records in order, as soon as they are handled or discarded
   * @throws the signal's reason — it was stopped before
   */
  async handle(shard: string, batch: StreamRecord[], done: (records: StreamRecord[]) => void): Promise<void> {
    const parts: Part[] = [{ records: batch, failures: 0, repeated: false }];
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      parts.unshift(...(await this.#attempt(shard, part, done)));
    }
  }

  /** Calls the function once. Returns the remaining parts. */
  async #attempt(shard: string, part: Part, done: (records: StreamRecord[]) => void): Promise<Part[]> {
    const { records, failures, repeated } = part;
    const { retries, bisects } = this.#mapping;
    const fresh = (some: StreamRecord[]): Part[] => (some.length > 0 ? [{ records: some, failures: 0, repeated }] : []);

    const old = records.filter((record) => this.#isTooOld(record));
    if (old.length > 0) {
      this.#giveUp(shard, old, 'RecordAgeExceeded', failures);
      done(old);
      return fresh(records.slice(old.length));
    }

    const { handled, threw } = await this.#call(records);
    done(records.slice(0, handled));
    if (handled === records.length) return repeated ? [] : this.#repetitionOf(records);
    // The records before the failed one are done, so the remaining part starts without failures.
    if (handled > 0) return fresh(records.slice(handled));
    if (threw && bisects && records.length > 1) {
      const middle = Math.ceil(records.length / 2);
      return [...fresh(records.slice(0, middle)), ...fresh(records.slice(middle))];
    }
    if (failures === retries) {
      this.#giveUp(shard, records, 'RetryAttemptsExhausted', failures + 1);
      done(records);
      return [];
    }
    await pause(Math.min(PAUSE.first * 2 ** failures, PAUSE.max), undefined, { signal: this.#settings.signal });
    return [{ ...part, failures: failures + 1 }];
  }

  /** How many records the function handled, from the first, and whether it threw an error. */
  async #call(records: StreamRecord[]): Promise<{ handled: number; threw: boolean }> {
    const { signal, invoke, streamArn } = this.#settings;
    const { function: target, reportsFailures } = this.#mapping;
    signal.throwIfAborted();
    try {
      const event = { Records: records.map((one) => ({ ...one, awsRegion: REGION, eventSourceARN: streamArn })) };
      const result = await invoke(target, event);
      const sequence = records.map(({ dynamodb }) => dynamodb.SequenceNumber);
      const [failed] = reportsFailures ? failedItems(result, sequence) : [];
      return { handled: failed === undefined ? records.length : sequence.indexOf(failed), threw: false };
    } catch {
      // The function logs the cause. A call that was stopped from outside does not count as a failure of the records.
      signal.throwIfAborted();
      return { handled: 0, threw: true };
    }
  }

  #repetitionOf(records: StreamRecord[]): Part[] {
    const repetition =
      this.#settings.faultInjection.repeatBatch?.({ function: this.#mapping.function, size: records.length }) ?? 'no';
    if (repetition === 'no') return [];
    const cuts =
      repetition === 'whole' ? [records] : [records.slice(0, repetition.cutAt), records.slice(repetition.cutAt)];
    return cuts.filter((some) => some.length > 0).map((some) => ({ records: some, failures: 0, repeated: true }));
  }

  #isTooOld({ dynamodb }: StreamRecord): boolean {
    return Date.now() - dynamodb.ApproximateCreationDateTime * 1000 > this.#mapping.oldest;
  }

  /** Reports the positions of discarded records, without their content, as Lambda does. */
  #giveUp(shard: string, records: StreamRecord[], condition: string, calls: number): void {
    const { function: target, onFailure } = this.#mapping;
    const [first, last] = [records.at(0)?.dynamodb, records.at(-1)?.dynamodb];
    if (onFailure === undefined || first === undefined || last === undefined) return;
    const arrival = (seconds: number): string => new Date(seconds * 1000).toISOString();
    this.#settings.tell(onFailure, {
      requestContext: {
        requestId: randomUUID(),
        functionArn: arnOf('lambda', `function:${target}`),
        condition,
        approximateInvokeCount: calls,
      },
      ...(calls > 0 && {
        responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
      }),
      version: '1.0',
      timestamp: new Date().toISOString(),
      DDBStreamBatchInfo: {
        shardId: shard,
        startSequenceNumber: first.SequenceNumber,
        endSequenceNumber: last.SequenceNumber,
        approximateArrivalOfFirstRecord: arrival(first.ApproximateCreationDateTime),
        approximateArrivalOfLastRecord: arrival(last.ApproximateCreationDateTime),
        batchSize: records.length,
        streamArn: this.#settings.streamArn,
      },
    });
  }
}
