/** DELETE /v1/sessions/current: ends the session of the token of the request. */
import { endSession } from '../../shared/accounts/sessions.ts';
import { sessions as api } from '../../shared/api/areas/sessions.ts';
import { endpoint, noContent } from '../../shared/http/endpoint.ts';

export const handler = endpoint(api.endSession, async (caller) => {
  await endSession(caller);
  return noContent();
});
