/** GET /v1/message/{id}: one of the caller's messages, with its states. */
import { messages as api } from '../../shared/api/areas/messages.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { readMessage } from '../../shared/stats/message-log.ts';

export const handler = endpoint(api.readMessage, async ({ account, path }) => ok(await readMessage(account, path.id)));
