/** The part of SQS's JSON protocol that functions, operators and tests use. */
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import * as v from 'valibot';
import { REGION } from '../template/references.ts';
import { type Queue, QueueError, type Received } from './queue.ts';
import type { Queues } from './queues.ts';

/** Milliseconds between two polls, while a receiver waits for messages. */
const POLL_INTERVAL = 10;
/** Maximum total size of a batch's messages, in bytes. */
const MAX_BATCH = 1024 * 1024;

const seconds = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(43_200));

const draft = {
  MessageBody: v.optional(v.string(), ''),
  MessageGroupId: v.optional(v.string()),
  MessageDeduplicationId: v.optional(v.string()),
};

const attributeNames = v.optional(v.array(v.string()), []);

/** The supported parameters of each action. Others are rejected. */
const inputs = {
  SendMessage: v.strictObject({ QueueUrl: v.string(), ...draft }),
  SendMessageBatch: v.strictObject({
    QueueUrl: v.string(),
    Entries: v.array(v.strictObject({ Id: v.string(), ...draft })),
  }),
  ReceiveMessage: v.strictObject({
    QueueUrl: v.string(),
    MaxNumberOfMessages: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10)), 1),
    VisibilityTimeout: v.optional(seconds),
    WaitTimeSeconds: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(20)), 0),
    AttributeNames: attributeNames,
    MessageSystemAttributeNames: attributeNames,
  }),
  DeleteMessage: v.strictObject({ QueueUrl: v.string(), ReceiptHandle: v.string() }),
  DeleteMessageBatch: v.strictObject({
    QueueUrl: v.string(),
    Entries: v.array(v.strictObject({ Id: v.string(), ReceiptHandle: v.string() })),
  }),
  ChangeMessageVisibility: v.strictObject({
    QueueUrl: v.string(),
    ReceiptHandle: v.string(),
    VisibilityTimeout: seconds,
  }),
  GetQueueAttributes: v.strictObject({ QueueUrl: v.string(), AttributeNames: attributeNames }),
};

type Action = keyof typeof inputs;
type Input<Name extends Action> = v.InferOutput<(typeof inputs)[Name]>;

/** A valid call: the right that it needs, and the function that executes it. */
export interface QueueCall {
  touch: { action: string; resource: string };
  /** @throws QueueError */
  execute: (signal: AbortSignal) => unknown;
}

/**
 * Validates a call.
 *
 * @throws QueueError
 */
export const readQueueCall = (queues: Queues, action: string, input: unknown): QueueCall => {
  const call = <Name extends Action>(
    name: Name,
    execute: (queue: Queue, given: Input<Name>, signal: AbortSignal) => unknown,
  ): QueueCall => {
    const schema: v.GenericSchema<unknown, Input<Name>> = inputs[name];
    const { success, output, issues } = v.safeParse(schema, input);
    if (!success) {
      const wrong = issues.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`).join('; ');
      throw new QueueError('InvalidParameterValue', `The emulator does not serve these parameters: ${wrong}`);
    }
    const queue = queues.at(output.QueueUrl);
    if (queue === undefined) {
      throw new QueueError('QueueDoesNotExist', 'The specified queue does not exist.');
    }
    return {
      // A batch needs the right of its single action.
      touch: { action: `sqs:${name.replace(/Batch$/, '')}`, resource: queue.definition.arn },
      execute: (signal) => execute(queue, output, signal),
    };
  };

  switch (action) {
    case 'SendMessage':
      return call(action, send);
    case 'SendMessageBatch':
      return call(action, sendBatch);
    case 'ReceiveMessage':
      return call(action, receive);
    case 'DeleteMessage':
      return call(action, (queue, { ReceiptHandle }) => {
        queue.delete(ReceiptHandle);
        return {};
      });
    case 'DeleteMessageBatch':
      return call(action, deleteBatch);
    case 'ChangeMessageVisibility':
      return call(action, (queue, { ReceiptHandle, VisibilityTimeout }) => {
        queue.hide(ReceiptHandle, VisibilityTimeout * 1000);
        return {};
      });
    case 'GetQueueAttributes':
      return call(action, (queue, { AttributeNames }) => ({ Attributes: pick(attributesOf(queue), AttributeNames) }));
    default:
      throw new QueueError('UnsupportedOperation', `The emulator does not serve ${action}.`);
  }
};

const send = (queue: Queue, given: Omit<Input<'SendMessage'>, 'QueueUrl'>) => {
  const { MessageBody, MessageGroupId, MessageDeduplicationId } = given;
  const { id, sequence } = queue.send({
    body: MessageBody,
    group: MessageGroupId,
    deduplicationId: MessageDeduplicationId,
  });
  return {
    MessageId: id,
    MD5OfMessageBody: md5(MessageBody),
    ...(queue.definition.fifo && { SequenceNumber: sequence }),
  };
};

const sendBatch = (queue: Queue, { Entries }: Input<'SendMessageBatch'>) => {
  checkBatch(Entries);
  const size = Entries.reduce((sum, { MessageBody }) => sum + Buffer.byteLength(MessageBody), 0);
  if (size > MAX_BATCH) throw new QueueError('BatchRequestTooLong', `A batch has at most ${MAX_BATCH} bytes.`);

  return eachOf(Entries, (given) => send(queue, given));
};

const deleteBatch = (queue: Queue, { Entries }: Input<'DeleteMessageBatch'>) => {
  checkBatch(Entries);
  return eachOf(Entries, ({ ReceiptHandle }) => {
    queue.delete(ReceiptHandle);
    return {};
  });
};

const checkBatch = (entries: { Id: string }[]): void => {
  if (entries.length === 0) throw new QueueError('EmptyBatchRequest', 'The batch has no entries.');
  if (entries.length > 10) throw new QueueError('TooManyEntriesInBatchRequest', 'The batch has more than 10 entries.');
  if (new Set(entries.map(({ Id }) => Id)).size < entries.length) {
    throw new QueueError('BatchEntryIdsNotDistinct', 'Two entries of the batch have the same id.');
  }
};

/** The response of a batch: the result or the error of each entry. */
const eachOf = <Entry extends { Id: string }>(entries: Entry[], work: (entry: Entry) => object) => {
  const results = entries.map((entry) => {
    const { Id } = entry;
    try {
      return { Id, ...work(entry) };
    } catch (error) {
      if (!(error instanceof QueueError)) throw error;
      return { Id, Code: error.code, Message: error.message, SenderFault: !isServiceError(error) };
    }
  });
  return {
    Successful: results.filter((result) => !('Code' in result)),
    Failed: results.filter((result) => 'Code' in result),
  };
};

/** Whether an error is the service's, so that the sender may retry. */
export const isServiceError = ({ code }: QueueError): boolean => code === 'ServiceUnavailable';

const receive = async (queue: Queue, given: Input<'ReceiveMessage'>, signal: AbortSignal) => {
  const end = Date.now() + given.WaitTimeSeconds * 1000;
  const visibility = given.VisibilityTimeout === undefined ? undefined : given.VisibilityTimeout * 1000;
  for (;;) {
    const received = queue.receive(given.MaxNumberOfMessages, visibility);
    if (received.length > 0) {
      const names = [...given.AttributeNames, ...given.MessageSystemAttributeNames];
      return {
        Messages: received.map((one) => ({
          MessageId: one.message.id,
          ReceiptHandle: one.handle,
          Body: one.message.body,
          MD5OfBody: md5(one.message.body),
          Attributes: pick(systemAttributesOf(one), names),
        })),
      };
    }
    if (Date.now() >= end) return {};
    await pause(POLL_INTERVAL, undefined, { signal });
  }
};

const attributesOf = (queue: Queue): Record<string, string> => {
  const { visible, inFlight } = queue.counts();
  const { arn, fifo, visibility } = queue.definition;
  return {
    QueueArn: arn,
    ApproximateNumberOfMessages: String(visible),
    ApproximateNumberOfMessagesNotVisible: String(inFlight),
    ApproximateNumberOfMessagesDelayed: '0',
    VisibilityTimeout: String(visibility / 1000),
    ...(fifo && { FifoQueue: 'true' }),
  };
};

/** The system attributes of a message. */
const systemAttributesOf = ({ message }: Received): Record<string, string> => ({
  ApproximateReceiveCount: String(message.receives),
  ApproximateFirstReceiveTimestamp: String(message.firstReceived),
  SentTimestamp: String(message.sent),
  SenderId: 'local',
  ...(message.group !== undefined && { MessageGroupId: message.group, SequenceNumber: message.sequence }),
  ...(message.deduplicationId !== undefined && { MessageDeduplicationId: message.deduplicationId }),
  ...(message.source !== undefined && { DeadLetterQueueSourceArn: message.source }),
});

const pick = (attributes: Record<string, string>, names: string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(attributes).filter(([name]) => names.includes('All') || names.includes(name)));

/** A received message in the form of a function's event. */
export const toRecord = (received: Received, arn: string) => ({
  messageId: received.message.id,
  receiptHandle: received.handle,
  body: received.message.body,
  attributes: systemAttributesOf(received),
  messageAttributes: {},
  md5OfBody: md5(received.message.body),
  eventSource: 'aws:sqs',
  eventSourceARN: arn,
  awsRegion: REGION,
});

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');
