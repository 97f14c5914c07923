/** Replaces `@aws-sdk/client-sqs` in bundles: the calls that functions make. */
import { createHash } from 'node:crypto';
import type { SendMessageBatchResultEntry } from '@aws-sdk/client-sqs';
import { usesFips } from '../../../shared/core/settings.ts';
import { type Body, type ClientOptions, Command, JsonClient, type SendOptions } from './json-client.ts';

/** Lambda finds endless loops of functions by this header, in which it counts their calls (`deliver` and its queue). */
const tracing = (): Record<string, string> => {
  const { AWS_LAMBDA_FUNCTION_NAME: name, _X_AMZN_TRACE_ID: trace } = process.env;
  return name && trace ? { 'x-amzn-trace-id': trace } : {};
};

const SERVICE = {
  name: 'sqs',
  isFipsInGovCloud: true,
  variable: 'SQS',
  target: 'AmazonSQS',
  version: '1.0',
  baseDelay: 50,
  headers: tracing,
} as const;

interface QueueInput {
  QueueUrl: string;
  Entries?: { Id: string; MessageBody?: string }[];
}

/** Compares the hashes of the bodies that SQS received with those of the bodies that were sent. */
const checkBodies = (entries: NonNullable<QueueInput['Entries']>, { Successful = [] }: Body): void => {
  const bodies = new Map(entries.map(({ Id, MessageBody }) => [Id, MessageBody]));
  const wrong = (Successful as SendMessageBatchResultEntry[]).filter(({ Id = '', MD5OfMessageBody: hash }) => {
    const body = bodies.get(Id);
    return body !== undefined && hash !== createHash('md5').update(body).digest('hex');
  });
  if (wrong.length > 0)
    throw new Error(
      `SQS received other messages than were sent: ${wrong.map(({ MessageId }) => MessageId).join(', ')}`,
    );
};

export class SQSClient {
  readonly #client: JsonClient;

  constructor(options: ClientOptions) {
    this.#client = new JsonClient(SERVICE, options);
  }

  /**
   * As the SDK, calls the host of the queue's URL, unless a host that FIPS 140 validates is to be called.
   *
   * @throws Error — SQS received other bodies than were sent
   */
  async send({ operation, input }: Command<QueueInput>, options?: SendOptions): Promise<Body> {
    const endpoint = usesFips() ? undefined : new URL(new URL(input.QueueUrl).origin);
    const output = await this.#client.call(operation, JSON.stringify(input), options, endpoint);
    if (input.Entries !== undefined) checkBodies(input.Entries, output);
    return output;
  }
}

export class SendMessageBatchCommand extends Command<QueueInput> {
  readonly operation = 'SendMessageBatch';
}

export class ChangeMessageVisibilityCommand extends Command<QueueInput> {
  readonly operation = 'ChangeMessageVisibility';
}

export class DeleteMessageBatchCommand extends Command<QueueInput> {
  readonly operation = 'DeleteMessageBatch';
}

export class GetQueueAttributesCommand extends Command<QueueInput> {
  readonly operation = 'GetQueueAttributes';
}
