/** Batches of messages in a restored table: their chunks and their progress come back with them. */
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { batchOf, chunksOf, isChunkKey, progressKey } from '../../../shared/campaigns/entities.ts';
import { tableName } from '../../../shared/core/settings.ts';
import { documents } from '../../../shared/table/client.ts';
import type { AnyItem } from '../../../shared/table/entity.ts';
import { putIfAbsentWrite, transact } from '../../../shared/table/transactions.ts';
import { beginningOf, removalOf } from './item-kinds.ts';
import { itemsAt, nameOf, type Position, patiently } from './tables.ts';

/**
 * Puts the chunks and the progress of a batch. The caller puts the batch itself afterwards: from then on, the recipients in
 * the chunks become messages. No transaction checks the deletion markers of up to 250 recipients. If a user is erased at
 * the same moment, the pass over pending batches, which begins two minutes later or more, finds the batch.
 */
export const putParts = async (source: string, batch: AnyItem): Promise<void> => {
  const { account, batch: id } = batchOf(batch);
  const progress = await itemsAt(source, [progressKey(account, id)]);
  for (const part of [...(await chunksIn(source, String(batch.upload))), ...progress.values()]) {
    const item = await withoutErased(source, part);
    await patiently(() => transact([putIfAbsentWrite(item)]));
  }
};

const chunksIn = async (table: string, upload: string): Promise<AnyItem[]> => {
  const found: AnyItem[] = [];
  let start: Position | undefined;
  do {
    const command = new QueryCommand({
      TableName: table,
      KeyConditionExpression: 'pk = :chunks',
      ExpressionAttributeValues: { ':chunks': chunksOf(upload) },
      ConsistentRead: true,
      ...(start && { ExclusiveStartKey: start }),
    });
    const { Items = [], LastEvaluatedKey } = await patiently(() => documents.send(command));
    found.push(...(Items as AnyItem[]));
    start = LastEvaluatedKey;
  } while (start);
  return found;
};

/** A chunk without the recipients who were erased since, as an erasure leaves it. Other items are returned unchanged. */
export const withoutErased = async (source: string, item: AnyItem): Promise<AnyItem> => {
  if (!isChunkKey(item) || !Array.isArray(item.to)) return item;
  const to = item.to.map(String);
  const erased = await erasedAmong(source, to, beginningOf(item));
  if (erased.size === 0) return item;
  const blanked = (list: unknown[]): unknown[] => list.map((one, index) => (erased.has(to[index] ?? '') ? '' : one));
  return { ...item, to: blanked(to), ...(Array.isArray(item.contents) && { contents: blanked(item.contents) }) };
};

/** The numbers whose users were erased after `since`, by the deletion markers of both tables. */
const erasedAmong = async (source: string, phones: string[], since: string): Promise<Set<string>> => {
  const subjects = phones.filter((phone) => phone !== '').map((phone) => ({ phone, ...removalOf(phone) }));
  const keys = subjects.map(({ marker }) => marker);
  const found = await Promise.all([tableName(), source].map((table) => itemsAt(table, keys)));
  const erased = subjects.filter(({ marker, endOf }) =>
    found.some((each) => {
      const removal = each.get(nameOf(marker));
      return removal !== undefined && since <= endOf(String(removal.deleted));
    }),
  );
  return new Set(erased.map(({ phone }) => phone));
};
