/** Messages from businesses to users. */
import * as v from 'valibot';
import { mediaUrl, messageText, phoneNumber, quickReplies, uuid } from '../validation/schemas.ts';

import { define, idempotencyKey } from './endpoint.ts';

const content = v.variant('type', [
  v.object({ type: v.literal('text'), text: v.object({ body: messageText }) }),
  v.object({ type: v.literal('image'), image: v.object({ url: mediaUrl }) }),
  v.object({ type: v.literal('file'), file: v.object({ url: mediaUrl }) }),
]);

export const messages = {
  sendMessage: define({
    area: 'messages',
    summary: 'Send a message to a user of the app.',
    routes: [
      { host: 'base', method: 'POST', path: '/v1/message' },
      { host: 'bridge', method: 'POST', path: '/v1/message' },
    ],
    token: 'header',
    permission: 'messages',
    query: v.object({ job_id: v.optional(uuid) }),
    headers: idempotencyKey,
    body: {
      type: 'json',
      schema: v.intersect([
        v.object({
          to: phoneNumber,
          recipient_type: v.optional(v.literal('individual')),
          quick_replies: v.optional(quickReplies),
        }),
        content,
      ]),
    },
    responses: { 200: v.object({ id: v.string() }) },
    problems: ['idempotency_key_reused'],
    table: ['findMedia', 'findAccount', 'findMessage', 'logAndEnqueue'],
  }),
} as const;
