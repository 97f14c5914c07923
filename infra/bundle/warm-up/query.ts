/** For functions whose first call of the table is `Query`. */
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { sendNowhere } from './send-nowhere.ts';

export const warmUp = (): Promise<void> =>
  sendNowhere(
    new QueryCommand({
      TableName: 'warm-up',
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': 'a' },
    }),
  );
