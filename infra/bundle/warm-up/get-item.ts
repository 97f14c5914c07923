/** For functions whose first call of the table is `GetItem`, and for those that begin with a call that has no warm-up. */
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { sendNowhere } from './send-nowhere.ts';

export const warmUp = (): Promise<void> =>
  sendNowhere(new GetCommand({ TableName: 'warm-up', Key: { pk: 'a', sk: 'b' } }));
