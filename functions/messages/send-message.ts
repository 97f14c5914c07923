/** POST /v1/message on both hosts: sends a message to a user of the app. */
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { sendMessage } from '../../shared/messaging/send.ts';

export const handler = endpoint('sendMessage', async ({ account, body, query, headers }) => {
  // There is one kind of recipient.
  const { recipient_type: _individual, ...draft } = body;
  const id = await sendMessage(account, draft, { job_id: query.job_id, idempotencyKey: headers['idempotency-key'] });
  return ok({ id });
});
