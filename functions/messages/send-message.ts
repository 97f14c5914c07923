/** POST /v1/message on both hosts: sends a message to a user of the app, or to many, now or later. */
import { messages as api } from '../../shared/api/areas/messages.ts';
import { scheduleMessage, sendToMany } from '../../shared/campaigns/accept.ts';
import { withHashes } from '../../shared/core/hash-secret.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { sendMessage } from '../../shared/messaging/send.ts';

export const handler = endpoint(
  api.sendMessage,
  withHashes(async ({ account, body, query, headers }) => {
    // `recipient_type` has no effect: the form of `to` says the same.
    const { recipient_type: _type, priority, send_at, valid_for, between, time_zone, urgent, to, ...content } = body;
    const hours = { between, time_zone, urgent };
    const options = { job_id: query.job_id, valid_for, ...hours, idempotencyKey: headers['idempotency-key'] };
    const inBatch = { ...options, priority, send_at };
    if (typeof to !== 'string') return ok(await sendToMany(account, { to, ...content }, inBatch));
    if (send_at !== undefined) return ok({ id: await scheduleMessage(account, { to, ...content }, inBatch) });
    return ok({ id: await sendMessage(account, { to, ...content }, options) });
  }),
);
