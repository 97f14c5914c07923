/** The delivery history of an account's webhook, and replays. */
import * as v from 'valibot';
import { attemptPosition } from '../../delivery/entities.ts';
import { deliveryStatuses, eventTypes, listenerErrors, settlementStatuses } from '../../delivery/history/statuses.ts';
import { responseList, responseRecord } from '../../validation/bounded.ts';
import { pointInTimeOrSeconds, timeParameter } from '../../validation/point-in-time.ts';
import { atMost, idOfAnything, reference, visibleText, wholeNumber, wholeValue } from '../../validation/schemas.ts';
import { define } from '../endpoint.ts';

const wholeCount = v.pipe(v.number(), v.metadata({ type: 'integer' }));

export const delivery = v.object({
  id: v.string(),
  event_id: v.string(),
  type: v.picklist(eventTypes),
  contact: v.optional(v.string()),
  message_id: v.optional(v.string()),
  reference: v.optional(v.string()),
  webhook_id: v.optional(v.string()),
  url: v.optional(v.string()),
  attempt: wholeCount,
  started: v.string(),
  duration_ms: v.optional(wholeCount),
  status: v.picklist(deliveryStatuses),
  status_code: v.optional(wholeCount),
  error: v.optional(v.string()),
  response: v.optional(v.string()),
  next_attempt: v.optional(v.string()),
});

/** Most events that a call claims. */
const MOST_CLAIMED = 20;

export const claimedEvent = v.object({
  claim: v.string(),
  claimed_until: v.string(),
  event_id: v.string(),
  type: v.picklist(eventTypes),
  contact: v.string(),
  attempt: wholeCount,
  headers: responseRecord(v.string(), v.string()),
  body: v.string(),
});

/** The beginning of what a program returned, which may end within a character: half of a surrogate pair becomes U+FFFD. */
const excerpt = (count: number) =>
  v.pipe(
    v.string(),
    atMost(count),
    v.transform((value) => value.toWellFormed()),
  );

const path = v.object({ delivery_id: idOfAnything });

export const deliveries = {
  listDeliveries: define({
    area: 'deliveries',
    summary: 'List the attempts to deliver events to your webhook, newest event first.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/deliveries' }],
    token: 'header',
    permission: 'bridge',
    query: v.object({
      limit: v.optional(wholeNumber(1, 500), '100'),
      status: v.optional(v.picklist(deliveryStatuses)),
      reference: v.optional(reference),
      webhook_id: v.optional(idOfAnything),
      start: v.optional(timeParameter),
      end: v.optional(timeParameter),
      cursor: v.optional(v.string()),
    }),
    position: v.pipe(v.string(), v.regex(new RegExp(`^${attemptPosition}$`))),
    responses: { 200: responseList(delivery), 204: null },
    problems: [],
    table: ['listAttempts'],
  }),

  readDelivery: define({
    area: 'deliveries',
    summary: 'Read an attempt to deliver an event to your webhook.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/deliveries/{delivery_id}' }],
    token: 'header',
    permission: 'bridge',
    path,
    responses: { 200: delivery },
    problems: ['delivery_not_found'],
    table: ['findAttempt'],
  }),

  replayDelivery: define({
    area: 'deliveries',
    summary: 'Send the event of an attempt to your webhook again.',
    routes: [{ host: 'base', method: 'POST', path: '/v1/deliveries/{delivery_id}/replay' }],
    token: 'header',
    permission: 'bridge',
    path,
    responses: { 200: v.object({ event_id: v.string(), status: v.picklist(['queued', 'pending']) }) },
    problems: ['delivery_not_found', 'platform_not_set_up'],
    hashes: true,
    table: ['listAttempts', 'findAccount', 'findEntry', 'replayEvents'],
  }),

  recoverDeliveries: define({
    area: 'deliveries',
    summary: 'Send the events to your webhook again that have failed permanently since a time.',
    routes: [{ host: 'base', method: 'POST', path: '/v1/deliveries/recover' }],
    token: 'header',
    permission: 'bridge',
    query: v.object({ cursor: v.optional(v.string()) }),
    // A slot, and in it the last attempt.
    position: v.pipe(v.string(), v.regex(new RegExp(`^(?:\\d|1[0-5])(?: ${attemptPosition})?$`))),
    body: {
      type: 'json',
      schema: v.object({
        since: pointInTimeOrSeconds,
        until: v.optional(pointInTimeOrSeconds),
        webhook_id: v.optional(idOfAnything),
      }),
    },
    responses: {
      200: v.object({
        queued: wholeCount,
        pending: wholeCount,
      }),
    },
    problems: ['platform_not_set_up'],
    hashes: true,
    table: ['listAttempts', 'findAccount', 'findEntry', 'replayEvents'],
  }),

  claimDeliveries: define({
    area: 'deliveries',
    summary: 'Claim the next events for your webhook, to deliver them yourself.',
    routes: [{ host: 'base', method: 'POST', path: '/v1/deliveries/claim' }],
    token: 'header',
    permission: 'listen',
    query: v.object({
      limit: v.optional(wholeNumber(1, MOST_CLAIMED), '10'),
      long_poll: v.optional(wholeNumber(0, 25), '0'),
    }),
    responses: { 200: responseList(claimedEvent), 204: null },
    problems: ['not_listening'],
    // API Gateway's limit is 30.
    timeout: 29,
    table: [
      'findPlatform',
      'listOffers',
      'listStates',
      'updateHead',
      'listEntries',
      'findErasure',
      'findUser',
      'updateWaits',
    ],
  }),

  settleDelivery: define({
    area: 'deliveries',
    summary: 'Settle a claimed event by the response of your program.',
    routes: [{ host: 'base', method: 'POST', path: '/v1/deliveries/settle' }],
    token: 'header',
    permission: 'listen',
    body: {
      type: 'json',
      schema: v.object({
        claim: v.pipe(visibleText, atMost(250)),
        status_code: v.optional(wholeValue(100, 599)),
        error: v.optional(v.picklist(listenerErrors)),
        retry_after: v.optional(excerpt(1_000)),
        duration_ms: v.optional(wholeValue(0, 600_000)),
        response: v.optional(excerpt(10_000)),
      }),
    },
    responses: { 200: v.object({ status: v.picklist(settlementStatuses), next_attempt: v.optional(v.string()) }) },
    problems: ['claim_not_found'],
    table: ['findEntry', 'listEntries', 'updateHead', 'removeFromOutbox', 'settleClaimed', 'putAttempt'],
  }),
} as const;
