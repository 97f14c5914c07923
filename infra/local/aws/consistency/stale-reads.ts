/**
 * Stale reads: an eventually consistent read may return what was there half a second ago. DynamoDB's reads of items,
 * queries and indexes do so at times, reads of local databases never. A share of them is answered by a replica here.
 */
import { OPERATOR } from '../iam/roles.ts';
import type { BatchReads, Input } from './call.ts';

export interface StaleReadsOptions {
  /** The share of eventually consistent reads that are stale, from 0 to 1. */
  share: number;
  /** Decides about each read: from 0 to below 1. */
  random: () => number;
  /** Whose reads may be stale, by logical id: all functions', unless others are given. */
  of?: (caller: string) => boolean;
  /** Milliseconds that they are behind: 500, unless it is given. */
  behind?: number;
  /** Whether they are to stay as far behind as they are: a test may change something meanwhile, however long that takes. */
  held?: () => boolean;
}

export class StaleReads {
  readonly #options: StaleReadsOptions;
  readonly #table: string;
  readonly #replica: string;

  constructor(options: StaleReadsOptions, tables: { table: string; replica: string }) {
    this.#options = options;
    this.#table = tables.table;
    this.#replica = tables.replica;
  }

  /** The call as the replica takes it; nothing, where the table itself answers. */
  redirected(action: string, input: Input, caller: string): Input | undefined {
    const { share, random, of = isFunction } = this.#options;
    if (!of(caller)) return undefined;
    const changed = this.#forReplica(action, input);
    return changed !== undefined && random() < share ? changed : undefined;
  }

  /** A response of the replica, as the table would have given it: batches name their table. */
  renamed<Response extends object>(response: Response): Response {
    const named = ['Responses', 'UnprocessedKeys'] as const;
    const changes = named.flatMap((name) => {
      const tables: Record<string, unknown> | undefined = Object(response)[name];
      return tables === undefined ? [] : [[name, rename(tables, this.#replica, this.#table)]];
    });
    return { ...response, ...Object.fromEntries(changes) };
  }

  #forReplica(action: string, input: Input): Input | undefined {
    if (action === 'GetItem' || action === 'Query') {
      const isOurs = input.TableName === this.#table && input.ConsistentRead !== true;
      return isOurs ? { ...input, TableName: this.#replica } : undefined;
    }
    const reads = action === 'BatchGetItem' ? input.RequestItems?.[this.#table] : undefined;
    if (reads === undefined || isConsistent(reads)) return undefined;
    return { ...input, RequestItems: rename(input.RequestItems ?? {}, this.#table, this.#replica) };
  }
}

/** Operators and tests reach the database past the guard, unless they are sent to it. */
const isFunction = (caller: string): boolean => caller !== OPERATOR;

const isConsistent = (reads: BatchReads | unknown[]): boolean => Array.isArray(reads) || reads.ConsistentRead === true;

const rename = <Value>(tables: Record<string, Value>, from: string, to: string): Record<string, Value> =>
  Object.fromEntries(Object.entries(tables).map(([name, value]) => [name === from ? to : name, value]));
