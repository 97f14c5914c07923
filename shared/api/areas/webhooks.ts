/** The webhooks that a business manages itself: their URLs, versions, types and secrets. */
import * as v from 'valibot';
import { contractVersions, subscribedTypes } from '../../destinations/endpoint-settings.ts';
import { listOf, responseList } from '../../validation/bounded.ts';
import { atMost, destinationUrl, idOfAnything, signingSecret, visibleText } from '../../validation/schemas.ts';
import { define } from '../endpoint.ts';

const version = v.picklist(contractVersions);

const types = v.pipe(
  listOf(v.picklist(subscribedTypes), { min: 1, max: subscribedTypes.length, of: 'types' }),
  v.check((list) => new Set(list).size === list.length, 'must not name a type twice'),
);

const url = v.pipe(destinationUrl, atMost(1_000));
const description = v.pipe(visibleText, atMost(200));

export const webhook = v.object({
  id: v.string(),
  url: v.string(),
  version,
  types: v.optional(responseList(v.picklist(subscribedTypes))),
  description: v.optional(v.string()),
  created: v.string(),
  updated: v.string(),
});

export const webhookStatus = v.object({
  ...webhook.entries,
  status: v.picklist(['working', 'failing', 'disabled']),
  failing_since: v.optional(v.string()),
  last_failure: v.optional(v.string()),
  cause: v.optional(v.string()),
  last_event: v.optional(v.string()),
});

const path = v.object({ webhook_id: idOfAnything });

/** The accesses of a change, and of one that makes pending events due. */
const CHANGES = ['findAccount', 'findPlatform', 'setEndpoints'] as const;
const WAKING_CHANGES = [...CHANGES, 'closeCircuit', 'listWaiting', 'listRetrying', 'updateHead'] as const;

const own = { area: 'webhooks', token: 'header', permission: 'admin' } as const;

export const webhooks = {
  createWebhook: define({
    ...own,
    summary: 'Add a webhook, which receives the events of your account.',
    routes: [{ host: 'base', method: 'POST', path: '/v1/webhooks' }],
    body: {
      type: 'json',
      schema: v.object({
        url,
        version: v.optional(version),
        types: v.optional(v.nullable(types)),
        description: v.optional(v.nullable(description)),
        secret: v.optional(signingSecret),
      }),
    },
    responses: { 200: v.object({ ...webhook.entries, secret: v.string() }) },
    problems: ['platform_in_use', 'webhook_exists', 'webhook_limit_reached'],
    table: WAKING_CHANGES,
  }),

  listWebhooks: define({
    ...own,
    summary: 'List your webhooks, and how they work.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/webhooks' }],
    responses: { 200: responseList(webhookStatus), 204: null },
    problems: ['platform_in_use'],
    table: ['findAccount', 'findPlatform', 'findCircuit'],
  }),

  updateWebhook: define({
    ...own,
    summary: 'Change a webhook, or enable it again.',
    routes: [{ host: 'base', method: 'PATCH', path: '/v1/webhooks/{webhook_id}' }],
    path,
    body: {
      type: 'json',
      schema: v.object({
        url: v.optional(url),
        version: v.optional(version),
        types: v.optional(v.nullable(types)),
        description: v.optional(v.nullable(description)),
      }),
    },
    responses: { 200: webhook },
    problems: ['platform_in_use', 'webhook_exists', 'webhook_not_found'],
    table: WAKING_CHANGES,
  }),

  rotateWebhookSecret: define({
    ...own,
    summary: 'Replace the signing secret of a webhook.',
    routes: [{ host: 'base', method: 'POST', path: '/v1/webhooks/{webhook_id}/rotate' }],
    path,
    responses: { 200: v.object({ secret: v.string() }) },
    problems: ['platform_in_use', 'webhook_not_found'],
    table: CHANGES,
  }),

  testWebhook: define({
    ...own,
    summary: 'Send a webhook a test event.',
    routes: [{ host: 'base', method: 'POST', path: '/v1/webhooks/{webhook_id}/test' }],
    path,
    responses: { 200: v.object({ event_id: v.string() }) },
    problems: ['platform_in_use', 'webhook_not_found'],
    hashes: true,
    table: ['findAccount', 'findPlatform', 'enqueueTest', 'updateHead'],
  }),

  deleteWebhook: define({
    ...own,
    summary: 'Delete a webhook, and drop its pending events.',
    routes: [{ host: 'base', method: 'DELETE', path: '/v1/webhooks/{webhook_id}' }],
    path,
    responses: { 204: null },
    problems: ['platform_in_use', 'webhook_not_found'],
    table: [...CHANGES, 'closeCircuit'],
  }),
} as const;
