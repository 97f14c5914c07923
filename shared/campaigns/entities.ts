/** The rows about batches: requests with many messages, whose chunks have the recipients. */
import { crc32 } from 'node:zlib';
import type { Entity } from '../table/entity.ts';
import { after, type Key, key } from '../table/keys.ts';

const UPLOAD = 'UPLOAD#';

/** Chunks that are written for a batch, until the batch is accepted. */
export const uploadKey = (upload: string): Key => key(`${UPLOAD}${upload}`, 'UPLOAD');

/** Whether a key is that of an upload. */
export const isUploadKey = ({ pk }: Pick<Key, 'pk'>): boolean => pk.startsWith(UPLOAD);

/** The id of an upload, by its key. */
export const uploadIdOf = (upload: Pick<Key, 'pk'>): string => after(UPLOAD, upload);

const CHUNKS = 'CHUNKS#';

/** The partition of an upload's chunks. */
export const chunksOf = (upload: string): string => `${CHUNKS}${upload}`;

/** Whether a key is that of a chunk. */
export const isChunkKey = ({ pk }: Pick<Key, 'pk'>): boolean => pk.startsWith(CHUNKS);

/** A chunk, by the position of its first message. The key contains no number: keys cannot change when a user is erased. */
export const chunkKey = (upload: string, position: number): Key =>
  key(chunksOf(upload), String(position).padStart(5, '0'));

const BATCH = 'BATCH#';

const BATCH_ITEM = 'BATCH';
const PROGRESS = 'PROGRESS';

/** A batch of messages. */
export const batchKey = (account: string, batch: string): Key => key(`${BATCH}${account}#${batch}`, BATCH_ITEM);

/** How far a batch has been expanded. */
export const progressKey = (account: string, batch: string): Key => key(batchKey(account, batch).pk, PROGRESS);

/** Whether a key is that of a batch. */
export const isBatchKey = ({ pk }: Pick<Key, 'pk'>): boolean => pk.startsWith(BATCH);

/** The account and the id of a batch, by its key. */
export const batchOf = (batch: Pick<Key, 'pk'>): { account: string; batch: string } => {
  const [account = '', id = ''] = after(BATCH, batch).split('#');
  return { account, batch: id };
};

const EXPANSION = 'EXPANSION#';

/** The expansion of an account's batches. */
export const expansionKey = (account: string): Key => key(`${EXPANSION}${account}`, 'EXPANSION');

const PENDING = 'PENDING#';

/** The index partition of an account's pending batches. */
export const pendingBatchesOf = (account: string): string => `${PENDING}${account}`;

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

const ERASURE_PASS = 'ERASURE_PASS';
const PASS = 'PASS';

/** The pass over these partitions that removes recipients, while it is not complete. */
export const erasurePassKey: Key = key(ERASURE_PASS, PASS);

/** Index attributes of a pending batch: an account's batches by priority and time, and all batches. */
export const ofPendingBatch = (account: string, { id, rank, due }: { id: string; rank: number; due: string }) => ({
  gsi2pk: `${BATCHES}${crc32(id) % BATCH_PARTITIONS}`,
  gsi2sk: `${due}#${id}`,
  gsi3pk: pendingBatchesOf(account),
  gsi3sk: `${rank}#${due}#${id}`,
});

/** The range of sort keys of pending batches with this rank that are due at a time. */
export const pendingBatchRange = (rank: number, time: string) => ({ from: `${rank}#`, to: `${rank}#${time}~` });

const ENDING = 'ENDING#';

/** The index partition of an account's batches with messages that end before they exist. */
const endingBatchesOf = (account: string): string => `${ENDING}${account}`;

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

const batch = {
  name: 'batch of messages',
  pk: BATCH,
  sk: BATCH_ITEM,
  account: (item) => batchOf(item).account,
  restore: 'outbox',
  expires: true,
  // Its content goes with the last recipient.
  person: { erasure: 'removed', exported: { not: 'the messages do not exist yet' } },
  access: {
    putBatch: 'PutItem',
    findBatch: 'GetItem',
    findBatches: 'BatchGetItem',
    updateBatch: 'UpdateItem',
    listPendingBatches: { index: 'gsi3', partition: PENDING },
    listEndingBatches: { index: 'gsi3', partition: ENDING },
    listAllBatches: { index: 'gsi2', partition: BATCHES },
  },
} as const satisfies Entity;

const progress = {
  name: 'progress of a batch',
  pk: BATCH,
  sk: PROGRESS,
  account: (item) => batchOf(item).account,
  restore: 'batch',
  expires: true,
  person: 'none',
  access: {},
} as const satisfies Entity;

const chunk = {
  name: 'chunk of a batch',
  pk: CHUNKS,
  sk: '',
  restore: 'batch',
  expires: true,
  person: { erasure: 'removed', exported: { not: 'the messages do not exist yet' } },
  access: { writeChunks: 'BatchWriteItem', findChunk: 'GetItem', listChunks: 'Query', updateChunk: 'UpdateItem' },
} as const satisfies Entity;

const upload = {
  name: 'upload of chunks',
  pk: UPLOAD,
  sk: 'UPLOAD',
  restore: 'never',
  expires: false,
  person: 'none',
  access: { putUpload: 'PutItem', removeUpload: 'DeleteItem', abandonUpload: 'UpdateItem' },
} as const satisfies Entity;

const expansion = {
  name: 'expansion of batches',
  pk: EXPANSION,
  sk: 'EXPANSION',
  account: ({ pk }) => pk.slice(EXPANSION.length),
  restore: 'never',
  expires: true,
  person: 'none',
  access: { findExpansion: 'GetItem', updateExpansion: 'UpdateItem' },
} as const satisfies Entity;

const erasurePass = {
  name: 'pass over pending batches',
  pk: ERASURE_PASS,
  sk: PASS,
  restore: 'never',
  expires: false,
  person: 'none',
  access: {
    findErasurePass: 'GetItem',
    beginErasurePass: 'PutItem',
    continueErasurePass: 'UpdateItem',
    endErasurePass: 'DeleteItem',
  },
} as const satisfies Entity;

export const campaignEntities = [batch, progress, chunk, upload, expansion, erasurePass] as const;
