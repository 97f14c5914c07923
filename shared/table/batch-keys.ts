/**
 * The keys of batches, which are requests with many messages and have chunks with recipients; of jobs; and of the results
 * of profilers.
 */
import { keyedHash } from '../core/keyed-hashes.ts';
import type { Key } from './keys.ts';

const key = (pk: string, sk: string): Key => ({ pk, sk });

/** A partition key without its prefix. */
const after = (prefix: string, { pk }: Pick<Key, 'pk'>): string => pk.slice(prefix.length);

const UPLOAD = 'UPLOAD#';

/** Chunks that are written for a batch, until the batch is accepted. */
export const uploadKey = (upload: string): Key => key(`${UPLOAD}${upload}`, 'UPLOAD');

/** Whether a key is that of an upload. */
export const isUploadKey = ({ pk }: Pick<Key, 'pk'>): boolean => pk.startsWith(UPLOAD);

/** The id of an upload, by its key. */
export const uploadIdOf = (upload: Pick<Key, 'pk'>): string => after(UPLOAD, upload);

/** The partition of an upload's chunks. */
export const chunksOf = (upload: string): string => `CHUNKS#${upload}`;

/**
 * The place of a number in the order of a batch: 24 bits of its keyed hash, which many numbers share. Keys of chunks contain
 * no number, because keys cannot change when a user is erased.
 */
export const rankOf = (phone: string): string => keyedHash('rank', phone).slice(0, 4);

/** Whether a key is that of a chunk. */
export const isChunkKey = ({ pk }: Pick<Key, 'pk'>): boolean => pk.startsWith(chunksOf(''));

/** A chunk, by the rank of its first number and the position of its first message in the batch. Sorted by both. */
export const chunkKey = (upload: string, rank: string, position: number): Key =>
  key(chunksOf(upload), `${rank}#${String(position).padStart(5, '0')}`);

/** The sort key after those of all chunks that may contain numbers of a rank. Such chunks begin with the rank or a lower one. */
export const afterChunksWith = (rank: string): string => `${rank}#~`;

/** Whether a chunk begins with a rank: the chunk before may contain numbers of the rank, too. */
export const chunkBeginsWith = ({ sk }: Key, rank: string): boolean => sk.startsWith(`${rank}#`);

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
  // Stryker disable next-line StringLiteral: It never happens; only the compiler asks for it.
  const [account = '', id = ''] = after(BATCH, batch).split('#');
  return { account, batch: id };
};

/** The expansion of an account's batches. */
export const expansionKey = (account: string): Key => key(`EXPANSION#${account}`, 'EXPANSION');

/** The index partition of an account's pending batches. */
export const pendingBatchesOf = (account: string): string => `PENDING#${account}`;

/** The index partition of all pending batches with several messages. */
export const pendingBatches = 'BATCHES';

/** The index partition of pending batches with one message, to this number. */
export const batchesOfRecipient = (phone: string): string => `RECIPIENT#${phone}`;

/**
 * Index attributes of a pending batch: an account's batches by priority and time, and all batches that may contain a
 * number, for erasure.
 *
 * @param recipient - the number, if the batch has one message
 */
export const ofPendingBatch = (
  account: string,
  { id, rank, due, recipient }: { id: string; rank: number; due: string; recipient: string | undefined },
) => ({
  gsi2pk: recipient === undefined ? pendingBatches : batchesOfRecipient(recipient),
  gsi2sk: `${due}#${id}`,
  gsi3pk: pendingBatchesOf(account),
  gsi3sk: `${rank}#${due}#${id}`,
});

/** When a pending batch is due, by its place in the index of an account's batches. */
export const dueOfPending = ({ gsi3sk }: { gsi3sk: string }): string => gsi3sk.split('#')[1] ?? '';

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

const JOB = 'JOB#';

/** A job that a request named. */
export const jobKey = (account: string, job: string): Key => key(`${JOB}${account}#${job}`, 'JOB');

/** Whether a key is that of a job. */
export const isJobKey = ({ pk }: Pick<Key, 'pk'>): boolean => pk.startsWith(JOB);

/** The account and the id of a job, by its key. */
export const jobNamed = (job: Pick<Key, 'pk'>): { account: string; job_id: string } => {
  // Stryker disable next-line StringLiteral: It never happens; only the compiler asks for it.
  const [account = '', job_id = ''] = after(JOB, job).split('#');
  return { account, job_id };
};

/** The index partition of an account's jobs. */
export const jobListOf = (account: string): string => `JOBS_OF#${account}`;

/** Index attributes of a job: they list an account's jobs, oldest first. */
export const ofJobList = (account: string, { created, job_id }: { created: string; job_id: string }) => ({
  gsi2pk: jobListOf(account),
  gsi2sk: `${created}#${job_id}`,
});

/** The index partition of an account's cancelled jobs with messages that may be pending, by the time of the next look. */
export const cancelledJobsOf = (account: string): string => `CANCELLED#${account}`;

/** The pattern for the partitions of jobs, for access rights. */
export const anyJob = `${JOB}*`;

const RESULTS = 'RESULTS#';
const OPTION = 'OPTION#';

/** The partition of a profiler's results: a counter for each option. */
export const resultsOf = (profiler: string): string => `${RESULTS}${profiler}`;

/** How many panelists have chosen an option: one shard of the counter. */
export const resultKey = (profiler: string, option: string, shard: number): Key =>
  key(resultsOf(profiler), `${OPTION}${option}#${shard}`);

/** The id of the option, by the key of its counter. */
// Stryker disable next-line StringLiteral: It never happens; only the compiler asks for it.
export const optionOfResult = ({ sk }: Key): string => sk.slice(OPTION.length).split('#', 1)[0] ?? '';

/** The id of the profiler, by the key of a counter. */
export const profilerOfResult = (result: Pick<Key, 'pk'>): string => after(RESULTS, result);
