/**
 * Items of ongoing transactions. DynamoDB rejects other writes of these items. Local databases do not, because they
 * finish a transaction before they read the next call. So the guard holds a transaction's items for some milliseconds.
 *
 * "Transaction conflict handling in DynamoDB" in Amazon's developer guide states the facts: a plain write fails with
 * TransactionConflictException; a transaction is cancelled, with the reason TransactionConflict for each conflicting
 * write; plain reads are not affected. The guide names no error for BatchWriteItem, whose writes are serializable one
 * by one, and the API reference lists none, so its rejected writes are returned as unprocessed.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Attributes, BatchWrite, Input } from './call.ts';

/** The result of a write that conflicts with a transaction: an error, or the unprocessed writes of a batch. */
export type Conflict = { error: object } | { unprocessed: Record<string, BatchWrite[]>; rest: Input };

const PREFIX = 'com.amazonaws.dynamodb.v20120810#';
const ONGOING = 'Transaction is ongoing for the item';

export class HeldItems {
  readonly #held = new Set<string>();
  readonly #milliseconds: number;

  readonly #keys: string[];

  /**
   * @param milliseconds - how long a transaction holds its items before it is executed
   * @param keys - the names of the key attributes
   */
  constructor(milliseconds: number, keys: string[]) {
    this.#milliseconds = milliseconds;
    this.#keys = keys;
  }

  /** The conflict of a write with ongoing transactions; undefined if there is none. */
  conflictOf(action: string, input: Input): Conflict | undefined {
    if (action === 'TransactWriteItems') return this.#cancelled(input);
    if (action === 'BatchWriteItem') return this.#unprocessed(input);
    const isPlainWrite = ['PutItem', 'UpdateItem', 'DeleteItem'].includes(action);
    if (!isPlainWrite || !this.#isHeld(input.TableName, input.Key ?? input.Item)) return undefined;
    return { error: { __type: `${PREFIX}TransactionConflictException`, message: ONGOING } };
  }

  /** Holds a transaction's items for some milliseconds, and until `done` has returned. Returns its result. */
  async during<Result>(input: Input, done: () => Promise<Result>): Promise<Result> {
    const names = partsOf(input).map(([table, keys]) => this.#nameOf(table, keys));
    for (const name of names) this.#held.add(name);
    try {
      // The pause comes first: after the transaction's response, there must be no more conflicts with it.
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

/** The items of a transaction: the table, and attributes that include the key. */
const partsOf = ({ TransactItems = [] }: Input): [string | undefined, Attributes | undefined][] =>
  TransactItems.flatMap((item) =>
    Object.values(item).map((part): [string | undefined, Attributes | undefined] => [
      part?.TableName,
      part?.Key ?? part?.Item,
    ]),
  );
