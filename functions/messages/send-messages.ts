/** POST /v1/messages on both hosts: sends several messages, each to one user of the app; or forecasts this. */
import { messages as api } from '../../shared/api/areas/messages.ts';
import { sendEach } from '../../shared/campaigns/accept.ts';
import { highestOf } from '../../shared/campaigns/batch.ts';
import { confirmation, forecast } from '../../shared/campaigns/forecast.ts';
import { withHashes } from '../../shared/core/hash-secret.ts';
import { invalidRequest } from '../../shared/core/problems.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';

/** The value of a field that all messages have in common, because they are one batch. */
const common = <Message extends object, Field extends keyof Message & string>(
  field: Field,
  messages: Message[],
): Message[Field] | undefined => {
  const other = messages.findIndex((message) => message[field] !== messages[0]?.[field]);
  if (other === -1) return messages[0]?.[field];
  throw invalidRequest([{ pointer: `#/${other}/${field}`, detail: 'must be the same in all messages of a request' }]);
};

export const handler = endpoint(
  api.sendMessages,
  withHashes(async ({ account, body, query, headers }) => {
    const drafts = body.map(
      ({ recipient_type: _type, priority: _priority, send_at: _time, dry_run: _dry, plan: _plan, ...draft }) => draft,
    );
    const priority = highestOf(body.map(({ priority: given }) => given));
    const options = { ...query, priority, send_at: common('send_at', body) };
    const messages = drafts.map(({ to, ...content }) => ({ to, content }));
    const request = { account, endpoint: 'sendMessages', messages, ...options } as const;
    if (common('dry_run', body)) return ok(await forecast(request));
    const confirm = confirmation(request, common('plan', body));
    return ok(await sendEach(account, drafts, { ...options, idempotencyKey: headers['idempotency-key'], confirm }));
  }),
);
