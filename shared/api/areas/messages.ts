/** Messages from businesses to users. */
import * as v from 'valibot';
import { priorities } from '../../campaigns/batch.ts';
import { RETRY_DAYS } from '../../core/lifetimes.ts';
import { reasonCodes, states } from '../../outbox/message.ts';
import { listOf, oneOrList, responseList } from '../../validation/bounded.ts';
import { pointInTimeOrSeconds } from '../../validation/point-in-time.ts';
import {
  atMost,
  caption,
  duration,
  idOfAnything,
  mediaUrl,
  messageText,
  phoneNumber,
  quickReplies,
  reference,
  text,
  uuid,
} from '../../validation/schemas.ts';
import { betweenTimesIfAny, hoursZone } from '../../validation/sending-hours.ts';

import { define, idempotencyKey } from '../endpoint.ts';

/** Most seconds for which a message is valid: then every pending message fails anyway. */
const MAX_VALIDITY = RETRY_DAYS * 86_400;

/** A file at a datafree URL, and a text that the app shows with it. */
const captioned = v.object({ url: mediaUrl, caption: v.optional(caption) });

const content = v.variant('type', [
  v.object({
    type: v.literal('text'),
    text: v.pipe(
      v.object({ body: messageText, allow_merge: v.optional(v.boolean()) }),
      // `allow_merge` has no effect.
      v.transform(({ body }) => ({ body })),
    ),
  }),
  v.object({ type: v.literal('image'), image: captioned }),
  v.object({ type: v.literal('file'), file: captioned }),
  v.object({ type: v.literal('audio'), audio: v.object({ url: mediaUrl }) }),
  v.object({ type: v.literal('video'), video: captioned }),
]);

/** Fields that a message to one user and to many have in common. */
const sending = {
  recipient_type: v.optional(v.picklist(['individual', 'broadcast'])),
  priority: v.optional(v.picklist(priorities)),
  quick_replies: v.optional(quickReplies),
  reference: v.optional(reference),
  send_at: v.optional(pointInTimeOrSeconds),
  valid_for: v.optional(duration('seconds', 60, MAX_VALIDITY)),
  dry_run: v.optional(v.boolean()),
  plan: v.optional(v.pipe(text, atMost(100))),
  between: v.optional(betweenTimesIfAny),
  time_zone: v.optional(hoursZone),
  urgent: v.optional(v.boolean()),
};

/** Most recipients of a message, and most messages of a request. */
const MAX_RECIPIENTS = 10_000;
const MAX_MESSAGES = 1_000;

/** The response to a message to one user. */
export const accepted = v.object({ id: v.string() });

const acceptedForMany = v.object({
  job_id: v.string(),
  messages: v.pipe(v.number(), v.metadata({ type: 'integer' })),
});

const wholeCount = v.pipe(v.number(), v.metadata({ type: 'integer' }));

/** The response to a request with `dry_run`. */
const forecast = v.object({
  dry_run: v.boolean(),
  messages: wholeCount,
  valid: wholeCount,
  duplicates: wholeCount,
  not_registered: wholeCount,
  stopped: wholeCount,
  outside_hours: wholeCount,
  outside_hours_until: v.optional(v.string()),
  estimated_end: v.string(),
  plan: v.string(),
});

export const messageStatus = v.object({
  id: v.string(),
  contact: v.string(),
  job_id: v.string(),
  payload_type: v.string(),
  reference: v.optional(v.string()),
  states: responseList(
    v.object({
      state: v.pipe(v.string(), v.metadata({ enum: ['scheduled', ...states] })),
      created: v.string(),
      reason: v.optional(v.picklist(reasonCodes)),
    }),
  ),
  waits_until: v.optional(v.string()),
});

/** What a forecast reads and writes. */
const ofForecast = ['chargeAllowance', 'checkOptOut', 'findContacts', 'listPendingBatches', 'findBatches'] as const;

/** What both endpoints have in common that send messages to users. */
const toUsers = {
  area: 'messages',
  mostErrors: 100,
  token: 'header',
  permission: 'messages',
  query: v.object({ job_id: v.optional(uuid), job_reference: v.optional(reference) }),
  headers: idempotencyKey,
  problems: ['idempotency_key_reused', 'job_cancelled', 'plan_differs', 'allowance_exceeded'],
} as const;

export const messages = {
  sendMessage: define({
    ...toUsers,
    summary: 'Send a message to a user of the app, or to many.',
    routes: [
      { host: 'base', method: 'POST', path: '/v1/message' },
      { host: 'bridge', method: 'POST', path: '/v1/message' },
    ],
    body: {
      type: 'json',
      schema: v.intersect([
        v.object({ to: oneOrList(phoneNumber, { max: MAX_RECIPIENTS, of: 'numbers' }), ...sending }),
        content,
      ]),
    },
    responses: { 200: v.union([accepted, acceptedForMany, forecast]) },
    hashes: true,
    wakes: true,
    table: [
      'findMedia',
      'findAccount',
      'findWritten',
      'findIdempotencyKey',
      'acceptMessage',
      'acceptMessages',
      'findJob',
      'putJob',
      'updateJob',
      'putUpload',
      'writeChunks',
      'acceptBatch',
      ...ofForecast,
    ],
  }),

  sendMessages: define({
    ...toUsers,
    summary: 'Send several messages, each to one user of the app.',
    routes: [
      { host: 'base', method: 'POST', path: '/v1/messages' },
      { host: 'bridge', method: 'POST', path: '/v1/messages' },
    ],
    body: {
      type: 'json',
      schema: listOf(v.intersect([v.object({ to: phoneNumber, ...sending }), content]), {
        min: 1,
        max: MAX_MESSAGES,
        of: 'messages',
      }),
    },
    responses: {
      200: v.union([
        v.object({
          job_id: v.string(),
          messages: responseList(v.object({ to: v.string(), id: v.string() })),
        }),
        forecast,
      ]),
    },
    hashes: true,
    table: [
      'findMedia',
      'findAccount',
      'findIdempotencyKey',
      'acceptMessages',
      'putUpload',
      'writeChunks',
      'acceptBatch',
      'findJob',
      'putJob',
      'updateJob',
      ...ofForecast,
    ],
  }),

  readMessage: define({
    area: 'messages',
    summary: 'Read a message, with the states that it has reached.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/message/{id}' }],
    token: 'header',
    permission: 'messages',
    path: v.object({ id: idOfAnything }),
    responses: { 200: messageStatus },
    problems: ['message_not_found'],
    table: ['listStates', 'findBatch', 'findChunk'],
  }),
} as const;
