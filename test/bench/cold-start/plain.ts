/** A function as in a tutorial: the SDK's DynamoDB client with default options, and one read. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';

const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));

export const handler = async (event: { pk: string; sk: string }) => {
  const { Item } = await client.send(new GetCommand({ TableName: process.env.TABLE_NAME, Key: event }));
  return { statusCode: 200, body: JSON.stringify(Item) };
};
