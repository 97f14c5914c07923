/** Replaces `@aws-sdk/client-sqs` in bundles: the calls that functions make. */
import { type ClientOptions, Command, JsonClient, type SendOptions } from './json-client.ts';

/** Lambda finds endless loops of functions by this header, in which it counts their calls (`deliver` and its queue). */
const tracing = (): Record<string, string> => {
  const { AWS_LAMBDA_FUNCTION_NAME: name, _X_AMZN_TRACE_ID: trace } = process.env;
  return name && trace ? { 'x-amzn-trace-id': trace } : {};
};

const SERVICE = {
  name: 'sqs',
  variable: 'SQS',
  target: 'AmazonSQS',
  version: '1.0',
  baseDelay: 50,
  headers: tracing,
} as const;

export class SQSClient {
  readonly #client: JsonClient;

  constructor(options: ClientOptions) {
    this.#client = new JsonClient(SERVICE, options);
  }

  /** As the SDK, calls the host of the queue's URL. */
  send({ operation, input }: Command<{ QueueUrl: string }>, options?: SendOptions): Promise<Record<string, unknown>> {
    const endpoint = new URL(new URL(input.QueueUrl).origin);
    return this.#client.call(operation, JSON.stringify(input), options, endpoint);
  }
}

export class SendMessageBatchCommand extends Command<{ QueueUrl: string }> {
  readonly operation = 'SendMessageBatch';
}

export class ChangeMessageVisibilityCommand extends Command<{ QueueUrl: string }> {
  readonly operation = 'ChangeMessageVisibility';
}

export class DeleteMessageBatchCommand extends Command<{ QueueUrl: string }> {
  readonly operation = 'DeleteMessageBatch';
}

export class GetQueueAttributesCommand extends Command<{ QueueUrl: string }> {
  readonly operation = 'GetQueueAttributes';
}
