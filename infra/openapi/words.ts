/** The texts of the API description that belong to no area: overview, webhooks, problems, and common fields. */

import { type SchemaDocs, TIME } from '../../shared/api/docs.ts';
import { inDays, MEDIA_DAYS } from '../../shared/core/lifetimes.ts';
import type { ProblemCode } from '../../shared/core/problems.ts';

export const overview = `The service through which organisations message and survey the users of a mobile app.

**Token.** The operator issues it. Send \`Authorization: Bearer TOKEN\`; \`Token TOKEN\` and the bare token work too. Each
endpoint requires a permission of the token.

**Formats.** Times are UTC with microseconds and without a zone, \`2022-03-28T09:58:09.118000\`. Phone numbers are in
international format without \`+\`: 7 to 15 digits, which begin with the country code, so none begins with 0. Ids are
lower-case UUIDs; requests may contain capital letters. Bodies are UTF-8, without a byte order mark, and not compressed.

**Unknown fields** and parameters are ignored, and the header \`Ignored-Fields\` of the response lists them. A name that is
almost a known one returns 422, and the error names the known one: \`sendAt\` or \`sent_at\` in place of \`send_at\`. So does
\`access_token\` in a query. Requests of chat platforms and of the app network may have any further fields.

**Pagination.** A list that does not fit into one response has a \`Link: …; rel="next"\` header. Follow it until a response
has none.

**Idempotency.** If a request supports \`Idempotency-Key\`, it can be repeated: the same key and request return the first
response, and create nothing new. To repeat an answer or a deletion, no key is needed.

**Request limit.** Above the limit of your account, for all endpoints together, a request returns 429 \`rate_limited\` with
\`Retry-After\`. \`RateLimit-Policy\` and \`RateLimit\` show the limit, in the form of
[draft-ietf-httpapi-ratelimit-headers-11](https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-ratelimit-headers-11).

**Errors** are problem documents (RFC 9457). \`code\` is stable, \`detail\` explains what to do, \`errors\` lists the
validation errors of an \`invalid_request\`, and \`trace_id\` identifies the request in our logs. \`type\` is the URL of the
explanation, under \`components.responses\`. API Gateway itself returns some errors, as \`{"message": …}\`: 401 without a
token, 403 if the token is not valid, 404 if the route does not exist, 413 over its limits, 429 if all accounts together send too many requests, 431 if
headers are too long, 500 if a function fails, and 503 if it takes more than 30 seconds. On the bridge host, a path that
does not exist returns 401 without a token, and 404 \`address_not_found\` with one. Below \`/media\`, it returns 404 without a token.`;

/** The tags of webhooks, by destination. Generators confuse webhooks and operations that share a tag. */
export const webhookTags = {
  webhook: {
    name: 'Webhooks',
    description: 'Requests of the service to the webhook that an operator has set, or to one with version 1.',
  },
  endpoint: {
    name: 'Webhooks, version 2',
    description: 'Requests of the service to a webhook that an account manages itself.',
  },
  app: { name: 'App network webhooks', description: 'Requests of the service to the app network.' },
};

/** What to do about a problem. */
export const remedies: Record<ProblemCode, string> = {
  malformed_body: 'send complete, well-formed JSON or form data in UTF-8',
  permission_required: 'ask the operator for a token with the permission that `detail` names',
  signature_invalid: 'sign with the `hmac_secret` that the operator has set for your Turn channel',
  approval_required: 'ask the user with `POST /v1/user_data/start/{phone_number}`',
  address_not_found: 'correct the host, the method or the path; remove anything after a final slash',
  avatar_not_set: 'set an avatar with `PUT /v1/avatar`',
  bot_not_found: 'your account has no bot with this number',
  profiler_not_found:
    'the profiler does not exist, was deleted, or belongs to another account; the API does not reveal which',
  consent_not_ended: 'confirm the deletion after the consent has ended: the results show `withdrawn` or `expired`',
  request_not_found:
    'the request does not exist, has expired, or belongs to another account; the API does not reveal which',
  user_not_found: 'the number is not registered with the app, or the id belongs to no user',
  user_opted_out: 'the user has stopped your account: ask nothing until the user starts it again in the app',
  delivery_not_found:
    'the attempt does not exist, has expired, or belongs to another account; the API does not reveal which',
  claim_not_found:
    'the claim has run out, was settled, or belongs to another account; the API does not reveal which. Claim events again',
  code_not_found: 'the code was used, has expired, or is not complete: ask the operator for a new link',
  plan_differs: 'get a new plan with `dry_run`, and send the same request with it within an hour',
  not_a_session: 'revoke the token with `DELETE /v1/tokens/{token_id}`',
  not_listening: 'ask the operator to direct your events to listeners: `operator listen`',
  platform_in_use: 'ask the operator to remove the chat platform, or keep it and use no webhooks',
  webhook_exists: 'change the webhook that has this URL, or use another URL',
  webhook_limit_reached: 'delete a webhook that you no longer need',
  token_not_found: 'the token does not exist, does not work any more, or belongs to another account',
  webhook_not_found:
    'the webhook does not exist, was deleted, or belongs to another account; the API does not reveal which',
  platform_not_set_up: 'the account has no webhook; ask the operator to set it up',
  job_not_found: 'the account has no messages of this job, or they have expired; the API does not reveal which',
  audience_too_large: 'name fewer profilers, or profilers with fewer answers: at most 200,000 together',
  job_cancelled: 'the job was cancelled; send the message with another `job_id`',
  job_not_cancellable:
    'this is the job of a day, which all messages without `job_id` share; send messages with `job_id`',
  message_not_found:
    'the message does not exist, has expired, or belongs to another account; the API does not reveal which',
  media_not_found: 'the URL is not complete, or the file was deleted',
  already_answered: 'the panelist chose another option before; the first answer is final',
  media_expired: 'the URL has expired; upload the file again',
  file_too_large: 'reduce the file to the size that `detail` names',
  unsupported_media_type: 'send the `Content-Type` that `detail` names, in UTF-8 and without `Content-Encoding`',
  invalid_request: 'correct the validation errors; `errors` lists them by JSON pointer or parameter',
  events_refused: '`errors` lists each event that was not applied; correct these and send all again, in the same order',
  file_type_not_supported: 'upload one of the types that `detail` names',
  idempotency_key_reused: 'use a new key, or repeat the first request unchanged',
  option_not_found: "choose one of this profiler's options",
  panelist_not_found: 'the number does not belong to a registered panelist',
  period_too_large:
    'the response would exceed 5 MB, or the counters of the period 100 MB; request fewer days at a time',
  profiler_too_large: 'question and options exceed 350 KB as stored; shorten them',
  rate_limited:
    'retry after the seconds in `Retry-After`; send requests more evenly, or ask the operator for a higher limit',
  internal_error: 'send the `trace_id` to support',
  allowance_exceeded:
    'retry on the next day (UTC), after the seconds in `Retry-After`, or ask the operator for a higher allowance',
  unavailable: 'retry after the seconds in `Retry-After`',
};

/** Names and texts of what several areas, errors and webhooks have in common. */
export const common: SchemaDocs = {
  names: {
    send_at: 'SendTime',
    'SendTime:0': 'PointInTime',
    'SendTime:1': 'UnixSeconds',
    property: 'PropertyName',
    'Problem.code': 'ProblemCode',
    'ErrorDocument.code': 'ProblemCode',
  },
  fields: {
    'Idempotency-Key':
      'Any text of your own. The same key and request return the first response, and create nothing new.',
    code: 'A stable identifier of the problem.',
    contact: "The user: phone number, `@`, and the service's domain.",
    created: TIME,
    cursor: 'The position of the next page, from the `Link` header.',
    detail: 'What is wrong, and what to do.',
    from: 'The phone number of the sender.',
    job_id: 'The job in which the message is counted. Default: one job per account and day.',
    limit: 'The maximum number of entries.',
    parameter: 'The name of a parameter, or of a header.',
    payload_type: '`text`, `image`, `file`, `audio`, `video` or `location`; empty if unknown.',
    phone_number: 'In international format without `+`: 7 to 15 digits, which begin with the country code.',
    pointer: 'A position in the body: a JSON pointer as a URI fragment.',
    property: 'One of the properties in the table above.',
    quick_replies: 'Replies that the app offers as buttons, in this order.',
    reason: 'The purpose. The app shows it to the user.',
    required:
      'Optional, default `false`. Whether the app may warn a user who denies the property. The user may deny it all the same.',
    source: 'The origin of the value: `user` or `device`.',
    state: 'The state that the message has reached.',
    timestamp: 'When it was granted, sent, or happened. UTC, or with an offset in events of the app network.',
    title: 'The problem in a few words, the same for each code.',
    to: "The user's phone number.",
    trace_id: 'Identifies the request in our logs.',
    url: `A datafree URL, which expires after ${inDays(MEDIA_DAYS)}.`,
  },
  guarantees: { 'AcceptedMessage.id': 'id' },
};
