/** For functions whose first call of the table is `PutItem`. They mostly make the id of the item, too. */
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { newId } from '../../../shared/core/ids.ts';
import { sendNowhere } from './send-nowhere.ts';

export const warmUp = (): Promise<void> =>
  sendNowhere(new PutCommand({ TableName: 'warm-up', Item: { pk: newId(), sk: 'b', m: { l: [true, 1] } } }));
