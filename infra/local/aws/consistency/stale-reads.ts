/**
 * Stale reads: an eventually consistent read may return data of half a second ago. In DynamoDB, reads, queries and
 * index queries are stale at times; in local databases, never. So a share of these reads is redirected to a replica,
 * except while it is further behind: the service may rely on indexes that are at most a minute old, which a test shortens.
 */
import { OPERATOR } from '../iam/roles.ts';
import type { BatchReads, Input } from './call.ts';
import type { Replica } from './replica.ts';

export interface StaleReadsOptions {
  /** The share of eventually consistent reads that are stale, from 0 to 1. */
  share: number;
  /** Returns a number from 0 to below 1, which decides about a read. */
  random: () => number;
  /** Whether a caller's reads may be stale, by its logical id. Default: those of all functions. */
  of?: (caller: string) => boolean;
  /** Delay of the replica in milliseconds. Default: 500. */
  behind?: number;
  /** While this returns true, the replica does not advance, so that a test has time to make changes. */
  held?: () => boolean;
}

export class StaleReads {
  readonly #options: StaleReadsOptions;
  readonly #table: string;
  readonly #replica: string;
  readonly #state: Pick<Replica, 'isLate'>;

  constructor(
    options: StaleReadsOptions,
    { table, replica, state }: { table: string; replica: string; state: Pick<Replica, 'isLate'> },
  ) {
    this.#options = options;
    this.#table = table;
    this.#replica = replica;
    this.#state = state;
  }

  /** The call for the replica; undefined if the table itself serves the call. */
  redirected(action: string, input: Input, caller: string): Input | undefined {
    const { share, random, of = isFunction } = this.#options;
    if (!of(caller)) return undefined;
    const changed = this.#forReplica(action, input);
    return changed !== undefined && random() < share && !this.#state.isLate ? changed : undefined;
  }

  /** A response of the replica, with the table's name in the results of batches. */
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

/** Operators and tests use the guard only on purpose, and get consistent reads. */
const isFunction = (caller: string): boolean => caller !== OPERATOR;

const isConsistent = (reads: BatchReads | unknown[]): boolean => Array.isArray(reads) || reads.ConsistentRead === true;

const rename = <Value>(tables: Record<string, Value>, from: string, to: string): Record<string, Value> =>
  Object.fromEntries(Object.entries(tables).map(([name, value]) => [name === from ? to : name, value]));
