/**
 * The declaration of a kind of row. Each domain declares its rows in `entities.ts`, beside their keys: what a restore of the
 * table, the removal of an account and the erasure of a person do with them, and who may access them. From the declarations
 * follow the access patterns (`api/access-patterns.ts`), the operator's commands, and the tests of erasures and exports.
 */
import type { indexes } from './indexes.ts';
import type { Key } from './keys.ts';

export type IndexName = keyof typeof indexes;

/** A row of any kind. */
export type AnyItem = Key & { expires_at?: number } & Record<string, unknown>;

export type Action =
  | 'GetItem'
  | 'BatchGetItem'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'BatchWriteItem'
  | 'ConditionCheckItem'
  | 'Query';

/** An action on the rows, or a query of an index: `partition` is how its keys begin there. */
type Access = Action | { index: IndexName; partition: string };

export interface Entity {
  /** Its name in the operator's commands and guide. */
  name: string;
  /** How its keys begin. A partition key that ends with `#` has a variable part. */
  pk: string;
  sk: string;
  /** The account that a row belongs to; none, if it belongs to no account. */
  account?: (item: AnyItem) => string;
  /** The profiler that a row belongs to, whose account is the row's. */
  profiler?: (item: AnyItem) => string;
  /** Set if the rows outlive their account. */
  outlivesAccount?: true;
  /**
   * What `operator restore` does with a row that is missing.
   *
   * - `missing`: copies it
   * - `everything`: the same, also if only a customer's or newer rows are restored
   * - `tokens`, `outbox`: copies it, if the option is given
   * - `batch`: copies it with the batch that it is a part of
   * - `never`: the service makes it again by itself
   */
  restore: 'missing' | 'everything' | 'tokens' | 'outbox' | 'batch' | 'never';
  /** The marker of the deletion after which a row does not come back. */
  deletion?: (item: AnyItem) => Key;
  /** Whether rows expire; `some`, if only some of them do. */
  expires: boolean | 'some';
  person: Person | 'none';
  /** The accesses of functions to the rows, by their names. Names are unique over all entities. */
  access: Readonly<Record<string, Access>>;
}

/** What rows contain of a person: the number, texts or values of the profile. */
interface Person {
  /**
   * What the erasure of the person does: removes the row, or gives it a pseudonym in place of the number. `hashed` rows are
   * kept: they have only a keyed hash of the number.
   */
  erasure: 'removed' | 'renamed' | 'hashed';
  /** The number in a row, or the pseudonym in its place: the row does not come back after the removal of this person. */
  phone?: (item: AnyItem) => string;
  /** The same for a row that has only the keyed hash of the number. */
  phoneHash?: (item: AnyItem) => string;
  /** The part of `operator user export` that shows the rows, or why there is none. */
  exported: ExportPart | { not: string };
}

/** The parts of an export of a person's data. */
export type ExportPart =
  | 'profile'
  | 'answers'
  | 'requests'
  | 'consents'
  | 'opt_outs'
  | 'grants'
  | 'log'
  | 'deliveries'
  | 'waiting';
