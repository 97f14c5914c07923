/** POST /v1/sessions: exchanges the code in a link of the operator for a token. */
import { createSession } from '../../shared/accounts/sessions.ts';
import { sessions as api } from '../../shared/api/areas/sessions.ts';
import { created, unlimitedEndpoint } from '../../shared/http/endpoint.ts';

export const handler = unlimitedEndpoint(api.createSession, async ({ body }) =>
  created(await createSession(body.code)),
);
