/** The lengths of a stack's queues. */
import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { ATTEMPTS } from '../terminal/retries.ts';

/** The URLs of the stack's queues, by logical id: the name in `infra/stack.ts`, and a hash of eight characters. */
export type QueueUrls = Record<string, string>;

/** Counts the messages in a queue that no worker handles now. */
export type QueueLength = (name: 'WakeUps' | 'Expansions' | 'DeadLetters' | 'FailedBatches') => Promise<number>;

/** @param endpoint - that of a local stack; undefined in AWS */
export const queueLengthIn =
  (urls: QueueUrls, endpoint?: string): QueueLength =>
  async (name) => {
    const url = Object.entries(urls).find(([id]) => id.slice(0, -8) === name)?.[1];
    if (url === undefined) throw new Error(`The stack has no queue ${name}.`);
    const client = new SQSClient({ maxAttempts: ATTEMPTS, ...(endpoint !== undefined && { endpoint }) });
    try {
      const { Attributes } = await client.send(
        new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['ApproximateNumberOfMessages'] }),
      );
      return Number(Attributes?.ApproximateNumberOfMessages);
    } finally {
      client.destroy();
    }
  };
