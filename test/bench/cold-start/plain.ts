/** Calls of the table as in a tutorial: with the SDK's client and its default options. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { makeCalls, type TableCall } from './calls.ts';

const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));

export const handler = (rounds: TableCall[][]) => makeCalls(client, rounds);
