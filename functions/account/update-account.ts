/** PUT /v1/update: changes the name that users see. */
import { rename } from '../../shared/customers/profile.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';

export const handler = endpoint('updateAccount', async ({ account, body }) => {
  await rename(account, body.name);
  return ok({ name: body.name });
});
