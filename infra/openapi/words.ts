/** The texts of the API description: overview, areas, endpoints, problems, and fields. */

import type { Area } from '../../shared/api/endpoint.ts';
import type { EndpointName } from '../../shared/api/index.ts';
import {
  DAYS_AHEAD,
  DELETION_MEMORY_DAYS,
  ENDED_CONSENT_DAYS,
  EXPIRED_MEDIA_DAYS,
  HISTORY_DAYS,
  inDays,
  LOG_PERIOD_DAYS,
  MEDIA_DAYS,
  RETRY_DAYS,
} from '../../shared/core/lifetimes.ts';
import type { ProblemCode } from '../../shared/core/problems.ts';
import { schemaNames } from './names.ts';

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

/** The areas of the API, in the order of the reference. */
export const areas: Record<Area, { name: string; description: string }> = {
  messages: { name: 'Messages', description: 'Texts, images and files to users of the app.' },
  jobs: { name: 'Jobs', description: 'Groups of messages that a request names with `job_id`.' },
  media: {
    name: 'Media',
    description: `Upload images and files. Their datafree URLs expire after ${inDays(MEDIA_DAYS)}.`,
  },
  stats: { name: 'Statistics', description: 'Delivery log and message counts.' },
  'user-data': {
    name: 'User data',
    description: 'Ask users for properties of their profile, and retrieve what they granted.',
  },
  users: { name: 'Users', description: 'Who of your contacts uses the app.' },
  account: { name: 'Account', description: 'Your own token, settings, name and avatar.' },
  profilers: { name: 'Research profilers', description: "Questions with options, and panelists' answers." },
  bridge: { name: 'Bridge', description: 'Requests of chat platforms. On the bridge host.' },
  deliveries: {
    name: 'Deliveries',
    description: `What your webhook received and returned in the last ${inDays(HISTORY_DAYS)}. Listeners, which replace a webhook.`,
  },
  app: { name: 'App network', description: 'Only for the servers of the mobile app. On the bridge host.' },
  description: { name: 'Description', description: 'This document.' },
};

/** The tags of webhooks, by destination. Generators confuse webhooks and operations that share a tag. */
export const webhookTags = {
  webhook: { name: 'Webhooks', description: 'Requests of the service to the webhook of an account.' },
  app: { name: 'App network webhooks', description: 'Requests of the service to the app network.' },
};

/** Details of each endpoint, after its summary, in Markdown. */
export const explanations: Record<EndpointName, string> = {
  readApiDescription: 'OpenAPI 3.1, with the hosts of this service. Needs no token.',
  createProfiler: `Options are lower-cased, and equal ones are merged. The response has the id of each option:
\`options[text.toLowerCase()]\`. Question and options take at most 350 KB together.`,
  listProfilers: `Returns the whole list. Responses over 5 MB are paginated with a \`Link\` header. If many profilers were deleted in the last
week, a page may be short, or even empty, and still have a next page.`,
  readProfiler: "Another account's profiler returns the same 404 as one that does not exist.",
  deleteProfiler: 'Its answers are removed shortly afterwards.',
  answerProfiler: `A panelist has one answer to a profiler, and the first one is final. Repeating it returns 204; another option
returns 409. The profiler must belong to your account, and the number to a registered panelist. A number that is not a
panelist's counts against the daily allowance of phone numbers (\`POST /v1/contacts\`).`,
  answerProfilers: `The body is an array of answers. Each one is judged by itself, and \`results\` has their statuses in the same
order: 204 recorded, now or before; 409 the panelist chose another option before; 422 with the \`code\` of the problem. The
response is 200 in each case. Answers of one panelist to one profiler are recorded in the order of the array. Repeating the
request changes nothing; after a 503, send all again.

Numbers that are not panelists' count against the daily allowance of phone numbers (\`POST /v1/contacts\`). If less is left than
the request has different numbers, it returns 429 \`allowance_exceeded\`, and nothing is recorded.`,
  countAudience: `How many panelists chose one of \`option_ids\` in each profiler of \`all\`: at most five of your own profilers, each one
once. The count is rounded down to a multiple of ten. Fewer than ten are not counted: \`{"count": null, "fewer_than": 10}\`.
Answers of the last second may be missing, and those of users who were removed from the app are excluded. The profilers may
have 200,000 answers together, else the request returns 422 \`audience_too_large\`.

Each request counts against the daily allowance of your account: 100 audiences unless the operator has set another one.
Above it, the request returns 429 \`allowance_exceeded\`.`,
  listAnswers: 'Sorted by phone number. Answers of users who were removed from the app are erased.',
  readResults: `\`total\` is the number of answers, and \`count\` of those to each option. New answers are included after some two
seconds; answers of users who are removed from the app are excluded.`,
  sendMessage: `An accepted message is delivered, or logged as failed. Messages to the same number are delivered in the order in which
they were accepted. Images and files need a datafree URL of your own account (\`POST /v1/upload_image\`, \`/v1/upload_file\`).

\`to\` is one number, or a list of up to 10,000. A list returns \`job_id\` and the number of messages instead of \`id\`: duplicate numbers
count once, and without \`job_id\` the list gets a job of its own. A request with at most 25 messages and 1 MB, and neither
\`send_at\` nor the priority \`low\`, keeps its place in the order of messages. Messages of longer lists become part of the logs
within minutes, and a message to one user that you send later may overtake them.
\`recipient_type\`, \`priority\` of a single message and \`text.allow_merge\` are accepted and have no effect.

With \`send_at\`, the message is sent later, within a minute of that time. \`GET /v1/message/{message_id}\` returns \`scheduled\` until then.

With \`valid_for\`, a message that the app network does not have in time becomes \`sending_failed\` with the reason \`expired\`,
within two minutes. With \`job_id\`, \`DELETE /v1/jobs/{job_id}\` stops the messages that are still pending.`,
  sendMessages: `All messages are accepted, or none. Messages to the same number are delivered in the order of the request. The highest
priority of the messages counts for all, and \`send_at\` must be the same. Without \`job_id\`, the request gets a job of its own.`,
  readJob: `What became of the messages of a job so far. Works for the job of a \`job_id\`, and for the job of a day, which the messages
without a \`job_id\` share. The counts are those of \`GET /v1/stats/jobs\`, over all days and payload types; they are some two
seconds late. The permission is \`messages\`, so that whoever sends and stops a job also sees it; the response names no user.`,
  cancelJob: `Stops the pending messages of a job. From one second after the response, no attempt to deliver one of them begins. An
attempt under way may finish, and its state counts. Every other message becomes \`sending_failed\` with the reason
\`cancelled\`, within two minutes. A new message with this \`job_id\` returns 409. Repeating the request changes nothing.
Messages without a \`job_id\` share the job of their day, which cannot be cancelled.`,
  uploadImage: `PNG, JPEG, GIF or WebP. The service detects the type from the content, not from the name. Anyone who has the URL
can open it for ${inDays(MEDIA_DAYS)}; only your account can send it.`,
  uploadFile: 'The same types as for images, and PDF.',
  readMedia: `Returns an uploaded file, with headers that let a browser display it and nothing else. It may be cached until it
expires. Needs no token: the URL is the secret. Returns 410 after ${inDays(MEDIA_DAYS)}, and 404 after ${EXPIRED_MEDIA_DAYS} more.`,
  readMessage: `The states that the message has reached so far, oldest first, as in the logs; its content is not stored. Works for messages to
users and from users. A message of a request with many has the state \`scheduled\` until it is in the logs. Another account's message returns the same 404 as one that does not exist.`,
  receiveRapidproMessage: `For a channel of the type _External API_ (form fields). The number is in \`to_no_plus\`, or in \`to\`. Quick replies are
repeated fields. Each part of a long text is a message. A repeat (same \`id\`, text and quick replies) is accepted and not sent
again, unless the message has failed. A blank text is accepted, and nothing is sent: the response has no \`id\`.`,
  receiveTurnMessage: `The path contains the token, in base64url without padding. Texts, images and documents are accepted, in the format of the
Channel API and of WhatsApp. Ordinary webhooks of Turn return 200 and are ignored. If the operator has set the channel's
\`hmac_secret\`, \`X-Turn-Hook-Signature\` must be valid.`,
  receiveTestMessage: `The message is logged and sent to your platform. The platform's replies are sent to \`from\`, as if that user had
written to the bot in the app.`,
  listDeliveries: `Each attempt to deliver an event to your webhook, for ${inDays(HISTORY_DAYS)}: the newest event first, and of an event the newest
attempt. \`start\` and \`end\` are about the time of the event. An event of an account with RapidPro or Turn has no attempts here.
A page may be short, or even empty, and still have a next page; 204 means that nothing is left. \`response\` has at most the
first kilobyte of the body: less if it does not fit the space that is left beside the event. The last attempt of an event
keeps the whole event, whatever its size. The history is not part of the
delivery: if the table does not accept an attempt in time, the event is delivered, and the attempt is missing here.`,
  readDelivery: "One attempt. Another account's returns the same 404 as one that does not exist.",
  replayDelivery: `Sends the event again, whatever became of it, with the same \`webhook-id\`, a new timestamp and a new signature. It
follows the pending events of its user, and is retried like others. If the event is pending, nothing is added, and \`status\` is
\`pending\`. The delivery log and the counters do not change.`,
  recoverDeliveries: `Sends all events again that were accepted since a time, and whose last attempt failed permanently: after an
hour of 400, 413 or 422, or after ${inDays(RETRY_DAYS)} of other failures. Events of one user keep their order. Repeating the request adds nothing: what is pending, or was
sent again since, is left out. A call handles some 500 events, or 5 MB of them. If more are left, the response has a
\`Link: …; rel="next"\` header: send the same body there, until a response has none.`,
  claimDeliveries: `For programs like \`operator listen\`, which forward events to a program that has no public URL. An operator directs the
events of an account to listeners; until then, the response is 409 \`not_listening\`. Each event is a complete request: send \`body\`
with \`headers\` to your program, and settle the event by its response. A claim is valid for 60 seconds. If it runs out before, the
event can be claimed again, with the same \`webhook-id\`. At most one event of a user is claimed at a time, so that the order stays.
Several listeners of an account share its events. With \`long_poll\`, the call waits until an event can be claimed; such calls share
the limit \`long_polls\` of the account. If nothing can be claimed, or no more calls may wait, the response is 204.`,
  settleDelivery: `Reports what your program returned, and settles the event as for a webhook: 2xx ends it. Anything else is repeated
after 1.5 seconds, and then after 1, 2, 10, 30 minutes and more, for ${inDays(RETRY_DAYS)}; 400, 413 and 422 after these minutes, for one hour. An
event that failed delays later events of its user. A 429 with \`retry_after\` delays only this user's events. Each attempt is in
the delivery history. If the claim has run out, was settled before, or belongs to another account, the response is 404, and
nothing changes.`,
  receiveAppEvents: `The body is an array of events; a single event without the array is accepted too. A repeated \`id\` has no effect. Events about one user are applied in the order of the batch. If an event is rejected,
\`errors\` contains its position (\`events_refused\`). Each later event about the same user is held back and listed too. All
other events are applied. Correct or remove the rejected events, and send all again in the same order. After a 503, also send
all again: if an event failed, no later event about that user was applied.

\`timestamp\` is optional: when the data was true. A \`user.updated\` does not change a property, or \`panelist\`, for which newer
data is known. It does not register a user who was removed at that time or later, in the last ${inDays(DELETION_MEMORY_DAYS)}. A \`user.removed\`
removes only older data. Without \`timestamp\`, an event counts as newer than all known data. In this case, repeat an event until
it is accepted before you send a later one about the same user.

\`user.stopped\` and \`user.started\` are about the user \`from\` and the business of the bot \`to\`. From a stop on, nothing of
this business is delivered to the user. Older data does not change a newer opt-out.

\`user_data.withdrawn\` ends the user's consent to some properties of the request \`id\`. A property that the user has not answered
yet is denied. It also works after the request has expired.

\`id\` in the data of \`user.updated\` is your own id of the user: a UUID, by which businesses can find the user. An id belongs to
one number. If it comes with another number, the user has changed the number: the previous one is removed, as by
\`user.removed\`.`,
  startUserDataRequest: `The app asks the user for properties that need approval; the other properties are granted at once. A request for only
such properties is completed at once. A request is stored for 30 days, unless the operator has set another time.

With \`valid_days\`, the consent expires so many days after each release. A user may withdraw it at any time. Then the results
show \`withdrawn\` or \`expired\` instead of the value, and your webhook is notified. Delete your copy of the values, and
confirm it with \`POST /v1/user_data/{request_id}/deleted\`. If the user has stopped your account, a new request
returns 403 \`user_opted_out\`.`,
  acknowledgeDeletion: `Confirms that you have deleted your copy of all properties of the request whose consent has ended, because the
user withdrew it, was removed from the app, or because it has expired. Until then, the operator sees the deletion as
outstanding. Repeating the request changes nothing. It also works after the request has expired, until ${inDays(ENDED_CONSENT_DAYS)} after the end.`,
  fetchUserData: `The status is \`pending\` until the user has answered for every property. With \`long_poll\`, the call waits, and ends within
a second after the answer. Granted values do not change afterwards, until the consent ends. Another account's request returns the same 404 as one that
does not exist.

An account has a limited number of simultaneous long polls, 50 unless the operator has set another limit. Above it, a pending
request returns \`pending\` at once. If it comes sooner than \`long_poll\` seconds, wait a few seconds before the next call.`,
  retrieveUserData: `For properties that need no approval: the table of properties shows them as granted at once. A number that is not
registered counts against the daily allowance of phone numbers (\`POST /v1/contacts\`).`,
  matchContacts: `Returns the contacts that are registered, as given and in the same order. With \`hashed: true\`, a contact is the SHA-256
of a phone number in upper-case hexadecimal: \`printf %s 27821234567 | sha256sum\`. A registration or a removal of the last
second may be missing. Duplicates count once.

Each contact counts against the daily allowance of your account: 100,000 phone numbers unless the operator has set another
one. Above it, the request returns 429 \`allowance_exceeded\`, and nothing is counted.`,
  readUser: `By phone number, or by the id of the user in the app: a UUID. \`id\` is missing if the app network has sent none. \`properties\`
has the properties that need no approval, if the app has a value. Each release is recorded. The request counts as one phone number
against the daily allowance, also if there is no such user. If the user has stopped your account, it returns 403 \`user_opted_out\`.`,
  readTokenInfo: `The token of the request: its label, its account, its permissions, when it was issued, and when it expires. \`expires\` is
null if it does not expire. Each token may do this.`,
  readConfiguration: `\`platform\` is null if the account has no chat platform; users' messages then wait for ${inDays(RETRY_DAYS)}. It is \`failing\` after
three failures in a row, until a request succeeds, and \`disabled\` after its webhook returned 410, until an operator sets it again.
\`cause\` and \`last_event\` are those of the last failure. \`pending_messages\` counts the entries that wait for the next attempt, and those behind them: users' messages,
states and other notifications. At most 50 conversations with 20 entries each are counted; \`more_pending\` is true if there are
more. \`limits\` are those of your account for all endpoints together.`,
  updateAccount: `The name that users see with your messages and requests for data. An operator approves it first: until then, it is
\`pending_name\`, and \`name\` is the one that users see. Your present name withdraws a pending one. Then the app is notified.
Invisible characters, and words with letters of several alphabets, are rejected. Some deployments need no approval.`,
  setAvatar: `A PNG, JPEG or WebP of at most 1 MB (1,048,576 bytes). The service detects the type from the content, not from the name. The
app is notified, with a URL that works until you set another avatar.`,
  readAvatar: 'The bytes as they were uploaded.',
  listLogs: `One entry for each state that a message reached, newest first. The default period is the last ${inDays(LOG_PERIOD_DAYS)}. Filters combine.
A page may be short, or even empty, and still have a next page; 204 means that nothing is left.`,
  listJobs: `The number of messages of each job and payload type that reached a state in the period: the rows of a job form a funnel.
Both days are included, in UTC, and are at most 366 days apart. The job with the latest activity comes first.`,
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
  not_listening: 'ask the operator to direct your events to listeners: `operator listen`',
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

/** The schemas of events of the app network. */
const events = Object.keys(schemaNames).flatMap((place) => (place.startsWith('AppEvent:') ? [schemaNames[place]] : []));

const TIME = 'UTC, with microseconds and without a zone: `2022-03-28T09:58:09.118000`.';

/** Descriptions of fields and parameters by name, or by `endpoint.name` or `Schema.name` if it has several meanings. */
export const glossary: Record<string, string> = {
  ...Object.fromEntries(events.map((name) => [`${name}.id`, 'An id of your own. The same id is the same event.'])),
  'AccountConfiguration.avatar': 'The URL of the avatar.',
  'AccountConfiguration.pending_name': 'The name that you have asked for, until an operator approves or rejects it.',
  'StoredAccountName.pending_name': 'The name that you have asked for, until an operator approves or rejects it.',
  'AccountConfiguration.bot_number': 'The phone number of your bot.',
  'Allowance.limit': 'The allowance for a day.',
  'AccountConfiguration.name': 'The name that users see.',
  failing_since: `When the first of the failures happened. ${TIME}`,
  last_failure: `When the last of the failures happened. ${TIME}`,
  last_event: 'The id of the event whose delivery failed last: the `webhook-id` of a webhook.',
  long_polls: 'How many calls with `long_poll` may wait at the same time.',
  more_pending: 'Whether more are pending than were counted.',
  pending_messages: 'How many entries wait for the platform.',
  requests_at_once: 'Requests after a pause, at once.',
  requests_per_second: 'Requests per second, sustained.',
  resets_at: `When the allowance is full again. ${TIME}`,
  'TokenInfo.created': `When the token was issued. ${TIME}`,
  'TokenInfo.expires': `When the token expires. ${TIME}`,
  'AvatarUpload.file': 'One file of at most 1 MB (1,048,576 bytes).',
  used: 'How much of it was used today.',
  'AccountName.name': 'At most 100 characters.',
  contacts: 'Phone numbers, or their hashes: 1 to 3,000.',
  hashed: 'Whether the contacts are hashes.',
  match_list: 'The registered contacts, as given and in the same order.',
  'UserProfile.id': "The app's id of the user: a UUID.",
  'UserProfile.number': "The user's phone number.",
  'UserProfile.properties': 'By name; without the properties that have no value.',
  'readUser.user': 'A phone number, or the id of a user in the app.',
  'Idempotency-Key':
    'Any text of your own. The same key and request return the first response, and create nothing new.',
  'If-None-Match': 'The `ETag` of your copy.',
  'X-Turn-Hook-Signature': "HMAC-SHA256 of the body with the channel's `hmac_secret`, in base64.",
  'X-Turn-Hook-Subscription': 'If present, the request is an ordinary webhook.',
  answers: '`approved` or `denied`, by property.',
  bot_phone_number: "Your bot's number.",
  business: "The account's name.",
  code: 'A stable identifier of the problem.',
  completed: `When the user had answered for every property. ${TIME}`,
  contact: "The user: phone number, `@`, and the service's domain.",
  count: 'The number of messages that reached this state.',
  'OptionCount.count': 'The number of panelists who chose this option.',
  'ProfilerResults.total': 'The number of answers.',
  'AnswerResult.status': '204 recorded, 409 another answer is final, 422 rejected.',
  all: 'The conditions that a panelist must meet.',
  option_ids: 'The options of which the panelist chose one.',
  'AudienceSize.count': 'The number of panelists, rounded down to a multiple of ten; null if there are fewer than ten.',
  'AudienceSize.fewer_than': 'Ten, if `count` is null.',
  'AnswerResult.code': 'The code of the problem; missing with 204.',
  created: TIME,
  created_at: TIME,
  'CreatedProfiler.options': 'The id of each option, by its text in lower case.',
  'NewProfiler.options': 'The texts: at least two that differ in more than case.',
  cursor: 'The position of the next page, from the `Link` header.',
  detail: 'What is wrong, and what to do.',
  encoded_token: 'The token in base64url without padding, on one line.',
  end: 'Unix seconds, exclusive. May have a fraction.',
  end_date: 'Required, unless `end` is given. The last day, `YYYY-MM-DD`, UTC, inclusive.',
  expires_at: `When the URL expires. ${TIME}`,
  file: 'One file of at most 4 MB (4,194,304 bytes).',
  from: 'The phone number of the sender.',
  cancelled: `When the job was cancelled. ${TIME}`,
  estimated_end: `When no message will be pending any more, at the present pace. ${TIME}`,
  expanded: 'How many messages are logged. The others are of batches, and follow.',
  'JobStatus.created': `When the first message was accepted. ${TIME}`,
  'JobStatus.start': `When the first message was sent, or will be. ${TIME}`,
  'JobStatus.states': 'How many messages reached each state. States that no message reached are missing.',
  'JobStatus.status':
    '`scheduled`: nothing was sent yet. `running`: messages are pending. `completed`: none is pending. `cancelled`: no further message is sent.',
  pace: 'How many messages the app network accepted in a second, lately.',
  pending:
    'How many messages may still be sent: they have neither reached the app network nor failed. After a cancellation, these are only those whose attempt may be under way; the others are logged as failed shortly afterwards.',
  recipients: 'How many messages the job has.',
  'readJob.job_id': 'The `job_id` of a message, of a log entry, or of `GET /v1/stats/jobs`.',
  'cancelJob.job_id': 'The `job_id` with which the messages were sent.',
  job_id: 'The job in which the message is counted. Default: one job per account and day.',
  limit: 'The maximum number of entries.',
  'LogEntry.id': 'The id of the message.',
  'LogEntry.reason':
    'The reason code of a failed state: `refused`, `unreachable`, `cancelled`, `expired`, `opted_out`, `bot_number_released`, `no_platform`, `user_erased` or `unknown`.',
  'listJobs.end': 'The same as `end_date`, or a time in Unix seconds: the day (UTC) that contains it.',
  'listJobs.start': 'The same as `start_date`, or a time in Unix seconds: the day (UTC) that contains it.',
  'listLogs.contact': 'One user, as in the logs, or without the domain. Erased users have a pseudonym.',
  attempt: 'The number of requests with this event so far, with this one. It begins again with each replay.',
  duration_ms: 'Milliseconds from the beginning of the request to the end of the response.',
  error: `Why there was no response: \`timeout\`, \`no_connection\`, \`invalid_response\`, \`address_not_public\`, \`address_not_https\` or \`not_set_up\`. \`circuit_open\`: the event failed after ${inDays(RETRY_DAYS)} without a further request, because all requests to the webhook failed.`,
  event_id: 'The id of the event: the `webhook-id` of all its requests.',
  'Delivery.id': 'The id of the attempt. It begins with the id of the event.',
  'Delivery.message_id': 'The id of the message, if the event is about one and is kept.',
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
  'listDeliveries.start': 'Only events that were accepted then or later, in Unix seconds.',
  'listDeliveries.end': 'Only events that were accepted before then, in Unix seconds.',
  next_attempt: `When the next attempt was planned; missing if none follows. ${TIME}`,
  'RecoveredDeliveries.pending': 'Events that are in the outbox already.',
  queued: 'Events that are sent again.',
  'ReplayedDelivery.status': '`queued`: the event is sent again. `pending`: it is in the outbox already.',
  since: 'Events that were accepted then or later: RFC 3339, or Unix seconds.',
  'Delivery.started': `When the attempt began. ${TIME}`,
  status_code: 'The status of the response.',
  until: 'Events that were accepted before then. Default: now.',
  long_poll: 'Seconds to wait for the answer.',
  option: 'The text, in lower case.',
  panelist: "Whether the user's answers to profilers are accepted.",
  parameter: 'The name of a parameter, or of a header.',
  payload_type: '`text`, `image` or `file`; empty if unknown.',
  phone_number: 'In international format without `+`: 7 to 15 digits, which begin with the country code.',
  pointer: 'A position in the body: a JSON pointer as a URI fragment.',
  property: 'One of the properties in the table above.',
  question: 'The question for the panelist.',
  quick_replies: 'Replies that the app offers as buttons, in this order.',
  quick_reply: 'Replies that the app offers as buttons, in this order: one field for each, at most 10.',
  reason: 'The purpose. The app shows it to the user.',
  recipient_type: '`individual`.',
  required:
    'Optional, default `false`. Whether the app may warn a user who denies the property. The user may deny it all the same.',
  results: 'By property; empty while the request is pending.',
  profiler_id: "The profiler's id.",
  option_id: "The option's id.",
  media_id: 'The last segment of a datafree URL.',
  request_id: 'The `requestId` of the request.',
  'fetchUserData.request_id_or_phone_number': 'The `requestId` of the request.',
  message_id: 'The id that `POST /v1/message` returned, or `id` of a log entry.',
  'retrieveUserData.request_id_or_phone_number': "The user's phone number. Validation errors name it `id`.",
  send_at: `When the message is sent, one minute to ${inDays(DAYS_AHEAD)} ahead: RFC 3339, or Unix seconds. Default: now.`,
  source: 'The origin of the value: `user` or `device`.',
  start: `Unix seconds, inclusive. May have a fraction. Default: ${inDays(LOG_PERIOD_DAYS)} ago.`,
  start_date: 'Required, unless `start` is given. The first day, `YYYY-MM-DD`, UTC, inclusive.',
  'NotifiedUser.state':
    '`stopped`: the user no longer wants messages of your account. `started`: the user wants them again.',
  state: 'The state that the message has reached.',
  timestamp: 'When it was granted, sent, or happened. UTC, or with an offset in events of the app network.',
  title: 'The problem in a few words, the same for each code.',
  to: "The user's phone number.",
  to_no_plus: "The user's phone number. Alternatively, use `to`.",
  trace_id: 'Identifies the request in our logs.',
  valid_for: `For how many seconds the message is of use, from its acceptance: 60 to ${(RETRY_DAYS * 86_400).toLocaleString('en')}. A media URL must work as long. Default: until all attempts have failed, for ${inDays(RETRY_DAYS)}.`,
  url: `A datafree URL, which expires after ${inDays(MEDIA_DAYS)}.`,
};
