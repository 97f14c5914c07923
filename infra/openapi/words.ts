/** The texts of the API description: overview, areas, endpoints, problems, and fields. */

import type { Area } from '../../shared/api/endpoint.ts';
import type { EndpointName } from '../../shared/api/index.ts';
import type { ProblemCode } from '../../shared/core/problems.ts';

export const overview = `The service through which organisations message and survey the users of a mobile app.

**Token.** The operator issues it. Send \`Authorization: Bearer TOKEN\`; \`Token TOKEN\` and the bare token work too. Each
endpoint requires a permission of the token.

**Formats.** Times are UTC with microseconds and without a zone, \`2022-03-28T09:58:09.118000\`. Phone numbers are in
international format without \`+\`, 7 to 15 digits. Ids are lower-case UUIDs; requests may contain capital letters. Bodies
are UTF-8, without a byte order mark, and not compressed. Unknown fields and parameters are ignored.

**Pagination.** A list that does not fit into one response has a \`Link: …; rel="next"\` header. Follow it until a response
has none.

**Idempotency.** If a request supports \`Idempotency-Key\`, it can be repeated: the same key and request return the first
response, and create nothing new. To repeat an answer or a deletion, no key is needed.

**Errors** are problem documents (RFC 9457). \`code\` is stable, \`detail\` explains what to do, \`errors\` lists the
validation errors of an \`invalid_request\`, and \`trace_id\` identifies the request in our logs. \`type\` is the URL of the
explanation, under \`components.responses\`. API Gateway itself returns some errors, as \`{"message": …}\`: 401 without a
token, 403 if the token is not valid, 404 if the route does not exist, 413 over its limits, 429 when throttled, 431 if
headers are too long, 500 if a function fails, and 503 if it takes more than 30 seconds. On the bridge host, a path that
does not exist returns 401 without a token, and 404 \`address_not_found\` with one. Below \`/media\`, it returns 404 without a token.`;

/** The areas of the API, in the order of the reference. */
export const areas: Record<Area, { name: string; says: string }> = {
  messages: { name: 'Messages', says: 'Texts, images and files to users of the app.' },
  media: { name: 'Media', says: 'Upload images and files. Their datafree URLs expire after 30 days.' },
  stats: { name: 'Statistics', says: 'Delivery log and message counts.' },
  'user-data': {
    name: 'User data',
    says: 'Ask users for properties of their profile, and retrieve what they granted.',
  },
  profilers: { name: 'Research profilers', says: "Questions with options, and panelists' answers." },
  bridge: { name: 'Bridge', says: 'Requests of chat platforms. On the bridge host.' },
  app: { name: 'App network', says: 'Only for the servers of the mobile app. On the bridge host.' },
  description: { name: 'Description', says: 'This document.' },
};

/** Details of each endpoint, after its summary, in Markdown. */
export const explanations: Record<EndpointName, string> = {
  readApiDescription: 'OpenAPI 3.1, with the hosts of this service. Needs no token.',
  createProfiler: `Options are lower-cased, and equal ones are merged. The response has the id of each option:
\`options[text.toLowerCase()]\`. Question and options take at most 350 KB together.`,
  listProfilers: 'Returns the whole list. Responses over 5 MB are paginated with a `Link` header.',
  readProfiler: "Another account's profiler returns the same 404 as one that does not exist.",
  deleteProfiler: 'Its answers are removed shortly afterwards.',
  answerProfiler: `A panelist has one answer to a profiler, and the first one is final. Repeating it returns 204; another option
returns 409. The profiler must belong to your account, and the number to a registered panelist.`,
  sendMessage: `An accepted message is delivered, or logged as failed. Messages to the same number are delivered in the order in which
they were accepted. Images and files need a datafree URL of your own account (\`POST /v1/upload_image\`, \`/v1/upload_file\`).`,
  uploadImage: `PNG, JPEG, GIF or WebP. The service detects the type from the content, not from the name. Anyone who has the URL
can open it for 30 days; only your account can send it.`,
  uploadFile: 'The same types as for images, and PDF.',
  readMedia: `Returns an uploaded file, with headers that let a browser display it and nothing else. It may be cached until it
expires. Needs no token: the URL is the secret. Returns 410 after 30 days, and 404 after 30 more.`,
  receiveRapidproMessage: `For a channel of the type _External API_ (form fields). The number is in \`to_no_plus\`, or in \`to\`. Quick replies are
repeated fields. Each part of a long text is a message. A repeat (same \`id\`, text and quick replies) is accepted and not sent
again, unless the message has failed. A blank text is accepted, and nothing is sent: the response has no \`id\`.`,
  receiveTurnMessage: `The path contains the token, in base64url without padding. Texts, images and documents are accepted, in the format of the
Channel API and of WhatsApp. Ordinary webhooks of Turn return 200 and are ignored. If the operator has set the channel's
\`hmac_secret\`, \`X-Turn-Hook-Signature\` must be valid.`,
  receiveTestMessage: `The message is logged and sent to your platform. The platform's replies are sent to \`from\`, as if that user had
written to the bot in the app.`,
  receiveAppEvents: `A repeated \`id\` has no effect. Events about one user are applied in the order of the batch. If an event is rejected,
\`errors\` contains its position (\`events_refused\`). Each later event about the same user is held back and listed too. All
other events are applied. Correct or remove the rejected events, and send all again in the same order. After a 503, also send
all again: if an event failed, no later event about that user was applied.

\`timestamp\` is optional: when the data was true. A \`user.updated\` does not change a property, or \`panelist\`, for which newer
data is known. It does not register a user who was removed at that time or later, in the last seven days. A \`user.removed\`
removes only older data. Without \`timestamp\`, an event counts as newer than all known data. In this case, repeat an event until
it is accepted before you send a later one about the same user.`,
  startUserDataRequest: `The app asks the user for properties that need approval; the other properties are granted at once. A request for only
such properties is completed at once. A request is stored for 30 days.`,
  fetchUserData: `The status is \`pending\` until the user has answered for every property. With \`long_poll\`, the call waits, and ends within
a second after the answer. Granted values never change afterwards. Another account's request returns the same 404 as one that
does not exist.`,
  retrieveUserData:
    'For properties that need no approval: `device_platform`, `app_version`, `device_make`, `device_model`.',
  listLogs: `One entry for each state that a message reached, newest first. The default period is the last 30 days. Filters combine.
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
  bot_not_found: 'your account has no bot with this number',
  profiler_not_found:
    'the profiler does not exist, was deleted, or belongs to another account; the API does not reveal which',
  request_not_found:
    'the request does not exist, has expired, or belongs to another account; the API does not reveal which',
  user_not_found: 'the number is not registered with the app',
  media_not_found: 'the URL is not complete, or the file was deleted',
  already_answered: 'the panelist chose another option before; the first answer is final',
  media_expired: '30 days have passed; upload the file again',
  file_too_large: 'reduce the file to at most 4 MB (4,194,304 bytes)',
  unsupported_media_type: 'send the `Content-Type` that `detail` names, in UTF-8 and without `Content-Encoding`',
  invalid_request: 'correct the validation errors; `errors` lists them by JSON pointer or parameter',
  events_refused: '`errors` lists each event that was not applied; correct these and send all again, in the same order',
  file_type_not_supported: 'upload one of the types that `detail` names',
  idempotency_key_reused: 'use a new key, or repeat the first request unchanged',
  option_not_found: "choose one of this profiler's options",
  panelist_not_found: 'the number does not belong to a registered panelist',
  period_too_large: 'the response would exceed 5 MB; request fewer days at a time',
  profiler_too_large: 'question and options exceed 350 KB as stored; shorten them',
  internal_error: 'send the `trace_id` to support',
  unavailable: 'retry after the seconds in `Retry-After`',
};

const TIME = 'UTC, with microseconds and without a zone: `2022-03-28T09:58:09.118000`.';

/** Descriptions of fields and parameters by name, or by `endpoint.name` if the meaning depends on the endpoint. */
export const glossary: Record<string, string> = {
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
  created: TIME,
  created_at: TIME,
  'createProfiler.options':
    'In the request, the texts: at least two that differ in more than case. In the response, ids by text.',
  cursor: 'The position of the next page, from the `Link` header.',
  detail: 'What is wrong, and what to do.',
  encoded_token: 'The token in base64url without padding, on one line.',
  end: 'Unix seconds, exclusive.',
  end_date: 'The last day, `YYYY-MM-DD`, UTC, inclusive.',
  expires_at: `When the URL expires. ${TIME}`,
  'receiveAppEvents.id': 'An id of your own. The same id is the same event.',
  file: 'One file of at most 4 MB (4,194,304 bytes).',
  from: 'The phone number of the sender.',
  job_id: 'The job in which the message is counted. Default: one job per account and day.',
  limit: 'The maximum number of entries.',
  'listLogs.contact': 'One user, as in the logs, or without the domain. Erased users have a pseudonym.',
  long_poll: 'Seconds to wait for the answer.',
  option: 'The text, in lower case.',
  panelist: "Whether the user's answers to profilers are accepted.",
  parameter: 'The name of a parameter, or of a header.',
  payload_type: '`text`, `image` or `file`; empty if unknown.',
  phone_number: 'In international format without `+`, 7 to 15 digits.',
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
  'retrieveUserData.id': "The user's phone number.",
  source: 'The origin of the value: `user` or `device`.',
  start: 'Unix seconds, inclusive. Default: 30 days ago.',
  start_date: 'The first day, `YYYY-MM-DD`, UTC, inclusive.',
  state: 'The state that the message has reached.',
  timestamp: 'When it was granted, sent, or happened. UTC, or with an offset in events of the app network.',
  title: 'The problem in a few words, the same for each code.',
  to: "The user's phone number.",
  to_no_plus: "The user's phone number. Alternatively, use `to`.",
  trace_id: 'Identifies the request in our logs.',
  url: 'A datafree URL, which expires after 30 days.',
};
