/**
 * What a role allows on the table. IAM evaluates all keys of a batch against one statement, so each action on the table or
 * an index has one statement with all its partitions.
 *
 * AWS does not document how the keys of a transaction are evaluated: per item, per action, or for the whole call. In the last
 * case each action needs all partitions of the transaction. Roles allow that as far as their function writes these
 * partitions in any way. A partition that it only reads or checks is never added: `deniedAsWhole` lists transactions that IAM
 * would deny for this reason.
 */
import {
  type AccessPattern,
  type AccessPatternName,
  accessPatterns,
  type TableAccess,
  type TransactionName,
  transactions,
} from '../../../shared/api/access-patterns.ts';

/** One statement: actions on the table, or a query of an index, with the partitions of all keys that a call may name. */
export interface TableRight {
  action: AccessPattern['action'];
  index?: AccessPattern['index'];
  partitions: string[];
}

/** A transaction that IAM would deny if it evaluated the call as a whole, and what one statement would have to allow. */
interface DeniedAsWhole {
  transaction: TransactionName;
  actions: string[];
  partitions: string[];
}

/** The rights of a function: a statement for each action on the table or an index. */
export const tableRights = (access: readonly TableAccess[]): TableRight[] => {
  const own = access.flatMap(patternsOf);
  const writable = writtenBy(own);
  const widened = access
    .filter(isTransaction)
    .map(asWhole)
    .filter(({ partitions }) => partitions.isSubsetOf(writable))
    .flatMap(({ actions, partitions }) =>
      [...actions].flatMap((action) => [...partitions].map((one): AccessPattern => ({ action, partitions: one }))),
    );
  const byAction = Map.groupBy([...own, ...widened], ({ action, index }) => `${action} ${index ?? ''}`);
  return [...byAction.values()].flatMap((patterns) =>
    patterns.slice(0, 1).map(({ action, index }) => ({
      action,
      index,
      partitions: [...new Set(patterns.map(({ partitions }) => partitions))],
    })),
  );
};

/**
 * The transactions of a function that IAM would deny if it evaluated the whole call.
 *
 * @internal The tests compare it with the guide for security.
 */
export const deniedAsWhole = (access: readonly TableAccess[]): DeniedAsWhole[] => {
  const writable = writtenBy(access.flatMap(patternsOf));
  return access.filter(isTransaction).flatMap((transaction) => {
    const { actions, partitions } = asWhole(transaction);
    if (partitions.isSubsetOf(writable)) return [];
    return { transaction, actions: [...actions].sort(), partitions: [...partitions].sort() };
  });
};

/** What a transaction needs in one statement if IAM evaluates the whole call: each action on each partition. */
const asWhole = (name: TransactionName) => {
  const patterns = patternsOf(name);
  return {
    actions: new Set(patterns.map(({ action }) => action)),
    partitions: new Set(patterns.map(({ partitions }) => partitions)),
  };
};

const patternsOf = (name: TableAccess): AccessPattern[] => {
  const names: readonly AccessPatternName[] = isTransaction(name) ? transactions[name] : [name];
  return names.map((one) => accessPatterns[one]);
};

const isTransaction = (name: TableAccess): name is TransactionName => Object.hasOwn(transactions, name);

const WRITES: ReadonlySet<string> = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem']);

const writtenBy = (patterns: AccessPattern[]): Set<string> =>
  new Set(patterns.filter(({ action }) => WRITES.has(action)).map(({ partitions }) => partitions));
