/** Texts, names and examples of the delivery history and listeners. */
import { HISTORY_DAYS, inDays, RETRY_DAYS } from '../../core/lifetimes.ts';
import { type AreaDocs, TIME } from '../docs.ts';
import { placeholders } from '../placeholders.ts';
import { claimedEvent, type deliveries, delivery } from './deliveries.ts';

const { user, delivery: attemptId, event, offered, claim, time } = placeholders;

const attempt = {
  id: attemptId,
  event_id: event,
  type: 'message',
  contact: `${user}@users.example.com`,
  message_id: '019a9f5e-2c16-7c5f-a7f8-091a2b3c4d5f',
  url: 'https://example.com/hook',
  attempt: 1,
  started: time,
  duration_ms: 85,
  status: 'failed',
  status_code: 404,
  response: '{"error":"There is no such path."}',
} as const;

export const deliveriesDocs: AreaDocs<typeof deliveries> = {
  name: 'Deliveries',
  description: `What your webhook received and returned in the last ${inDays(HISTORY_DAYS)}. Listeners, which replace a webhook.`,
  endpoints: {
    listDeliveries: {
      text: `Each attempt to deliver an event to your webhook, for ${inDays(HISTORY_DAYS)}: the newest event first, and of an event the newest
attempt. \`start\` and \`end\` are about the time of the event. An event of an account with RapidPro or Turn has no attempts here.
A page may be short, or even empty, and still have a next page; 204 means that nothing is left. \`response\` has at most the
first kilobyte of the body: less if it does not fit the space that is left beside the event. The last attempt of an event
keeps the whole event, whatever its size. The history is not part of the
delivery: if the table does not accept an attempt in time, the event is delivered, and the attempt is missing here.`,
      names: { 'query.status': 'DeliveryStatus' },
      examples: {
        shows: 'An event that the webhook rejected',
        query: { status: 'failed', limit: '10' },
        answer: [attempt],
      },
    },
    readDelivery: {
      text: "One attempt. Another account's returns the same 404 as one that does not exist.",
      examples: { shows: 'The attempt', path: { delivery_id: attemptId }, answer: attempt },
    },
    replayDelivery: {
      text: `Sends the event again, whatever became of it, with the same \`webhook-id\`, a new timestamp and a new signature. It
follows the pending events of its user, and is retried like others. If the event is pending, nothing is added, and \`status\` is
\`pending\`. The delivery log and the counters do not change.`,
      names: { 200: 'ReplayedDelivery' },
      examples: {
        shows: 'The event is sent again',
        path: { delivery_id: attemptId },
        answer: { event_id: event, status: 'queued' },
      },
    },
    recoverDeliveries: {
      text: `Sends all events again that were accepted since a time, and whose last attempt failed permanently: after an
hour of 400, 413 or 422, or after ${inDays(RETRY_DAYS)} of other failures. Events of one user keep their order. Repeating the request adds nothing: what is pending, or was
sent again since, is left out. A call handles some 500 events, or 5 MB of them. If more are left, the response has a
\`Link: …; rel="next"\` header: send the same body there, until a response has none.`,
      names: { request: 'RecoveryPeriod', 200: 'RecoveredDeliveries' },
      examples: {
        shows: 'No other event has failed',
        body: { since: '2026-11-20T09:00:00Z' },
        answer: { queued: 0, pending: 0 },
      },
    },
    claimDeliveries: {
      text: `For programs like \`operator listen\`, which forward events to a program that has no public URL. An operator directs the
events of an account to listeners; until then, the response is 409 \`not_listening\`. Each event is a complete request: send \`body\`
with \`headers\` to your program, and settle the event by its response. A claim is valid for 60 seconds. If it runs out before, the
event can be claimed again, with the same \`webhook-id\`. At most one event of a user is claimed at a time, so that the order stays.
Several listeners of an account share its events. With \`long_poll\`, the call waits until an event can be claimed; such calls share
the limit \`long_polls\` of the account. If nothing can be claimed, or no more calls may wait, the response is 204.`,
      examples: {
        shows: 'A user has stopped the account',
        query: { limit: '1', long_poll: '20' },
        answer: [
          {
            claim,
            claimed_until: time,
            event_id: offered,
            type: 'user',
            contact: `${user}@users.example.com`,
            attempt: 1,
            headers: {
              'content-type': 'application/json',
              'content-length': '70',
              'webhook-id': offered,
              'webhook-timestamp': '1795168689',
              'webhook-signature': 'v1,q2pT3XzV1xjQpl5FjRZ7Zc4wT2qSg0m8n5cKk1uYb3M=',
            },
            body: `{"user":{"contact":"${user}@users.example.com","state":"stopped"}}`,
          },
        ],
      },
    },
    settleDelivery: {
      text: `Reports what your program returned, and settles the event as for a webhook: 2xx ends it. Anything else is repeated
after 1.5 seconds, and then after growing pauses, for ${inDays(RETRY_DAYS)}; 400, 413 and 422 after these pauses, for one hour. An
event that failed delays later events of its user. A 429 with \`retry_after\` delays only this user's events. Each attempt is in
the delivery history. If the claim has run out, was settled before, or belongs to another account, the response is 404, and
nothing changes.`,
      names: { request: 'ProgramResponse', 200: 'SettledEvent' },
      examples: {
        shows: 'The program accepted it',
        body: { claim, status_code: 204, duration_ms: 12 },
        answer: { status: 'delivered' },
      },
    },
  },
  schemas: { Delivery: delivery, ClaimedEvent: claimedEvent },
  names: { since: 'SendTime', until: 'SendTime', 'Delivery.status': 'DeliveryStatus' },
  fields: {
    attempt: 'The number of requests with this event so far, with this one. It begins again with each replay.',
    duration_ms: 'Milliseconds from the beginning of the request to the end of the response.',
    error: `Why there was no response: \`timeout\`, \`no_connection\`, \`invalid_response\`, \`address_not_public\`, \`address_not_https\` or \`not_set_up\`. \`circuit_open\`: the event failed after ${inDays(RETRY_DAYS)} without a further request, because all requests to the webhook failed.`,
    event_id: 'The id of the event: the `webhook-id` of all its requests.',
    'Delivery.id': 'The id of the attempt. It begins with the id of the event.',
    'Delivery.message_id': 'The id of the message, if the event is about one and is kept.',
    'Delivery.reference': 'Your `reference` of the message or the request that the event is about.',
    'listDeliveries.reference': 'Only events about messages or requests with this `reference`.',
    'Delivery.response': 'The beginning of the body of the response.',
    'Delivery.status': '`succeeded`, if the webhook returned 2xx; else `failed`.',
    'Delivery.type': 'The type of the event: the name of the field in its body.',
    'Delivery.url': 'The URL of the webhook, without user, password, query and fragment.',
    claim: 'The `claim` of a claimed event.',
    'ClaimedEvent.claim': 'What settles the event.',
    claimed_until: `When the claim runs out. ${TIME}`,
    'ClaimedEvent.attempt': 'The number of this attempt: 1 for the first one.',
    'ClaimedEvent.body': 'The body of the request, exactly as it is signed.',
    'ClaimedEvent.headers': 'The headers of the request, with its id, time and signature.',
    'ClaimedEvent.type': 'The type of the event: the name of the field in its body.',
    'claimDeliveries.limit': 'The maximum number of events.',
    'claimDeliveries.long_poll': 'Seconds to wait for an event.',
    'ProgramResponse.duration_ms': 'Milliseconds until the response, for the delivery history.',
    'ProgramResponse.error': 'Why there was no response. Only counts without `status_code`. Default: `no_connection`.',
    'ProgramResponse.response': 'The beginning of its body, for the delivery history, which keeps a kilobyte.',
    'ProgramResponse.retry_after': 'The header `Retry-After` of the response.',
    'ProgramResponse.status_code': 'The status of the response; missing if there was none.',
    'SettledEvent.next_attempt': `When the event can be claimed again. ${TIME}`,
    'SettledEvent.status':
      '`delivered`: your program accepted it. `pending`: it can be claimed again at `next_attempt`. `failed`: it has failed permanently. `gone`: it was settled before, or its user was erased.',
    delivery_id: 'The `id` of a delivery.',
    'listDeliveries.limit': 'The maximum number of attempts.',
    'listDeliveries.status': 'Only attempts with this status.',
    'listDeliveries.start':
      'Only events that were accepted then or later: RFC 3339, also without a zone (UTC), or Unix seconds.',
    'listDeliveries.end':
      'Only events that were accepted before then: RFC 3339, also without a zone (UTC), or Unix seconds.',
    next_attempt: `When the next attempt was planned; missing if none follows. ${TIME}`,
    'RecoveredDeliveries.pending': 'Events that are in the outbox already.',
    queued: 'Events that are sent again.',
    'ReplayedDelivery.status': '`queued`: the event is sent again. `pending`: it is in the outbox already.',
    since: 'Events that were accepted then or later: RFC 3339 (without a zone: UTC), or Unix seconds.',
    'Delivery.started': `When the attempt began. ${TIME}`,
    status_code: 'The status of the response.',
    until: 'Events that were accepted before then, as `since` (without a zone: UTC). Default: now.',
  },
  guarantees: { 'Delivery.event_id': 'id', 'Delivery.message_id': 'id', 'ReplayedDelivery.event_id': 'id' },
};
