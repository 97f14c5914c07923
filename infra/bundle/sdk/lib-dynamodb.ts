/** Replaces `@aws-sdk/lib-dynamodb` in bundles: the commands that functions send, with plain objects as items. */
import { randomUUID } from 'node:crypto';
import type { marshallOptions } from '@aws-sdk/util-dynamodb';
import { itemOf, plainOf } from './attributes.ts';
import type { DynamoDBClient } from './client-dynamodb.ts';
import { Command, type SendOptions } from './json-client.ts';

/** Where an input or an output has items: in members, or in each element or property (`each`). */
type Places = 'item' | { each: Places } | { members: Record<string, Places> };

const ITEM: Places = 'item';
const members = (names: Record<string, Places>): Places => ({ members: names });
const each = (places: Places): Places => ({ each: places });

/** A copy of a value with other items. */
const withItems = (value: unknown, places: Places, change: (item: object) => object): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (places === 'item') return change(value);
  if ('members' in places) {
    const copy: Record<string, unknown> = { ...value };
    for (const name in places.members) {
      const inside = places.members[name];
      if (name in copy && inside !== undefined) copy[name] = withItems(copy[name], inside, change);
    }
    return copy;
  }
  if (Array.isArray(value)) return value.map((one) => withItems(one, places.each, change));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withItems(one, places.each, change)]));
};

const ONE_ITEM = members({ Key: ITEM, Item: ITEM, ExpressionAttributeValues: ITEM });
const REQUESTS = each(each(members({ PutRequest: members({ Item: ITEM }), DeleteRequest: members({ Key: ITEM }) })));
const KEYS = each(members({ Keys: each(ITEM) }));

abstract class DocumentCommand extends Command {
  abstract readonly inputs: Places;
  readonly outputs: Places = members({ Item: ITEM, Attributes: ITEM });
  /** Members that are added to an input. */
  readonly more: () => object = () => ({});
}

abstract class OneItemCommand extends DocumentCommand {
  readonly inputs = ONE_ITEM;
}

export class GetCommand extends OneItemCommand {
  readonly operation = 'GetItem';
}

export class PutCommand extends OneItemCommand {
  readonly operation = 'PutItem';
}

export class UpdateCommand extends OneItemCommand {
  readonly operation = 'UpdateItem';
}

export class DeleteCommand extends OneItemCommand {
  readonly operation = 'DeleteItem';
}

export class QueryCommand extends DocumentCommand {
  readonly operation = 'Query';
  readonly inputs = members({ ExclusiveStartKey: ITEM, ExpressionAttributeValues: ITEM });
  override readonly outputs = members({ Items: each(ITEM), LastEvaluatedKey: ITEM });
}

export class BatchGetCommand extends DocumentCommand {
  readonly operation = 'BatchGetItem';
  readonly inputs = members({ RequestItems: KEYS });
  override readonly outputs = members({ Responses: each(each(ITEM)), UnprocessedKeys: KEYS });
}

export class BatchWriteCommand extends DocumentCommand {
  readonly operation = 'BatchWriteItem';
  readonly inputs = members({ RequestItems: REQUESTS });
  override readonly outputs = members({ UnprocessedItems: REQUESTS });
}

export class TransactWriteCommand extends DocumentCommand {
  readonly operation = 'TransactWriteItems';
  readonly inputs = members({
    TransactItems: each(members({ ConditionCheck: ONE_ITEM, Put: ONE_ITEM, Delete: ONE_ITEM, Update: ONE_ITEM })),
  });
  /** As the SDK, a token with which retries of a transaction take effect once. */
  override readonly more = () => ({ ClientRequestToken: randomUUID() });
}

export class DynamoDBDocumentClient {
  readonly #client: DynamoDBClient;
  readonly #options: marshallOptions;

  private constructor(client: DynamoDBClient, options: marshallOptions) {
    this.#client = client;
    this.#options = options;
  }

  static from(client: DynamoDBClient, { marshallOptions = {} }: { marshallOptions?: marshallOptions } = {}) {
    return new DynamoDBDocumentClient(client, marshallOptions);
  }

  async send({ operation, input, inputs, outputs, more }: DocumentCommand, options?: SendOptions): Promise<unknown> {
    const sent = withItems(input, inputs, (item) => itemOf(item, this.#options));
    const output = await this.#client.call(operation, { ...more(), ...Object(sent) }, options);
    return withItems(output, outputs, plainOf);
  }
}
