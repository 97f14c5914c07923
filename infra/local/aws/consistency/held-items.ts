/**
 * Items of ongoing transactions. DynamoDB rejects a write of such an item; no local database does, because each finishes a
 * transaction before it reads the next call. So the guard holds a transaction's items for some milliseconds.
 *
 * "Transaction conflict handling in DynamoDB" in Amazon's developer guide states the facts: a plain write fails with
 * TransactionConflictException; a transaction is cancelled, with the reason TransactionConflict at each write that met
 * another transaction; plain reads are not affected. The guide names no error for BatchWriteItem, whose writes are
 * serializable one by one, and the API reference lists none, so its rejected writes are returned as unprocessed.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Attributes, BatchWrite, Input } from './call.ts';

/** How a write ends that meets an ongoing transaction: with an error, or with some writes of its batch left. */
export type Conflict = { error: object } | { unprocessed: Record<string, BatchWrite[]>; rest: Input };

const PREFIX = 'com.amazonaws.dynamodb.v20120810#';
const ONGOING = 'Transaction is ongoing for the item';

export class HeldItems {
  readonly #held = new Set<string>();
  readonly #milliseconds: number;

  readonly #keys: string[];

  /**
   * @param milliseconds - that a transaction holds its items for before it is done
   * @param keys - the names of the attributes that make an item's key
   */
  constructor(milliseconds: number, keys: string[]) {
    this.#milliseconds = milliseconds;
    this.#keys = keys;
  }

  /** What a write meets; nothing, where none of its items is part of an ongoing transaction. */
  conflictOf(action: string, input: Input): Conflict | undefined {
    if (action === 'TransactWriteItems') return this.#cancelled(input);
    if (action === 'BatchWriteItem') return this.#unprocessed(input);
    const isPlainWrite = ['PutItem', 'UpdateItem', 'DeleteItem'].includes(action);
    if (!isPlainWrite || !this.#isHeld(input.TableName, input.Key ?? input.Item)) return undefined;
    return { error: { __type: `${PREFIX}TransactionConflictException`, message: ONGOING } };
  }

  /** Holds a transaction's items for a while, and until it is done. Returns what `done` returns. */
  async during<Result>(input: Input, done: () => Promise<Result>): Promise<Result> {
    const names = partsOf(input).map(([table, keys]) => this.#nameOf(table, keys));
    for (const name of names) this.#held.add(name);
    try {
      // Before it is done: who has its response meets it no more.
      await pause(this.#milliseconds);
      return await done();
    } finally {
      for (const name of names) this.#held.delete(name);
    }
  }

  #isHeld(table: string | undefined, keys: Attributes | undefined): boolean {
    return this.#held.has(this.#nameOf(table, keys));
  }

  #nameOf(table: string | undefined, attributes: Attributes | undefined): string {
    return JSON.stringify([table, ...this.#keys.map((key) => attributes?.[key])]);
  }

  #cancelled(input: Input): Conflict | undefined {
    const codes = partsOf(input).map(([table, keys]) => (this.#isHeld(table, keys) ? 'TransactionConflict' : 'None'));
    if (!codes.includes('TransactionConflict')) return undefined;
    const reasons = codes.map((Code) => (Code === 'None' ? { Code } : { Code, Message: ONGOING }));
    const Message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes.join(', ')}]`;
    return { error: { __type: `${PREFIX}TransactionCanceledException`, Message, CancellationReasons: reasons } };
  }

  #unprocessed({ RequestItems = {}, ...more }: Input): Conflict | undefined {
    const unprocessed: Record<string, BatchWrite[]> = {};
    const rest: Record<string, BatchWrite[]> = {};
    for (const [table, writes] of Object.entries(RequestItems)) {
      if (!Array.isArray(writes)) continue;
      for (const write of writes) {
        const keys = write.PutRequest?.Item ?? write.DeleteRequest?.Key;
        const list = this.#isHeld(table, keys) ? unprocessed : rest;
        list[table] = [...(list[table] ?? []), write];
      }
    }
    const isAny = Object.keys(unprocessed).length > 0;
    return isAny ? { unprocessed, rest: { ...more, RequestItems: rest } } : undefined;
  }
}

/** The items of a transaction: table, and attributes among which is the key. */
const partsOf = ({ TransactItems = [] }: Input): [string | undefined, Attributes | undefined][] =>
  TransactItems.flatMap((item) =>
    Object.values(item).map((part): [string | undefined, Attributes | undefined] => [
      part?.TableName,
      part?.Key ?? part?.Item,
    ]),
  );
