/** Texts, names and examples of webhooks that a business manages itself. */
import { inDays, RETRY_DAYS } from '../../core/lifetimes.ts';
import { type AreaDocs, TIME } from '../docs.ts';
import { placeholders } from '../placeholders.ts';
import { webhook, webhookStatus, type webhooks } from './webhooks.ts';

const { webhook: id, testEvent, time } = placeholders;
const url = 'https://example.com/events';
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw9X2mVnVzTzE=';

const added = {
  id,
  url,
  version: 2,
  types: ['message.received', 'message.state'],
  description: 'Helpdesk',
  created: time,
  updated: time,
} as const;

export const webhooksDocs: AreaDocs<typeof webhooks> = {
  name: 'Webhook endpoints',
  description: 'The webhooks of your account: up to five, each with its own URL, secret, types, order and history.',
  endpoints: {
    createWebhook: {
      text: `Up to five, each with another URL. Events of a user are delivered to each webhook in their order, and one webhook that
fails delays no other. A new webhook receives the events from now on; the first one of an account also receives those of the last
${inDays(RETRY_DAYS)} that had no destination. \`secret\` signs the requests; it is shown in this response only. Without \`types\`, the
webhook receives all types. \`version\` is that of the requests' bodies: 2 by default, and 1 for servers that were made for a
webhook that an operator has set.

If an operator has set a webhook for the account, it becomes the first one of the list, with all types and version 1. An account
with RapidPro or Turn has no webhooks: the response is 409 \`platform_in_use\`.`,
      names: { request: 'NewWebhook', 200: 'CreatedWebhook' },
      examples: {
        shows: 'A webhook for messages from users and states of messages',
        body: { url, types: ['message.received', 'message.state'], description: 'Helpdesk', secret },
        answer: { ...added, types: ['message.received', 'message.state'], secret },
      },
    },
    listWebhooks: {
      text: `With the status of each: \`failing\`, if its last requests failed; \`disabled\`, if it returned 410 and gets no more
requests until you change it. \`GET /v1/configuration\` says how many events wait.`,
      examples: {
        shows: 'One webhook, which works',
        answer: [{ ...added, types: ['message.received', 'message.state'], status: 'working' }],
      },
    },
    updateWebhook: {
      text: `Changes what is given, from the next request on, also for events that are pending. \`null\` removes \`types\` or
\`description\`. Any change, also an empty one, enables a disabled webhook again, and makes pending events due.`,
      names: { request: 'WebhookChange' },
      examples: {
        shows: 'All types',
        path: { webhook_id: id },
        body: { types: null, description: null },
        answer: { id, url, version: 2, created: time, updated: time },
      },
    },
    testWebhook: {
      text: `Sends an event of the type \`webhook.test\` to this webhook alone: signed, retried and recorded like others.
\`GET /v1/deliveries?webhook_id=…\` shows what the webhook returned, usually within a second; later, if its last requests failed. With version 1, the body is
\`{"check":{}}\`.`,
      names: { 200: 'SentTest' },
      examples: { shows: 'The test is sent', path: { webhook_id: id }, answer: { event_id: testEvent } },
    },
    rotateWebhookSecret: {
      text: `Makes another secret. For 24 hours, requests have two signatures: one with the secret of before, and one with the
new one. So change your server within that time; meanwhile it accepts each request by one of them.`,
      names: { 200: 'NewSecret' },
      examples: {
        shows: 'Another secret',
        path: { webhook_id: id },
        answer: { secret: 'whsec_9rD0a1gk0nq0bYh0bS2oYbq7v3Jt8rYz5m1cQwXfL8s=' },
      },
    },
    deleteWebhook: {
      text: `Its pending events are dropped. After the last webhook, events wait for another one for ${inDays(RETRY_DAYS)}.`,
      examples: { shows: 'The webhook is deleted', path: { webhook_id: id } },
    },
  },
  schemas: { Webhook: webhook, WebhookStatus: webhookStatus },
  names: {
    version: 'ContractVersion',
    'NewWebhook.types[]': 'WebhookEventType',
    'WebhookChange.types[]': 'WebhookEventType',
    'Webhook.types[]': 'WebhookEventType',
    'WebhookStatus.types[]': 'WebhookEventType',
    'CreatedWebhook.types[]': 'WebhookEventType',
    'WebhookStatus.status': 'PlatformStatus',
  },
  fields: {
    webhook_id: 'The `id` of a webhook.',
    'NewWebhook.url': 'The https URL that receives the requests: a public address, without user name and password.',
    'WebhookChange.url': 'The https URL that receives the requests: a public address, without user name and password.',
    'Webhook.url': 'The URL that receives the requests.',
    'WebhookStatus.url': 'The URL that receives the requests.',
    'CreatedWebhook.url': 'The URL that receives the requests.',
    version: "The version of the requests' bodies.",
    types: 'The types of events that it receives. Default: all.',
    description: 'Your own note. Default: none.',
    'NewWebhook.secret': 'The signing secret: `whsec_` and 24 to 64 bytes in base64. Default: a new one.',
    'CreatedWebhook.secret': 'The signing secret.',
    'NewSecret.secret': 'The signing secret.',
    updated: `When it was changed last. ${TIME}`,
    'SentTest.event_id': 'The id of the event: the `webhook-id` of its requests.',
    'WebhookStatus.status':
      '`working`, `failing` if its last requests failed, or `disabled` if it returned 410 and was not changed since.',
    'WebhookStatus.failing_since': `Since when it fails. ${TIME}`,
    'WebhookStatus.last_failure': `When its last request failed. ${TIME}`,
    'WebhookStatus.cause': 'Why: `status_404`, `timeout`, or another code of deliveries.',
    'WebhookStatus.last_event': 'The id of the event whose request failed last.',
  },
  guarantees: { 'Webhook.id': 'id', 'WebhookStatus.id': 'id', 'CreatedWebhook.id': 'id', 'SentTest.event_id': 'id' },
};
