/**
 * Cancelled jobs: their pending messages are found in the log, and their conversations are woken, to end them. The
 * messages of their batches that do not exist yet are logged as failed by `expand`.
 */
import { now, scaled, timestampOf } from '../core/clock.ts';
import { inParallel } from '../core/parallel.ts';
import { readJob } from '../jobs/job.ts';
import { type LogItem, outcomeKeys } from '../messaging/message.ts';
import { jobNamed } from '../table/batch-keys.ts';
import { getManyEventual, pages, update } from '../table/client.ts';
import { conversationName, type Key, logPartitions, messageIdOf } from '../table/keys.ts';
import { type WakeUp, wake } from '../wake-ups/conversations.ts';
import { wakeExpansions } from '../wake-ups/expansions.ts';
import { endNow, pendingBatchesOfJob } from './stored-batch.ts';

/** A message of the job, in the index. */
type Listed = Key & Pick<LogItem, 'phone' | 'gsi3sk'>;

/** Milliseconds before the first pending message from which the next run looks: a slow request may log an older one. */
const OVERLAP_MS = 60_000;
/** Messages whose outcomes are read in one call, with three keys each, and calls at the same time. */
const READ = { messages: 33, calls: 4 };
/**
 * Milliseconds for which a cancelled job is looked at, also if nothing is pending: a request that began before may still
 * be accepting a message, and the index may lack it for a moment.
 */
const WATCHED_MS = 120_000;

/**
 * Wakes the conversations with pending messages of a cancelled job. `deliver` ends these messages, one worker for each
 * conversation, so that the state of an attempt under way counts. `sweep` repeats this each minute, from the first message
 * that was pending, until none is pending any more. 1.5 read units for a message, and 1 write unit for
 * the job.
 *
 * @param time - the present run of `sweep`, which wakes each conversation once
 * @param isLate - returns whether the next run must continue
 * @returns the number of conversations
 */
export const wakeCancelled = async (key: Key, time: string, isLate: () => boolean): Promise<number> => {
  const { account, job_id } = jobNamed(key);
  const job = await readJob(account, job_id);
  // The index may be behind.
  if (job?.cancelled === undefined || job.gsi1sk === undefined) return 0;
  const batches = await pendingBatchesOfJob(account, job_id);
  for (const batch of batches) await endNow(batch);
  if (batches.length > 0) await wakeExpansions([{ account, at: now(), once: time }]);
  let first: string | undefined;
  let isComplete = true;
  const woken = new Set<string>();
  for await (const listed of messagesOf(account, job_id, job.checked ?? ' ')) {
    if (isLate()) {
      first ??= listed[0]?.gsi3sk;
      isComplete = false;
      break;
    }
    const pending = await pendingAmong(listed);
    first ??= pending[0]?.gsi3sk;
    const phones = [...new Set(pending.map(({ phone }) => phone))].filter((phone) => !woken.has(phone));
    for (const phone of phones) woken.add(phone);
    await wake(phones.map((phone) => wakeUpOf(account, phone, `${job_id}#${time}`)));
  }
  const isOver = Date.parse(`${job.cancelled}Z`) + scaled(WATCHED_MS) <= now();
  if (isComplete && first === undefined && batches.length === 0 && isOver) await endWork(key);
  else if (first !== undefined) await continueFrom(key, first);
  return woken.size;
};

/** The messages of a job from a position on, oldest first. */
const messagesOf = (account: string, job_id: string, from: string): AsyncGenerator<Listed[]> =>
  pages<Listed>({
    IndexName: 'gsi3',
    KeyConditionExpression: 'gsi3pk = :job AND gsi3sk >= :from',
    ExpressionAttributeValues: { ':job': logPartitions.gsi3(account, { job_id, state: 'sent' }), ':from': from },
    ProjectionExpression: 'pk, sk, phone, gsi3sk',
  });

/** The messages that have not ended, in order. */
const pendingAmong = async (listed: Listed[]): Promise<Listed[]> => {
  const ended = new Set<string>();
  const parts = Array.from({ length: Math.ceil(listed.length / READ.messages) }, (_, place) =>
    listed.slice(place * READ.messages, (place + 1) * READ.messages),
  );
  await inParallel(parts, READ.calls, async (part) => {
    const keys = part.flatMap((message) => outcomeKeys(messageIdOf(message)));
    for (const found of await getManyEventual<LogItem[]>(keys)) if (found) ended.add(found.pk);
  });
  return listed.filter(({ pk }) => !ended.has(pk));
};

const wakeUpOf = (account: string, phone: string, once: string): WakeUp => {
  const conversation = { direction: 'app' as const, account, phone };
  return { conversation, once: `${conversationName(conversation)}#${once}` };
};

const continueFrom = async (key: Key, first: string): Promise<void> => {
  const checked = timestampOf(Date.parse(`${first.slice(0, 23)}Z`) - OVERLAP_MS);
  await update({
    Key: { pk: key.pk, sk: key.sk },
    UpdateExpression: 'SET checked = :checked',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':checked': checked },
  });
};

const endWork = async (key: Key): Promise<void> => {
  await update({
    Key: { pk: key.pk, sk: key.sk },
    UpdateExpression: 'REMOVE gsi1pk, gsi1sk, checked',
    ConditionExpression: 'attribute_exists(pk)',
  });
};
