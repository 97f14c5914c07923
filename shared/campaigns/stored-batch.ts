/** Batches in the table. */
import { now, scaled, sortableTime, timestamp } from '../core/clock.ts';
import { nextOpening, type SendingHours } from '../core/sending-hours.ts';
import { getConsistent, pages, removeAll, update } from '../table/client.ts';
import { dueOrder, type Key } from '../table/keys.ts';
import { putIfAbsentWrite, type Write } from '../table/transactions.ts';
import { log } from '../telemetry/log.ts';
import { type Batch, type BatchContent, type BatchItem, type Chunk, type Progress, priorities } from './batch.ts';
import { chunkAt } from './chunks.ts';
import {
  batchKey,
  batchOf,
  chunkKey,
  chunksOf,
  endingBatches,
  ofEndingBatch,
  ofPendingBatch,
  progressKey,
} from './entities.ts';
import { positionOf } from './ids.ts';

/** A batch, by a consistent read; undefined if there is none, or it has expired. 1 read unit for 4 KB. */
export const readBatch = (account: string, id: string): Promise<BatchItem | undefined> =>
  getConsistent<BatchItem>(batchKey(account, id));

/** How far a batch has been expanded. 1 read unit. */
export const readProgress = async ({ account, id }: Pick<Batch, 'account' | 'id'>): Promise<Progress> =>
  (await getConsistent<Progress>(progressKey(account, id))) ?? { done: 0 };

/** Milliseconds of ends that are handled together. A batch may have 1,000 different ones, and each look reads its chunks. */
const TOGETHER_MS = 10_000;
/** Batches that are looked at in one call. */
const LOOKED_AT = 10;

/** Where a batch is in the index from its first end on, which is in the form of `sortableTime`. */
const placeOfEnd = ({ account, id }: Pick<Batch, 'account' | 'id'>, first: string) => {
  const together = scaled(TOGETHER_MS);
  return ofEndingBatch(account, { id, time: sortableTime(Math.ceil(Date.parse(first) / together) * together) });
};

/** The first end of messages with these contents, in the form of `sortableTime`; undefined if none ends. */
export const firstEndOf = (contents: (BatchContent | undefined)[]): string | undefined =>
  contents.flatMap((content) => content?.valid_until ?? []).toSorted()[0];

/** Writes the progress of a new batch with messages that end, so that it is found at the first end. */
export const firstEndWrites = (batch: BatchItem, first: string | undefined): Write[] =>
  first === undefined
    ? []
    : [
        putIfAbsentWrite({
          ...progressKey(batch.account, batch.id),
          done: 0,
          expires_at: batch.expires_at,
          ...placeOfEnd(batch, first),
        }),
      ];

/** Sets the next end of a batch, unless another worker did. 1 write unit, and 1 or 2 on the index. */
export const setNextEnd = async (
  batch: Pick<Batch, 'account' | 'id'>,
  present: string,
  next: string | undefined,
): Promise<void> => {
  await update({
    Key: progressKey(batch.account, batch.id),
    UpdateExpression: next === undefined ? 'REMOVE gsi3pk, gsi3sk' : 'SET gsi3sk = :next',
    ConditionExpression: 'gsi3sk = :present',
    ExpressionAttributeValues: {
      ':present': present,
      ...(next !== undefined && { ':next': placeOfEnd(batch, next).gsi3sk }),
    },
  });
};

/** Milliseconds until a step that has failed twice is repeated, and at most. */
const RETRY_MS = { first: 60_000, max: 3_600_000 };

/**
 * Records that a step of a batch failed. From the second failure of a step on, the batch is not due for a minute, for two
 * after the next one, and so on up to an hour, so that other batches of the account continue. Returns whether they can. 1
 * read unit, 1 write unit, and 3 on the indexes from the second failure on.
 */
export const recordFailedStep = async (batch: BatchItem): Promise<boolean> => {
  const { account, id, priority } = batch;
  const [present, { done }] = await Promise.all([readBatch(account, id), readProgress(batch)]);
  if (present === undefined || present.expanded !== undefined) return true;
  const times = present.failed?.done === done ? present.failed.times + 1 : 1;
  const postpones = times > 1;
  const retry_at = sortableTime(now() + scaled(Math.min(RETRY_MS.first * 2 ** (times - 2), RETRY_MS.max)));
  await update({
    Key: batchKey(account, id),
    UpdateExpression: `SET failed = :failed${postpones ? ', retry_at = :at, gsi1sk = :due, gsi3sk = :pending' : ''}`,
    ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(expanded)',
    ExpressionAttributeValues: {
      ':failed': { times, done },
      ...(postpones && {
        ':at': retry_at,
        ':due': dueOrder(account, retry_at),
        ':pending': ofPendingBatch(account, { id, rank: priorities.indexOf(priority), due: retry_at }).gsi3sk,
      }),
    },
  });
  return postpones;
};

/**
 * Has a batch wait for its sending hours, if they have not begun. It still ends early in the meantime. 1 write unit, and 2 on
 * the indexes.
 *
 * @returns whether it waits
 */
export const awaitHours = async ({ account, id, priority, hours }: BatchItem): Promise<boolean> => {
  const present = now();
  const opening = hours === undefined ? present : nextOpening(hours, '', present);
  if (opening === present) return false;
  const due = sortableTime(opening);
  await update({
    Key: batchKey(account, id),
    UpdateExpression: 'SET due = :time, gsi1sk = :due, gsi3sk = :pending REMOVE retry_at',
    ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(expanded)',
    ExpressionAttributeValues: {
      ':time': due,
      ':due': dueOrder(account, due),
      ':pending': ofPendingBatch(account, { id, rank: priorities.indexOf(priority), due }).gsi3sk,
    },
  });
  log('info', 'batch outside sending hours', { account, batch_id: id, until: due });
  return true;
};

/** Whether a batch waits for the repeat of a failed step. */
export const isPostponed = ({ retry_at = '' }: BatchItem): boolean => retry_at > sortableTime(now());

/** A batch with messages that have ended before they exist. */
export interface EndingBatch {
  batch: BatchItem;
  progress: Progress;
  /** Its present place in the index. */
  end: string;
}

/** The batch of an account whose messages ended first; undefined if none did. 0.5 read units, and 2 for a batch. */
export const nextEndingBatch = async (account: string): Promise<EndingBatch | undefined> => {
  const time = sortableTime(now());
  for await (const keys of pages<Key>({ ...endingBatches(account, time), Limit: LOOKED_AT })) {
    for (const key of keys) {
      const { batch: id } = batchOf(key);
      const [batch, progress] = await Promise.all([readBatch(account, id), readProgress({ account, id })]);
      const { gsi3sk: end } = progress;
      // The index may be behind.
      if (end === undefined || end > `${time}~`) continue;
      if (batch !== undefined && batch.expanded === undefined) {
        if (isPostponed(batch)) continue;
        return { batch, progress, end };
      }
      await setNextEnd({ account, id }, end, undefined);
    }
  }
  return undefined;
};

/** A message that does not exist yet. */
export interface ScheduledMessage {
  phone: string;
  job_id: string;
  payload_type: string;
  reference?: string | undefined;
  /** When its batch was accepted. */
  created: string;
  /** When its batch begins, in the form of `sortableTime`. */
  due: string;
  hours: SendingHours | undefined;
}

/**
 * The message with this id, if it belongs to a pending batch of the account; undefined otherwise. 1 read unit, and 1 for 4
 * KB of its chunk.
 */
export const findScheduled = async (account: string, message: string): Promise<ScheduledMessage | undefined> => {
  const { batch: id, position = 0 } = positionOf(message) ?? {};
  const batch = id === undefined ? undefined : await readBatch(account, id);
  const first = batch && position < batch.recipients ? chunkAt(batch.chunks, position) : undefined;
  if (batch === undefined || first === undefined) return undefined;
  const chunk = await getConsistent<Chunk>(chunkKey(batch.upload, first));
  const phone = chunk?.to[position - first] ?? '';
  const content = chunk?.contents?.[position - first] ?? batch.content;
  if (phone === '' || content === undefined) return undefined;
  const { job_id, created, due } = batch;
  const { reference, hours } = content;
  return { phone, job_id, payload_type: content.type, reference, created, due, hours };
};

/** Removes all chunks of an upload. */
export const removeChunks = async (upload: string): Promise<void> => {
  for await (const keys of pages<Key>({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': chunksOf(upload) },
    ConsistentRead: true,
    ProjectionExpression: 'pk, sk',
  })) {
    await removeAll(keys);
  }
};

/** Removes the chunks of a batch of which nothing is left to expand, and its content. Then the batch is no longer pending. */
export const completeBatch = async ({ account, id, upload, job_id, created }: BatchItem): Promise<void> => {
  await removeChunks(upload);
  const completed = await update({
    Key: batchKey(account, id),
    UpdateExpression:
      'SET expanded = :now REMOVE content, failed, retry_at, gsi1pk, gsi1sk, gsi2pk, gsi2sk, gsi3pk, gsi3sk',
    ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(expanded)',
    ExpressionAttributeValues: { ':now': timestamp() },
  });
  const took = Math.max(now() - Date.parse(`${created}Z`), 0);
  if (completed) log('info', 'batch expanded', { account, batch_id: id, job_id, took_ms: took });
};
