/** The lengths of a stack's queues. */
import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { UserError } from '../queries/accounts-admin.ts';
import { ATTEMPTS } from '../terminal/retries.ts';

/** The URLs of the stack's queues, by logical id: the name in `infra/stack.ts`, and a hash of eight characters. */
export type QueueUrls = Record<string, string>;

/** Counts the messages in a queue that no worker handles now. */
export type QueueLength = (name: 'WakeUps' | 'Expansions' | 'DeadLetters' | 'FailedBatches') => Promise<number>;

/**
 * Counts for the queues of a stack.
 *
 * @param endpoint - that of a local stack; undefined in AWS
 * @throws UserError — the stack has no such queue
 */
export const queueLengthIn =
  (urls: QueueUrls, endpoint?: string): QueueLength =>
  async (name) => {
    const url = Object.entries(urls).find(([id]) => id.slice(0, -8) === name)?.[1];
    if (url === undefined) throw new UserError(`The stack has no queue ${name}. Is its deployment complete?`);
    // Otherwise the host of the URL would replace an endpoint from the environment.
    const client = new SQSClient({
      maxAttempts: ATTEMPTS,
      useQueueUrlAsEndpoint: false,
      ...(endpoint !== undefined && { endpoint }),
    });
    try {
      const { Attributes } = await client.send(
        new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['ApproximateNumberOfMessages'] }),
      );
      return Number(Attributes?.ApproximateNumberOfMessages);
    } finally {
      client.destroy();
    }
  };
