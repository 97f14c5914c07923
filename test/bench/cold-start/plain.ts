/** A function as in a tutorial: the SDK's DynamoDB client with default options, and reads of an item, one after the other. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';

const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));

export const handler = async ({ calls, ...Key }: { pk: string; sk: string; calls: number }) => {
  const items: unknown[] = [];
  for (let call = 0; call < calls; call += 1) {
    const { Item } = await client.send(new GetCommand({ TableName: process.env.TABLE_NAME, Key }));
    items.push(Item);
  }
  return { statusCode: 200, body: JSON.stringify(items) };
};
