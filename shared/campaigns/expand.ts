/**
 * Expansion: the recipients of pending batches become messages, in the order of their positions. A crash at any point
 * repeats at most the step under way, which makes the same messages again: their ids contain the position.
 *
 * Messages whose time is over come first, and are logged as failed: they have no delivery, so neither priority nor pace
 * applies to them. The same holds for those of cancelled jobs, which have half of a run while other work is left.
 */
import { type Account, findAccount } from '../accounts/accounts.ts';
import { now, sortableTime } from '../core/clock.ts';
import { inParallel } from '../core/parallel.ts';
import { isThrottling } from '../core/retryable-errors.ts';
import { campaignRate, deliveryQueueBound } from '../core/settings.ts';
import { erasedAmong } from '../messaging/erased-identity.ts';
import { isCancelled, readJob } from '../messaging/jobs/job.ts';
import { optedOutAmong } from '../messaging/opt-outs/opt-outs.ts';
import { acceptMessage, type EndReason, logAsEnded } from '../messaging/send.ts';
import { queuedDeliveries } from '../outbox/wake-ups/conversations.ts';
import { getConsistent, pages, update, updateAndGet } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { describeError, log } from '../telemetry/log.ts';
import { measure } from '../telemetry/metrics.ts';
import { type BatchContent, type BatchItem, type Chunk, type Progress, priorities } from './batch.ts';
import { type Ended, endCancelled } from './cancelled-jobs.ts';
import { chunkAt } from './chunks.ts';
import { batchOf, chunkKey, pendingBatchesOf, pendingBatchRange, progressKey } from './entities.ts';
import { logErased } from './erase-batches.ts';
import { messageIdAt } from './ids.ts';
import { kilobytesOf, Pace } from './pace.ts';
import {
  awaitHours,
  completeBatch,
  type EndingBatch,
  firstEndOf,
  isPostponed,
  nextEndingBatch,
  readBatch,
  readProgress,
  recordFailedStep,
  setNextEnd,
} from './stored-batch.ts';

/** Most messages that become part of the outboxes before the progress is written, and most seconds that they take. */
const STEP = 25;
const STEP_S = 4;

const stepAt = (rate: number): number => Math.min(Math.max(Math.floor(rate * STEP_S), 1), STEP);

/** Pending batches that are looked at, of each priority. The index may still contain batches that are expanded. */
const LOOKED_AT = 10;

/** The result of a wake-up. `unfinished` if due batches remain, because time ran out. */
export interface ExpansionSummary {
  expanded: number;
  unfinished: boolean;
  /** The rate at which the next run continues, in messages per second. */
  rate: number;
}

/**
 * Expands due batches of an account, the highest priority first, until none is left, the account is suspended, or the time
 * is over. Other batches, and messages that have ended, are looked for after each chunk. Ends messages of cancelled jobs. 6
 * write units and 1 read unit for each message, and 1 write unit and 2 read units for 25; 4 or 8 write units for a message
 * that has ended.
 *
 * @param named - a batch that the index may not contain yet
 * @param end - when to stop, in milliseconds since 1970
 * @param rate - the rate of the run that this one continues
 */
export const expand = async (
  account: string,
  named: string | undefined,
  end: number,
  rate?: number,
): Promise<ExpansionSummary> => {
  const pace = new Pace({ max: campaignRate(), longest: deliveryQueueBound() }, queuedDeliveries, rate);
  const endBatch = async (batch: BatchItem): Promise<number> =>
    isPostponed(batch) ? 0 : unlessFailing(batch, () => expandChunks(batch, pace, end));
  let cancelled: Ended = { ended: 0, unfinished: false };
  let failure: unknown;
  try {
    cancelled = await endCancelled(account, (now() + end) / 2, endBatch);
  } catch (error) {
    // Not before the account's other batches had their turn.
    failure = error;
  }
  let expanded = cancelled.ended;
  for (;;) {
    const ending = await nextEndingBatch(account);
    // Batches of a suspended account wait; sweep finds them.
    const batch = ending?.batch ?? ((await isSuspended(account)) ? undefined : await nextBatch(account, named));
    if (batch === undefined) {
      if (cancelled.unfinished) {
        cancelled = await endCancelled(account, end, endBatch);
        expanded += cancelled.ended;
      }
      if (failure !== undefined) throw failure;
      return { expanded, unfinished: cancelled.unfinished, rate: pace.rate };
    }
    if (now() >= end) return { expanded, unfinished: true, rate: pace.rate };
    expanded += await unlessFailing(batch, () =>
      ending === undefined ? expandChunk(batch, pace, end) : endMessages(ending, pace, end),
    );
  }
};

/**
 * Does some work of a batch. A step that fails once ends the run, which is soon repeated. One that fails again makes its
 * batch wait, and the run continues with the next one, because no batch may hold up the later ones of its account.
 */
const unlessFailing = async (batch: BatchItem, work: () => Promise<number>): Promise<number> => {
  try {
    return await work();
  } catch (error) {
    if (!(await recordFailedStep(batch))) throw error;
    const { account, id, job_id } = batch;
    measure('error', 'batch postponed', {
      account,
      batch_id: id,
      job_id,
      ...describeError(error),
      batches_postponed: 1,
    });
    return 0;
  }
};

const isSuspended = async (account: string): Promise<boolean> => (await findAccount(account))?.suspended !== undefined;

/** Expands the rest of a batch. Returns the number of messages. */
const expandChunks = async (batch: BatchItem, pace: Pace, end: number): Promise<number> => {
  let count = 0;
  for (let chunk = 0; chunk < batch.chunks.length && now() < end; chunk += 1) {
    count += await expandChunk(batch, pace, end);
  }
  return count;
};

/** Logs messages as failed that have ended before they exist. Returns their number. */
const endMessages = async (ending: EndingBatch, pace: Pace, end: number): Promise<number> => {
  const { batch } = ending;
  // With one content for all, all messages that are left have ended.
  if (batch.content !== undefined && hasEnded(batch.content)) return expandChunk(batch, pace, end);
  return endSome(ending, pace, end);
};

/**
 * Logs the messages of a batch as failed whose own time is over. Expansion leaves out their positions. 1 read unit for 4 KB
 * of the chunks that are left.
 */
const endSome = async ({ batch, progress, end: present }: EndingBatch, pace: Pace, end: number): Promise<number> => {
  let count = 0;
  const later: (string | undefined)[] = [firstEndOf([batch.content])];
  for (const [index, first] of batch.chunks.entries()) {
    if ((batch.chunks[index + 1] ?? batch.recipients) <= progress.done) continue;
    const chunk = await getConsistent<Chunk>(chunkKey(batch.upload, first));
    const left = chunk === undefined ? [] : messagesIn(batch, chunk, progress);
    const over = left.filter(({ content }) => hasEnded(content));
    for (let start = 0; start < over.length; start += STEP) {
      if (now() >= end) return count;
      const step = over.slice(start, start + STEP);
      const erased = await erasedAmong(recipientsOf(step), batch.created);
      await inParallel(step, STEP, (message) => expandMessage(batch, message, { pace, end, erased }));
      await leaveOut(batch, step);
      count += step.length;
    }
    later.push(firstEndOf(left.filter((message) => !over.includes(message)).map(({ content }) => content)));
  }
  await setNextEnd(batch, present, later.filter((time) => time !== undefined).toSorted()[0]);
  return count;
};

/** Records messages that were logged before their turn. 1 write unit, and 1 more for 200 such messages of the batch. */
const leaveOut = async ({ account, id, expires_at }: BatchItem, messages: StepMessage[]): Promise<void> => {
  await update({
    Key: progressKey(account, id),
    UpdateExpression: 'ADD ended :positions SET done = if_not_exists(done, :none), expires_at = :end',
    ExpressionAttributeValues: {
      ':positions': new Set(messages.map(({ position }) => position)),
      ':none': 0,
      ':end': expires_at,
    },
  });
};

/** The due batch with the highest priority that was accepted first; undefined if none is due. */
const nextBatch = async (account: string, named: string | undefined): Promise<BatchItem | undefined> => {
  const latest = named === undefined ? undefined : await dueBatch(account, named);
  const time = sortableTime(now());
  for (const [rank, priority] of priorities.entries()) {
    const { from, to } = pendingBatchRange(rank, time);
    for await (const keys of pages<Key>({
      IndexName: 'gsi3',
      KeyConditionExpression: 'gsi3pk = :account AND gsi3sk BETWEEN :from AND :to',
      ExpressionAttributeValues: { ':account': pendingBatchesOf(account), ':from': from, ':to': to },
      ProjectionExpression: 'pk, sk',
      Limit: LOOKED_AT,
    })) {
      for (const key of keys) {
        const found = await dueBatch(account, batchOf(key).batch);
        if (found !== undefined) return found;
      }
    }
    if (latest?.priority === priority) return latest;
  }
  return undefined;
};

/**
 * A batch, unless it is expanded already, scheduled for later or for its sending hours, or postponed. Of those that have not
 * begun, only a batch of a cancelled job is ever postponed: it ends when its failed step is repeated.
 */
const dueBatch = async (account: string, id: string): Promise<BatchItem | undefined> => {
  const batch = await readBatch(account, id);
  if (batch === undefined || batch.expanded !== undefined) return undefined;
  return (batch.retry_at ?? batch.due) > sortableTime(now()) ? undefined : batch;
};

/** Expands the rest of the chunk that is next. Returns the number of messages. */
const expandChunk = async (batch: BatchItem, pace: Pace, end: number): Promise<number> => {
  let progress = await readProgress(batch);
  const first = chunkAt(batch.chunks, progress.done);
  if (first === undefined || progress.done >= batch.recipients) {
    await completeBatch(batch);
    return 0;
  }
  const chunk = await getConsistent<Chunk>(chunkKey(batch.upload, first));
  if (chunk === undefined) return skipChunk(batch, first);
  let expanded = 0;
  const after = chunk.position + chunk.to.length;
  while (progress.done < after && now() < end) {
    const { step, next } = stepFrom(messagesIn(batch, chunk, progress), progress.done, stepAt(pace.rate));
    const isStopped = isCancelled(await readJob(batch.account, batch.job_id));
    const isEnding = isStopped || (batch.content !== undefined && hasEnded(batch.content));
    if (!isEnding && (await awaitHours(batch))) return expanded;
    // Once for all messages of the step. Attempts check all of this again.
    const [optedOut, erased, sender] = await Promise.all([
      isStopped ? new Set<string>() : optedOutAmong(batch.account, recipientsOf(step)),
      erasedAmong(recipientsOf(step), batch.created),
      findAccount(batch.account),
    ]);
    // Messages to one number are accepted one after the other, in their order.
    await inParallel([...Map.groupBy(step, ({ to }) => to).values()], STEP, async (toOne) => {
      for (const { to, content, position } of toOne) {
        const ended = isStopped ? 'cancelled' : optedOut.has(to) ? 'opted_out' : undefined;
        await expandMessage(batch, { to, content, position }, { ended, pace, end, erased, sender });
      }
    });
    expanded += step.length;
    progress = await advance(batch, Math.min(next, after));
  }
  if (progress.done >= batch.recipients) await completeBatch(batch);
  return expanded;
};

/**
 * The messages of the next step: so many of 1 KB, fewer if they are larger, and at least one. `next` is the position after
 * them.
 */
const stepFrom = (left: StepMessage[], done: number, size: number): { step: StepMessage[]; next: number } => {
  const step: StepMessage[] = [];
  let kilobytes = 0;
  for (const message of left) {
    if (message.position >= done + size) break;
    kilobytes += kilobytesOf(message.content);
    if (step.length > 0 && kilobytes > size) return { step, next: message.position };
    step.push(message);
  }
  return { step, next: done + size };
};

/** Whether the time is over in which a message is of use. */
const hasEnded = ({ valid_until }: BatchContent): boolean =>
  valid_until !== undefined && valid_until <= sortableTime(now());

interface ExpansionContext {
  pace: Pace;
  /** When the run ends, in milliseconds since 1970. */
  end: number;
  /** The pseudonyms of recipients who are being erased. */
  erased: ReadonlyMap<string, string>;
  /** Why the message has ended, if it has. */
  ended?: EndReason | undefined;
  /** The account, if it was just read. */
  sender?: Account | undefined;
}

/** Accepts a message, or logs it as failed if its user is being erased, it has ended, or its time is over. */
const expandMessage = async (
  batch: BatchItem,
  one: StepMessage,
  { ended, erased, pace, end, sender }: ExpansionContext,
): Promise<void> => {
  const { valid_until, hours, ...content } = one.content;
  const pseudonym = erased.get(one.to);
  if (pseudonym !== undefined) {
    await pace.admitEnded();
    return logErased(batch, { position: one.position, type: content.type, pseudonym });
  }
  const { id, account, job_id } = batch;
  const sending = { id: messageIdAt(id, one.position), account, job_id, sender };
  const draft = { to: one.to, ...content };
  const reason = ended ?? (hasEnded(one.content) ? 'expired' : undefined);
  if (reason === undefined) {
    await whileThrottled(end, async () => {
      await pace.admit(kilobytesOf(content));
      await acceptMessage(draft, { ...sending, valid_until, hours });
    });
  } else {
    await pace.admitEnded();
    await logAsEnded(draft, sending, reason);
  }
};

/** Repeats work that the table throttles, at the pace that this lowers, until the time of the run is over. */
const whileThrottled = async (end: number, work: () => Promise<void>): Promise<void> => {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isThrottling(error) || now() >= end) throw error;
    }
  }
};

/** Another worker has completed the batch, or a restore of the table has left out the chunk. */
const skipChunk = async (batch: BatchItem, first: number): Promise<number> => {
  const present = await readBatch(batch.account, batch.id);
  if (present === undefined || present.expanded !== undefined) return 0;
  log('error', 'chunk missing', { account: batch.account, batch_id: batch.id, position: first });
  const next = batch.chunks.find((position) => position > first);
  await advance(batch, next ?? batch.recipients);
  return 0;
};

interface StepMessage {
  to: string;
  content: BatchContent;
  position: number;
}

const recipientsOf = (messages: StepMessage[]): string[] => messages.map(({ to }) => to);

/** The messages of a chunk that are left, without those that were logged as failed before their turn. */
const messagesIn = (batch: BatchItem, chunk: Chunk, { done, ended }: Progress): StepMessage[] =>
  chunk.to.flatMap((to, index) => {
    const position = chunk.position + index;
    const content = chunk.contents?.[index] ?? batch.content;
    const isLeft = position >= done && to !== '' && !ended?.has(position);
    return isLeft && content !== undefined ? [{ to, content, position }] : [];
  });

/** Records that the messages before a position exist. Returns the progress, which another worker may have advanced. */
const advance = async ({ account, id, expires_at, recipients }: BatchItem, done: number): Promise<Progress> => {
  const advanced = await updateAndGet<Progress>({
    Key: progressKey(account, id),
    UpdateExpression: `SET done = :done, expires_at = :end${done < recipients ? '' : ' REMOVE gsi3pk, gsi3sk'}`,
    ConditionExpression: 'attribute_not_exists(done) OR done < :done',
    ExpressionAttributeValues: { ':done': done, ':end': expires_at },
  });
  return advanced ?? readProgress({ account, id });
};
