/** The service's own HTTP layer: the Middy chain of `shared/http`. */
import { ok, serve } from '../../../shared/http/endpoint.ts';
import { answer, endpoint, type Handler } from './work.ts';

export const handler: Handler = serve(endpoint, async ({ account, body }) => ok(answer(account, body)));
