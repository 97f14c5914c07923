/**
 * Erasure in pending batches, whose chunks contain numbers before the messages exist. Nothing finds the chunks with a
 * number, so one pass over all pending batches removes all marked numbers together. Each run continues where the previous one
 * ended; a number that is marked during a pass is part of the next one. Meanwhile, `expand` respects the mark.
 *
 * Each batch costs the same for each account: 1 read unit, and 1 for 4 KB of its chunks.
 */
import { timestamp } from '../core/clock.ts';
import { newId } from '../core/ids.ts';
import { inParallel } from '../core/parallel.ts';
import { type ErasedIdentity, endErasure, latestMark, type Marked, markedUpTo } from '../messaging/erased-identity.ts';
import { lifetimeFrom, logItem, type Message } from '../outbox/message.ts';
import { stateItem } from '../outbox/states.ts';
import { getConsistent, getManyConsistent, page, pages, putIfAbsent, remove, update } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { putIfAbsentWrite, transact, updateWrite, type Write } from '../table/transactions.ts';
import { describeError, log } from '../telemetry/log.ts';
import type { BatchItem, Chunk } from './batch.ts';
import { chunksOf, erasurePassKey, pendingBatchPartitions, progressKey } from './entities.ts';
import { messageIdAt } from './ids.ts';
import { completeBatch } from './stored-batch.ts';

/** A pass over all pending batches, while it is not complete. */
interface Pass extends Key {
  id: string;
  /** The latest mark that it includes. */
  marks: string;
  /** Where it continues: the index partition of pending batches, and the last batch that was read there. */
  partition: number;
  after?: Record<string, unknown>;
  /** Set if a batch failed: the marks stay for the next pass. */
  failed?: true;
}

/** Batches that are read at a time, and that are handled at the same time. */
const READ = { page: 100, together: 16 };
/** Marks that are ended at the same time. */
const TOGETHER = 16;

/** Numbers of what a run of the pass has read, logged as failed and completed. */
export interface ErasedFromBatches {
  batches: number;
  messages: number;
  erasures: number;
  failed: number;
}

/**
 * Continues the pass that removes marked numbers from pending batches, and begins the next one, as long as there are marks
 * and time.
 *
 * @param isOver - returns whether the next run must continue
 */
export const eraseFromBatches = async (isOver: () => boolean): Promise<ErasedFromBatches> => {
  const done: ErasedFromBatches = { batches: 0, messages: 0, erasures: 0, failed: 0 };
  while (!isOver()) {
    const pass = (await getConsistent<Pass>(erasurePassKey)) ?? (await beginPass());
    if (pass === undefined || !(await continuePass(pass, isOver, done))) return done;
  }
  return done;
};

const beginPass = async (): Promise<Pass | undefined> => {
  const marks = await latestMark();
  if (marks === undefined) return undefined;
  const pass: Pass = { ...erasurePassKey, id: newId(), marks, partition: 0 };
  return (await putIfAbsent(pass)) ?? pass;
};

/** Returns whether the pass is complete. */
const continuePass = async (pass: Pass, isOver: () => boolean, done: ErasedFromBatches): Promise<boolean> => {
  const marked = new Map((await markedUpTo(pass.marks)).map((one) => [one.phone, one]));
  const failedBefore = done.failed;
  for (let { partition, after } = pass; marked.size > 0 && partition < pendingBatchPartitions.length; ) {
    const { items, next } = await page<Key>({
      IndexName: 'gsi2',
      KeyConditionExpression: 'gsi2pk = :batches',
      ExpressionAttributeValues: { ':batches': pendingBatchPartitions[partition] },
      ProjectionExpression: 'pk, sk',
      Limit: READ.page,
      ...(after && { ExclusiveStartKey: after }),
    });
    if (!(await eraseFromAll(items, marked, isOver, done))) return false;
    partition += next === undefined ? 1 : 0;
    after = next;
    const failed = done.failed > failedBefore;
    const isStored = await update({
      Key: erasurePassKey,
      UpdateExpression: `SET #partition = :partition${failed ? ', failed = :true' : ''}${after ? ', #after = :after' : ' REMOVE #after'}`,
      ConditionExpression: 'id = :id',
      ExpressionAttributeNames: { '#partition': 'partition', '#after': 'after' },
      ExpressionAttributeValues: {
        ':id': pass.id,
        ':partition': partition,
        ...(failed && { ':true': true }),
        ...(after && { ':after': after }),
      },
    });
    // Another run has completed the pass.
    if (!isStored) return false;
  }
  const hasFailed = pass.failed === true || done.failed > failedBefore;
  if (!hasFailed) {
    await inParallel([...marked.values()], TOGETHER, ({ mark }) => endErasure(mark));
    done.erasures += marked.size;
  }
  await remove(erasurePassKey, { ConditionExpression: 'id = :id', ExpressionAttributeValues: { ':id': pass.id } });
  // What failed is for the next minute.
  return !hasFailed;
};

/** Returns whether all of these batches were handled. One that fails does not stop the others. */
const eraseFromAll = async (
  keys: Key[],
  marked: ReadonlyMap<string, Marked>,
  isOver: () => boolean,
  done: ErasedFromBatches,
): Promise<boolean> => {
  const latest =
    [...marked.values()]
      .map(({ until }) => until)
      .toSorted()
      .at(-1) ?? '';
  const batches = (await getManyConsistent<BatchItem[]>(keys)).filter((batch) => batch !== undefined);
  let isComplete = true;
  await inParallel(batches, READ.together, async (batch) => {
    if (batch.expanded !== undefined || batch.created > latest) return;
    try {
      if (!isOver() && (await eraseFrom(batch, marked, isOver, done))) done.batches += 1;
      else isComplete = false;
    } catch (error) {
      log('error', 'recipients not erased', { account: batch.account, batch_id: batch.id, ...describeError(error) });
      done.failed += 1;
    }
  });
  return isComplete;
};

/**
 * Removes marked numbers from the chunks of a batch. A batch without any other recipient is complete then, so that its
 * content is removed, too: also a batch without chunks, because a run that ended has removed them. Returns whether all chunks
 * were read.
 */
const eraseFrom = async (
  batch: BatchItem,
  marked: ReadonlyMap<string, Marked>,
  isOver: () => boolean,
  done: ErasedFromBatches,
): Promise<boolean> => {
  let others = 0;
  for await (const chunks of pages<Pick<Chunk, 'pk' | 'sk' | 'to'>>({
    KeyConditionExpression: 'pk = :chunks',
    ExpressionAttributeNames: { '#to': 'to' },
    ExpressionAttributeValues: { ':chunks': chunksOf(batch.upload) },
    // Without the contents, which are most of a chunk.
    ProjectionExpression: 'pk, sk, #to',
    ConsistentRead: true,
  })) {
    for (const chunk of chunks) {
      for (const [place, to] of chunk.to.entries()) {
        const whom = marked.get(to);
        const isTheirs = whom !== undefined && batch.created <= whom.until;
        if (isTheirs) {
          if (isOver()) return false;
          if (await eraseAt(batch, chunk, place, whom)) done.messages += 1;
        }
        if (!isTheirs && to !== '') others += 1;
      }
    }
  }
  if (others === 0) await completeBatch(batch);
  return true;
};

/**
 * Removes the number at a place of a chunk. If its message does not exist yet, the message is logged as failed, and
 * expansion leaves out its position.
 *
 * @returns whether the message was logged
 */
const eraseAt = async (
  batch: BatchItem,
  key: Key,
  place: number,
  { phone, pseudonym }: ErasedIdentity,
): Promise<boolean> => {
  const chunk = await getConsistent<Chunk>({ pk: key.pk, sk: key.sk });
  // Its messages exist by now.
  if (chunk === undefined) return false;
  const position = chunk.position + place;
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
    ...failureWrites(batch, {
      position,
      type: (chunk.contents?.[place] ?? batch.content)?.type ?? '',
      pseudonym,
    }),
  ]);
  if (failed.length === 0) return true;
  // The message exists already: the erasure has found it.
  if (!failed.includes(0)) await transact([removal]);
  return false;
};

/** A message to an erased user that does not exist yet. */
interface ErasedMessage {
  position: number;
  type: string;
  pseudonym: string;
}

/** Logs a message to an erased user as failed, under the pseudonym, unless it exists already. 4 write units. */
export const logErased = async (batch: BatchItem, message: ErasedMessage): Promise<void> => {
  await transact(failureWrites(batch, message));
};

const failureWrites = (batch: BatchItem, { position, type, pseudonym }: ErasedMessage): Write[] => {
  const created = timestamp();
  const message: Message = {
    id: messageIdAt(batch.id, position),
    account: batch.account,
    phone: pseudonym,
    job_id: batch.job_id,
    payload_type: type,
    ...lifetimeFrom(created),
  };
  const reason = { reason_code: 'user_erased', reason: 'user_erased' } as const;
  return [
    putIfAbsentWrite(logItem(message, 'sent', created)),
    putIfAbsentWrite(stateItem({ message, state: 'sending_failed', created: timestamp(), ...reason })),
  ];
};
