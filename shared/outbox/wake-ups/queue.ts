/** FIFO queues of wake-ups: messages that make a worker look for work. */
import { setTimeout as pause } from 'node:timers/promises';
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';

/** A message for a FIFO queue. */
interface QueueMessage {
  body: string;
  /** Messages of one group are handled one at a time. */
  group: string;
  /** The deduplication id: for five minutes, the queue drops other messages of the group with the same one. */
  once: string;
}

/** Seconds after which a failed wake-up is received again. */
export const RETURN_DELAY_S = 5;
/** Most messages of a call to the queue. */
const BATCH = 10;
/** Parallel calls to the queue. */
const CALLS = 8;
/** Attempts to send the messages that the queue rejects, and the first pause between attempts in milliseconds. */
const RETRY = { attempts: 4, pause: 50 };

const queue = new SQSClient({
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
  maxAttempts: 4,
});

/**
 * Sends messages to the queue with this URL, in any order.
 *
 * @param abortSignal - ends the calls
 * @throws Error — some could not be sent; all can be sent again without harm
 */
export const sendAll = async (url: string, messages: QueueMessage[], abortSignal?: AbortSignal): Promise<void> => {
  const batches = Array.from({ length: Math.ceil(messages.length / BATCH) }, (_, index) =>
    messages.slice(index * BATCH, (index + 1) * BATCH),
  );
  for (let start = 0; start < batches.length; start += CALLS) {
    await Promise.all(batches.slice(start, start + CALLS).map((batch) => sendBatch(url, batch, abortSignal)));
  }
};

const sendBatch = async (QueueUrl: string, messages: QueueMessage[], abortSignal?: AbortSignal): Promise<void> => {
  let left = messages.map(({ body, group, once }, index) => ({
    Id: String(index),
    MessageBody: body,
    MessageGroupId: group,
    MessageDeduplicationId: once,
  }));
  for (let attempt = 1; ; attempt += 1) {
    const { Failed = [] } = await queue.send(new SendMessageBatchCommand({ QueueUrl, Entries: left }), {
      ...(abortSignal && { abortSignal }),
    });
    if (Failed.length === 0) return;
    const failed = new Set(Failed.map(({ Id }) => Id));
    left = left.filter(({ Id }) => failed.has(Id));
    if (attempt === RETRY.attempts) throw new Error('The queue did not take all wake-ups.');
    await pause(RETRY.pause * attempt, undefined, { ...(abortSignal && { signal: abortSignal }) });
  }
};

/** Makes a received message visible again after some seconds. */
export const returnIn = async (QueueUrl: string, ReceiptHandle: string, VisibilityTimeout: number): Promise<void> => {
  await queue.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout }));
};

/**
 * Removes received messages, at most ten, by their receipt handles. One that cannot be removed, because its receiver's
 * time is over, is received again.
 */
export const removeAll = async (QueueUrl: string, handles: string[]): Promise<void> => {
  const Entries = handles.map((ReceiptHandle, index) => ({ Id: String(index), ReceiptHandle }));
  await queue.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
};

/** The approximate number of messages that wait in a queue, without those that are being handled. */
export const waitingIn = async (QueueUrl: string): Promise<number> => {
  const { Attributes } = await queue.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['ApproximateNumberOfMessages'] }),
  );
  return Number(Attributes?.ApproximateNumberOfMessages ?? 0);
};
