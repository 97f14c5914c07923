/**
 * Replaces `@aws-sdk/client-dynamodb` in bundles: a client for the commands in `lib-dynamodb.ts`, and the errors that functions
 * handle.
 */
import type { CancellationReason } from '@aws-sdk/client-dynamodb';
import type { HttpResponse } from '@smithy/core/protocols';
import { decodeBytes, type Item } from './attributes.ts';
import { type Body, type ClientOptions, JsonClient, type SendOptions, ServiceException } from './json-client.ts';

export class ConditionalCheckFailedException extends ServiceException {
  /** The present item, if the call asked for it. */
  declare readonly Item?: Item;

  constructor(response: HttpResponse, body: Body) {
    super(response, body);
    const { Item } = decodeBytes(body);
    if (Item) Object.assign(this, { Item });
  }
}

export class TransactionConflictException extends ServiceException {}

export class TransactionCanceledException extends ServiceException {
  /** One for each write of the transaction. */
  readonly CancellationReasons: CancellationReason[];

  constructor(response: HttpResponse, body: Body) {
    super(response, body);
    this.CancellationReasons = (decodeBytes(body).CancellationReasons ?? []) as CancellationReason[];
  }
}

const SERVICE = {
  name: 'dynamodb',
  isFipsInGovCloud: true,
  variable: 'DYNAMODB',
  target: 'DynamoDB_20120810',
  version: '1.0',
  // The SDK's own value for DynamoDB.
  baseDelay: 25,
  exceptions: { ConditionalCheckFailedException, TransactionConflictException, TransactionCanceledException },
} as const;

export class DynamoDBClient {
  readonly #client: JsonClient;

  constructor(options: ClientOptions) {
    this.#client = new JsonClient(SERVICE, options);
  }

  /** Calls an operation with items as DynamoDB has them, but with bytes in base64. The response has bytes. */
  async call(operation: string, input: object, options?: SendOptions): Promise<Body> {
    return decodeBytes(await this.#client.call(operation, JSON.stringify(input), options));
  }
}
