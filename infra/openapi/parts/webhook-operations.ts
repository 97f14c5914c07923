/** Operations of the API description that others receive: webhooks. */
import { inDays, RETRY_DAYS } from '../../../shared/core/lifetimes.ts';
import { webhooks } from '../webhooks.ts';
import { webhookTags } from '../words.ts';
import { named, type Part, schemaOf } from './components.ts';

export type WebhookName = keyof typeof webhooks;

/** The descriptions of signatures and responses, by who receives the request. */
const received = {
  app: {
    description: `To the app network. Signed by [Standard Webhooks](https://www.standardwebhooks.com). A 2xx accepts it. After
408, 425, 429, 5xx or no response, it is retried in order, with growing pauses, for ${inDays(RETRY_DAYS)}. Other statuses are not
retried. Use \`webhook-id\` to recognise a repeat.`,
    rejected: 'Rejected. Not retried.',
  },
  webhook: {
    description: `To the webhook of an account. The operator sets its URL. Signed by
[Standard Webhooks](https://www.standardwebhooks.com). A 2xx accepts it. After any other status or no response, it is retried in
order, with growing pauses, for ${inDays(RETRY_DAYS)}; after 400, 413 or 422 for one hour. After a 410, the service makes no more requests
until the operator sets the webhook again. Use \`webhook-id\` to recognise a repeat.`,
    rejected: `Not accepted. Retried for ${inDays(RETRY_DAYS)}; 400, 413 and 422 for one hour. 410 disables the webhook.`,
  },
  endpoint: {
    description: `To each webhook of an account that subscribes to this type: \`POST /v1/webhooks\`. Signed by
[Standard Webhooks](https://www.standardwebhooks.com). A 2xx accepts it. After any other status or no response, it is retried in
order, with growing pauses, for ${inDays(RETRY_DAYS)}; after 400, 413 or 422 for one hour; not at all if the response has the header
\`webhook-delivery: abort-message\`. After a 410, the webhook gets no more requests until it is changed. Each attempt sends the
same bytes. \`id\` is the \`webhook-id\`: use it to recognise a repeat. New fields and types may follow: ignore those that you do
not know.`,
    rejected: `Not accepted. Retried for ${inDays(RETRY_DAYS)}; 400, 413 and 422 for one hour. 410 disables the webhook.`,
  },
};

const SIGNATURE_HEADERS = [
  ['webhook-id', 'The same for each attempt.'],
  [
    'webhook-timestamp',
    'Unix seconds of this attempt. Reject a request if it differs from your clock by more than five minutes.',
  ],
  [
    'webhook-signature',
    '`v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64. After a change of the secret there are several, separated by spaces: accept the request if one is valid.',
  ],
];

export const describeWebhook = (name: WebhookName): Part => {
  const { to, summary, schema, example } = webhooks[name];
  const operationId = `receive${name.replaceAll(/(^|[._])([a-z])/g, (_, _mark, letter) => letter.toUpperCase())}`;
  return {
    post: {
      operationId,
      tags: [webhookTags[to].name],
      summary,
      description: received[to].description.replaceAll('\n', ' '),
      security: [],
      parameters: SIGNATURE_HEADERS.map(([header, description]) => ({
        name: header,
        in: 'header',
        required: true,
        description,
        schema: { type: 'string' },
      })),
      requestBody: {
        required: true,
        content: { 'application/json': { schema: named.at(`webhook.${name}`, schemaOf(schema)), example } },
      },
      responses: { '2XX': { description: 'Accepted.' }, '4XX': { description: received[to].rejected } },
    },
  };
};
