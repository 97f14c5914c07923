/** POST /webhook/{bot_phone_number}: takes a message to one of the caller's bots, as if a user had written it. */
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { receiveTestMessage } from '../../shared/messaging/receive.ts';

export const handler = endpoint('receiveTestMessage', async ({ account, path, body }) => {
  await receiveTestMessage(account, { ...body.message, to: path.bot_phone_number });
  return ok({ message: 'success' });
});
