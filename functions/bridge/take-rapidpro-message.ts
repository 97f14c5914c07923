/** POST /v1/webhook/rapidpro/: takes a message, or a part of one, that a flow on RapidPro sends to a user. */
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { sendFromPlatform } from '../../shared/messages.ts';
import { fromRapidpro } from '../../shared/platforms/rapidpro.ts';

export const handler = endpoint('takeRapidproMessage', async ({ account, body }) => {
  const id = await sendFromPlatform(account, 'rapidpro', fromRapidpro(body));
  return ok({ message: 'success', id });
});
