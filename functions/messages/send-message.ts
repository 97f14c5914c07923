/** POST /v1/message on both hosts: sends a message to a user of the app, or to many, now or later; or forecasts this. */
import { messages as api } from '../../shared/api/areas/messages.ts';
import { scheduleMessage, sendToMany } from '../../shared/campaigns/accept.ts';
import { confirmation, forecast } from '../../shared/campaigns/forecast.ts';
import { withHashes } from '../../shared/core/hash-secret.ts';
import { invalidRequest } from '../../shared/core/problems.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';
import { sendMessage } from '../../shared/messaging/send.ts';
import { withWakeUps } from '../../shared/outbox/wake-ups/at-once.ts';

export const handler = endpoint(
  api.sendMessage,
  withHashes(
    withWakeUps(async ({ account, body, query, headers }) => {
      // `recipient_type` has no effect: the form of `to` says the same.
      const {
        recipient_type: _type,
        priority,
        send_at,
        valid_for,
        between,
        time_zone,
        urgent,
        dry_run,
        plan,
        to,
        ...content
      } = body;
      const isForOne = typeof to === 'string';
      if (isForOne && send_at === undefined && query.job_id === undefined && query.job_reference !== undefined) {
        throw invalidRequest([{ parameter: 'job_reference', detail: 'needs job_id, which names the job' }]);
      }
      const given = { ...query, priority, send_at, valid_for, between, time_zone, urgent };
      const messages = [to].flat().map((number) => ({ to: number }));
      const request = { account, endpoint: 'sendMessage', messages, content, isForOne, ...given } as const;
      if (dry_run) return ok(await forecast(request));
      const options = { ...given, idempotencyKey: headers['idempotency-key'], confirm: confirmation(request, plan) };
      if (!isForOne) return ok(await sendToMany(account, { to, ...content }, options));
      if (send_at !== undefined) return ok({ id: await scheduleMessage(account, { to, ...content }, options) });
      return ok({ id: await sendMessage(account, { to, ...content }, options) });
    }),
  ),
);
