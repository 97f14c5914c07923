/** The rows of campaigns. */
import { after, type Key, key } from '../table/keys.ts';

const UPLOAD = 'UPLOAD#';

/** Chunks that are written for a batch, until the batch is accepted. */
export const uploadKey = (upload: string): Key => key(`${UPLOAD}${upload}`, 'UPLOAD');

/** Whether a key is that of an upload. */
export const isUploadKey = ({ pk }: Pick<Key, 'pk'>): boolean => pk.startsWith(UPLOAD);

/** The id of an upload, by its key. */
export const uploadIdOf = (upload: Pick<Key, 'pk'>): string => after(UPLOAD, upload);

/** The partition of an upload's chunks. */
export const chunksOf = (upload: string): string => `CHUNKS#${upload}`;

/** Whether a key is that of a chunk. */
export const isChunkKey = ({ pk }: Pick<Key, 'pk'>): boolean => pk.startsWith(chunksOf(''));

/** A chunk, by the position of its first message. The key contains no number: keys cannot change when a user is erased. */
export const chunkKey = (upload: string, position: number): Key =>
  key(chunksOf(upload), String(position).padStart(5, '0'));

const BATCH = 'BATCH#';

const BATCH_ITEM = 'BATCH';

/** A batch of messages. */
export const batchKey = (account: string, batch: string): Key => key(`${BATCH}${account}#${batch}`, BATCH_ITEM);

/** How far a batch has been expanded. */
export const progressKey = (account: string, batch: string): Key => key(batchKey(account, batch).pk, 'PROGRESS');

/** Whether a key is that of a batch. */
export const isBatchKey = ({ pk }: Pick<Key, 'pk'>): boolean => pk.startsWith(BATCH);

/** The account and the id of a batch, by its key. */
export const batchOf = (batch: Pick<Key, 'pk'>): { account: string; batch: string } => {
  const [account = '', id = ''] = after(BATCH, batch).split('#');
  return { account, batch: id };
};

/** The expansion of an account's batches. */
export const expansionKey = (account: string): Key => key(`EXPANSION#${account}`, 'EXPANSION');

/** The index partition of an account's pending batches. */
export const pendingBatchesOf = (account: string): string => `PENDING#${account}`;

const BATCHES = 'BATCHES#';

/**
 * Number of index partitions of all pending batches: a partition accepts about 1,000 writes per second, as many as ten
 * accounts at the default limit need to schedule messages.
 */
const BATCH_PARTITIONS = 16;

/** The index partitions of the pending batches of all accounts, in which erasures remove recipients. */
export const pendingBatchPartitions: readonly string[] = Array.from(
  { length: BATCH_PARTITIONS },
  (_, shard) => `${BATCHES}${shard}`,
);

/** The pattern for these partitions, for access rights. */
export const anyPendingBatches = `${BATCHES}*`;

/** The pass over these partitions that removes recipients, while it is not complete. */
export const erasurePassKey: Key = key('ERASURE_PASS', 'PASS');

/** Index attributes of a pending batch: an account's batches by priority and time, and all batches. */
export const ofPendingBatch = (account: string, { id, rank, due }: { id: string; rank: number; due: string }) => ({
  gsi2pk: `${BATCHES}${crc32(id) % BATCH_PARTITIONS}`,
  gsi2sk: `${due}#${id}`,
  gsi3pk: pendingBatchesOf(account),
  gsi3sk: `${rank}#${due}#${id}`,
});

/** The range of sort keys of pending batches with this rank that are due at a time. */
export const pendingBatchRange = (rank: number, time: string) => ({ from: `${rank}#`, to: `${rank}#${time}~` });

/** The index partition of an account's batches with messages that end before they exist. */
export const endingBatchesOf = (account: string): string => `ENDING#${account}`;

/** Index attributes of a batch's progress: when the first of its messages ends. Batches of an account, the first end first. */
export const ofEndingBatch = (account: string, { id, time }: { id: string; time: string }) => ({
  gsi3pk: endingBatchesOf(account),
  gsi3sk: `${time}#${id}`,
});

/** The query for an account's batches with messages that have ended at a time. */
export const endingBatches = (account: string, time: string) => ({
  IndexName: 'gsi3' as const,
  KeyConditionExpression: 'gsi3pk = :ending AND gsi3sk <= :time',
  ExpressionAttributeValues: { ':ending': endingBatchesOf(account), ':time': `${time}~` },
  ProjectionExpression: 'pk, sk',
});

/** The pattern for the partitions of batches, for access rights. */
export const anyBatch = `${BATCH}*`;
