/** The part of an erasure that concerns pending batches: their chunks contain the number before its messages exist. */
import { timestamp } from '../core/clock.ts';
import { lifetimeFrom, logItem, type Message } from '../messaging/message.ts';
import { stateItem } from '../messaging/states.ts';
import {
  afterChunksWith,
  batchesOfRecipient,
  batchOf,
  chunkBeginsWith,
  chunksOf,
  pendingBatches,
  progressKey,
  rankOf,
} from '../table/batch-keys.ts';
import { page, pages } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { putIfAbsentWrite, transact, updateWrite } from '../table/transactions.ts';
import type { BatchItem, Chunk } from './batch.ts';
import { messageIdAt } from './ids.ts';
import { readBatch } from './stored-batch.ts';

/** An erased user: the number, what replaces it, and the time up to which data belongs to the user. */
interface Erased {
  phone: string;
  pseudonym: string;
  until: string;
}

/** Why the messages of the user fail. */
const USER_ERASED = { reason_code: 'user_erased', reason: 'user_erased' } as const;

/**
 * Removes an erased user from all pending batches. The messages that do not exist yet are logged as failed, under the
 * pseudonym. 1 read unit for each pending batch, and 1 for 4 KB of the chunk that may contain the number.
 *
 * @returns the number of messages that were dropped
 */
export const dropRecipient = async (erased: Erased): Promise<number> => {
  let dropped = 0;
  for await (const key of pendingBatchesFor(erased.phone)) {
    const { account, batch: id } = batchOf(key);
    const batch = await readBatch(account, id);
    if (batch !== undefined && batch.created <= erased.until) dropped += await dropFromBatch(batch, erased);
  }
  return dropped;
};

/** The keys of the pending batches that may have a recipient: those of several users, and those of the recipient alone. */
async function* pendingBatchesFor(phone: string): AsyncGenerator<Key> {
  for (const partition of [pendingBatches, batchesOfRecipient(phone)]) {
    for await (const keys of pages<Key>({
      IndexName: 'gsi2',
      KeyConditionExpression: 'gsi2pk = :batches',
      ExpressionAttributeValues: { ':batches': partition },
      ProjectionExpression: 'pk, sk',
    })) {
      yield* keys;
    }
  }
}

const dropFromBatch = async (batch: BatchItem, erased: Erased): Promise<number> => {
  let dropped = 0;
  for (const chunk of await chunksWith(batch.upload, erased.phone)) {
    for (const [place, to] of chunk.to.entries()) {
      if (to === erased.phone && (await dropAt(batch, chunk, place, erased))) dropped += 1;
    }
  }
  return dropped;
};

/** The chunks that may contain a number: those that begin with its rank, and the one before. */
const chunksWith = async (upload: string, phone: string): Promise<Chunk[]> => {
  const rank = rankOf(phone);
  const found: Chunk[] = [];
  for (let start: Key | undefined; ; ) {
    const { items, next } = await page<Chunk>({
      KeyConditionExpression: 'pk = :chunks AND sk < :after',
      ExpressionAttributeValues: { ':chunks': chunksOf(upload), ':after': afterChunksWith(rank) },
      ConsistentRead: true,
      ScanIndexForward: false,
      Limit: 1,
      ...(start !== undefined && { ExclusiveStartKey: start }),
    });
    found.push(...items);
    const [last] = items;
    if (next === undefined || last === undefined || !chunkBeginsWith(last, rank)) return found;
    start = { pk: last.pk, sk: last.sk };
  }
};

/**
 * Removes the number at a place of a chunk. If its message does not exist yet, the message is logged as failed, and
 * expansion leaves out its position.
 *
 * @returns whether the message was logged
 */
const dropAt = async (
  batch: BatchItem,
  chunk: Chunk,
  place: number,
  { phone, pseudonym }: Erased,
): Promise<boolean> => {
  const position = chunk.position + place;
  const created = timestamp();
  const message: Message = {
    id: messageIdAt(batch.id, position),
    account: batch.account,
    phone: pseudonym,
    job_id: batch.job_id,
    payload_type: (chunk.contents?.[place] ?? batch.content)?.type ?? '',
    ...lifetimeFrom(created),
  };
  const removal = updateWrite({
    Key: { pk: chunk.pk, sk: chunk.sk },
    UpdateExpression: `SET #to[${place}] = :none${chunk.contents === undefined ? '' : `, contents[${place}] = :none`}`,
    ConditionExpression: `#to[${place}] = :phone`,
    ExpressionAttributeNames: { '#to': 'to' },
    ExpressionAttributeValues: { ':none': '', ':phone': phone },
  });
  const failed = await transact([
    removal,
    updateWrite({
      Key: progressKey(batch.account, batch.id),
      UpdateExpression: 'ADD ended :position SET done = if_not_exists(done, :zero), expires_at = :end',
      ExpressionAttributeValues: { ':position': new Set([position]), ':zero': 0, ':end': batch.expires_at },
    }),
    putIfAbsentWrite(logItem(message, 'sent', created)),
    putIfAbsentWrite(stateItem({ message, state: 'sending_failed', created: timestamp(), ...USER_ERASED })),
  ]);
  if (failed.length === 0) return true;
  // The message exists already: the rest of the erasure finds it.
  if (!failed.includes(0)) await transact([removal]);
  return false;
};
