/**
 * Wake-ups: messages on the FIFO queue that have `deliver` look at a conversation. Those of one group are handled one at
 * a time, so that a conversation has one worker, and an account no more workers than it has groups.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { ChangeMessageVisibilityCommand, SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import * as v from 'valibot';
import { now, scaled } from '../core/clock.ts';
import { queueUrl } from '../core/settings.ts';
import type { Conversation, Direction } from '../messaging/events.ts';
import { conversationName } from '../table/keys.ts';
import { describeError, log } from '../telemetry/log.ts';
import { traceId } from '../telemetry/trace.ts';

export interface WakeUp {
  conversation: Conversation;
  /** The queue swallows another one with the same text for five minutes. */
  once: string;
  /** The trace that it belongs to; the current one, if it has none of its own. */
  trace_id?: string | undefined;
}

/** Groups of an account by direction: the app network takes more at a time than a customer's server. */
const SLOTS: Record<Direction, number> = { app: 256, platform: 16 };
/** The queue takes so many in a call. */
const BATCH = 10;
/** Seconds after which a wake-up that failed comes again. */
const SOON = 5;
/** Calls at a time. */
const CALLS = 8;
/** What the queue did not take is sent again so often, with a pause in milliseconds. */
const RETRY = { attempts: 4, pause: 50 };

const queue = new SQSClient({
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
  maxAttempts: 4,
});

/**
 * Puts wake-ups on the queue, in any order: each has its conversation looked at as a whole.
 *
 * @throws Error — some could not be sent; to send all again is harmless
 */
export const wake = async (wakeUps: WakeUp[]): Promise<void> => {
  const batches = Array.from({ length: Math.ceil(wakeUps.length / BATCH) }, (_, place) =>
    wakeUps.slice(place * BATCH, (place + 1) * BATCH),
  );
  // Stryker disable next-line EqualityOperator: One more round finds nothing.
  for (let start = 0; start < batches.length; start += CALLS) {
    await Promise.all(batches.slice(start, start + CALLS).map(sendBatch));
  }
};

const sendBatch = async (wakeUps: WakeUp[]): Promise<void> => {
  let left = wakeUps.map((wakeUp, place) => ({
    Id: String(place),
    MessageBody: JSON.stringify({ ...wakeUp.conversation, trace_id: wakeUp.trace_id ?? traceId() }),
    MessageGroupId: groupOf(wakeUp.conversation),
    MessageDeduplicationId: wakeUp.once,
  }));
  for (let attempt = 1; ; attempt += 1) {
    const { Failed = [] } = await queue.send(new SendMessageBatchCommand({ QueueUrl: queueUrl(), Entries: left }));
    if (Failed.length === 0) return;
    const failed = new Set(Failed.map(({ Id }) => Id));
    left = left.filter(({ Id }) => failed.has(Id));
    if (attempt === RETRY.attempts) throw new Error('The queue did not take all wake-ups.');
    // Stryker disable next-line ArithmeticOperator: No test measures pauses.
    await pause(RETRY.pause * attempt);
  }
};

/** All wake-ups of a conversation are of one group. */
const groupOf = (conversation: Conversation): string => {
  const { direction, account } = conversation;
  return `${direction}#${account}#${crc32(conversationName(conversation)) % SLOTS[direction]}`;
};

const wakeUp = v.object({
  direction: v.picklist(['app', 'platform']),
  account: v.string(),
  phone: v.string(),
  trace_id: v.optional(v.string()),
});

/** The conversation that a wake-up's body names, and the trace that it belongs to. */
export const readWakeUp = (body: string): Omit<WakeUp, 'once'> => {
  const { trace_id, ...conversation } = v.parse(wakeUp, JSON.parse(body));
  return { conversation, trace_id };
};

/** Has a wake-up that failed come again soon, rather than when the queue takes its worker for dead. */
export const returnSoon = (receiptHandle: string): Promise<void> => returnIn(receiptHandle, SOON);

const returnIn = async (ReceiptHandle: string, VisibilityTimeout: number): Promise<void> => {
  await queue.send(new ChangeMessageVisibilityCommand({ QueueUrl: queueUrl(), ReceiptHandle, VisibilityTimeout }));
};

/**
 * Which wake-ups are left on the queue during a pause: received so often at most, because the fifth time leads to the dead
 * letters, and so old at most when they come again, because the alarm on the queue's age is raised after five minutes.
 */
const LEFT = { receives: 3, ageMs: 180_000 };

/**
 * Has a wake-up come again when its destination's pause is over (milliseconds since 1970): within a second, where `sweep` may
 * take a minute. Until then its group waits, which has the same destination. `sweep` wakes the conversation if the wake-up was
 * received too often, is too old, or cannot be returned.
 *
 * @returns whether it comes again, so that it must stay on the queue
 */
export const returnAfterPause = async (
  { receiptHandle, attributes }: Pick<SQSRecord, 'receiptHandle' | 'attributes'>,
  until: number,
): Promise<boolean> => {
  const age = until - Number(attributes.SentTimestamp);
  if (Number(attributes.ApproximateReceiveCount) > LEFT.receives || age > scaled(LEFT.ageMs)) return false;
  const seconds = Math.floor(Math.max(until - now(), 0) / scaled(1_000)) + 1;
  try {
    await returnIn(receiptHandle, seconds);
    return true;
  } catch (error) {
    log('warn', 'wake-up not rescheduled', describeError(error));
    return false;
  }
};
