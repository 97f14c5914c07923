/** POST /v1/messages on both hosts: sends several messages, each to one user of the app. */
import { messages as api } from '../../shared/api/areas/messages.ts';
import { sendEach } from '../../shared/campaigns/accept.ts';
import { highestOf } from '../../shared/campaigns/batch.ts';
import { withHashes } from '../../shared/core/hash-secret.ts';
import { invalidRequest } from '../../shared/core/problems.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';

/** When all messages are sent: they are one batch, which has one time. */
const commonTime = (messages: { send_at?: number | undefined }[]): number | undefined => {
  const [first] = messages;
  const other = messages.findIndex(({ send_at }) => send_at !== first?.send_at);
  if (other === -1) return first?.send_at;
  throw invalidRequest([{ pointer: `#/${other}/send_at`, detail: 'must be the same in all messages of a request' }]);
};

export const handler = endpoint(
  api.sendMessages,
  withHashes(async ({ account, body, query, headers }) => {
    const drafts = body.map(({ recipient_type: _type, priority: _priority, send_at: _time, ...draft }) => draft);
    const priority = highestOf(body.map(({ priority: given }) => given));
    const options = {
      ...query,
      idempotencyKey: headers['idempotency-key'],
      priority,
      send_at: commonTime(body),
    };
    return ok(await sendEach(account, drafts, options));
  }),
);
