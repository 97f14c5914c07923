/** For functions whose first call of the table is `PutItem`. */
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { sendNowhere } from './send-nowhere.ts';

await sendNowhere(new PutCommand({ TableName: 'warm-up', Item: { pk: 'a', sk: 'b', m: { l: [true, 1] } } }));
