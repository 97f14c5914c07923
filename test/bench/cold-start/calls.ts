/** Calls of the table that a first call makes: an event for the bundles that make nothing but these calls. */
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';

const commands = {
  BatchGetItem: BatchGetCommand,
  BatchWriteItem: BatchWriteCommand,
  DeleteItem: DeleteCommand,
  GetItem: GetCommand,
  PutItem: PutCommand,
  Query: QueryCommand,
  TransactWriteItems: TransactWriteCommand,
  UpdateItem: UpdateCommand,
};

export interface TableCall {
  operation: keyof typeof commands;
  /** The input of the document client's command. */
  input: never;
}

/** Makes the calls of a round at the same time, and one round after the other. */
export const makeCalls = async (client: DynamoDBDocumentClient, rounds: TableCall[][]) => {
  const outputs: unknown[] = [];
  for (const round of rounds) {
    const calls = round.map(({ operation, input }) => client.send(new commands[operation](input) as GetCommand));
    // A call may be rejected, as it was when it was recorded.
    outputs.push(...(await Promise.allSettled(calls)));
  }
  return { statusCode: 200, body: JSON.stringify(outputs) };
};
