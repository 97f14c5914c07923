/** The two tables of a restore: what they contain, and reads of either. */
import { setTimeout as pause } from 'node:timers/promises';
import { DescribeTableCommand, ResourceNotFoundException, type TableDescription } from '@aws-sdk/client-dynamodb';
import { BatchGetCommand, QueryCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { accountKey } from '../../../shared/accounts/entities.ts';
import { between, now, sortableTime } from '../../../shared/core/clock.ts';
import { BACKUP_DAYS, DELETION_MEMORY_DAYS, inDays } from '../../../shared/core/lifetimes.ts';
import { isRetryable } from '../../../shared/core/retryable-errors.ts';
import { tableName } from '../../../shared/core/settings.ts';
import { profilerIdOf, profilersAfter } from '../../../shared/profilers/entities.ts';
import { documents, hasExpired } from '../../../shared/table/client.ts';
import type { AnyItem } from '../../../shared/table/entity.ts';
import type { Key } from '../../../shared/table/keys.ts';
import { UserError } from '../queries/accounts-admin.ts';

/** Where a scan continues. */
export type Position = Record<string, unknown>;

/** How often a call is made that the table has no capacity for, and the first pause, in milliseconds. */
const BUSY = { attempts: 8, pauseMs: 100 };

/** Makes a call; again, after growing pauses, while the table is busy. */
export const patiently = async <Result>(call: () => Promise<Result>): Promise<Result> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (!isRetryable(error) || attempt === BUSY.attempts) throw error;
    }
    await pause(between(0, BUSY.pauseMs * 2 ** attempt));
  }
};

/** Keys of a batch. */
const KEYS = 100;

export const nameOf = ({ pk, sk }: Key): string => JSON.stringify([pk, sk]);

/** The items of a table at these keys as they are at this moment, by `nameOf`. Expired items count as missing. */
export const itemsAt = async (table: string, keys: Key[]): Promise<Map<string, AnyItem>> => {
  const found = new Map<string, AnyItem>();
  let left: Record<string, unknown>[] = [
    ...new Map(keys.map(({ pk, sk }) => [nameOf({ pk, sk }), { pk, sk }])).values(),
  ];
  for (let delay = BUSY.pauseMs; left.length > 0; ) {
    const RequestItems = { [table]: { Keys: left.slice(0, KEYS), ConsistentRead: true } };
    const { Responses, UnprocessedKeys } = await patiently(() => documents.send(new BatchGetCommand({ RequestItems })));
    for (const item of (Responses?.[table] ?? []) as AnyItem[]) if (!hasExpired(item)) found.set(nameOf(item), item);
    const unprocessed = UnprocessedKeys?.[table]?.Keys ?? [];
    left = [...unprocessed, ...left.slice(KEYS)];
    if (unprocessed.length > 0) await pause(delay);
    delay = unprocessed.length > 0 ? Math.min(delay * 2, 5_000) : BUSY.pauseMs;
  }
  return found;
};

/** A page of one of the segments of a table. */
export const scanPage = async (
  table: string,
  {
    segment,
    segments,
    after,
    limit,
  }: { segment: number; segments: number; after: Position | undefined; limit: number },
): Promise<{ items: AnyItem[]; next: Position | undefined }> => {
  const command = new ScanCommand({
    TableName: table,
    Segment: segment,
    TotalSegments: segments,
    Limit: limit,
    ...(after && { ExclusiveStartKey: after }),
  });
  const { Items = [], LastEvaluatedKey } = await patiently(() => documents.send(command));
  return { items: Items as AnyItem[], next: LastEvaluatedKey };
};

/** The ids of an account's profilers, in either table: answers name only their profiler. */
export const profilersOfAccount = async (source: string, account: string): Promise<Set<string>> => {
  const { pk, from, to } = profilersAfter(account, undefined);
  const found = new Set<string>();
  for (const TableName of [tableName(), source]) {
    let start: Position | undefined;
    do {
      const command = new QueryCommand({
        TableName,
        KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
        ExpressionAttributeValues: { ':pk': pk, ':from': from, ':to': to },
        ProjectionExpression: 'sk',
        ...(start && { ExclusiveStartKey: start }),
      });
      const { Items = [], LastEvaluatedKey } = await patiently(() => documents.send(command));
      for (const { sk } of Items) found.add(profilerIdOf({ pk, sk: String(sk) }));
      start = LastEvaluatedKey;
    } while (start);
  }
  return found;
};

/** Checks that a customer is in either table. @throws UserError — in none */
export const requireAccountIn = async (source: string, account: string): Promise<void> => {
  const found = await Promise.all([tableName(), source].map((table) => itemsAt(table, [accountKey(account)])));
  if (found.every(({ size }) => size === 0)) {
    throw new UserError(`There is no account "${account}", neither in the live table nor in "${source}".`);
  }
};

/** The table that items come from. */
export interface Source {
  name: string;
  /** About how many items it contains. */
  items: number;
  /** Whether AWS, or the operator, says that its data is of the past. */
  isRestored: boolean;
}

const DAY_MS = 86_400_000;

/**
 * Checks the table that items come from.
 *
 * @param taken - when its data was current, if the operator says so
 * @throws UserError — it is the live table, does not exist, is another table, is not ready, or is older than the deletion markers
 */
export const openSource = async (name: string, taken: string | undefined): Promise<Source> => {
  if (name === tableName()) throw new UserError(`"${name}" is the live table. Name the restored one with --from.`);
  const [source, live] = await Promise.all([describe(name), describe(tableName())]);
  if (!haveSameKeys(source, live)) throw new UserError(`"${name}" is not a copy of the live table: its keys differ.`);
  const { RestoreInProgress: isInProgress, RestoreDateTime: restored } = source.RestoreSummary ?? {};
  if (isInProgress || source.TableStatus !== 'ACTIVE') {
    throw new UserError(`AWS is still restoring "${name}". Wait: aws dynamodb wait table-exists --table-name ${name}`);
  }
  const time = taken ?? (restored && sortableTime(restored.getTime()));
  if (time !== undefined && Date.parse(`${time.slice(0, 23).replace('Z', '')}Z`) < now() - BACKUP_DAYS * DAY_MS) {
    throw new UserError(
      `The data of "${name}" is of ${time.slice(0, 10)}. Deletions are known for ${inDays(DELETION_MEMORY_DAYS)}, so what was erased before would come back. Restore the table to a time in the last ${inDays(BACKUP_DAYS)}.`,
    );
  }
  return { name, items: Math.max(source.ItemCount ?? 0, live.ItemCount ?? 0), isRestored: time !== undefined };
};

const describe = async (name: string): Promise<TableDescription> => {
  try {
    const { Table = {} } = await documents.send(new DescribeTableCommand({ TableName: name }));
    return Table;
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error;
    throw new UserError(`There is no table "${name}" in this AWS account and region.`);
  }
};

const haveSameKeys = (one: TableDescription, other: TableDescription): boolean =>
  namesOfKeys(one).length > 0 && namesOfKeys(one).join(' ') === namesOfKeys(other).join(' ');

const namesOfKeys = ({ KeySchema = [] }: TableDescription): string[] =>
  KeySchema.map(({ AttributeName, KeyType }) => `${AttributeName} ${KeyType}`);
