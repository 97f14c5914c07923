/** What the API description says in words: of the whole, of its parts, of each endpoint, and of each problem. */

import type { Area } from '../../shared/api/endpoint.ts';
import type { EndpointName } from '../../shared/api/index.ts';
import type { ProblemCode } from '../../shared/core/problems.ts';

export const overview = `The service through which organisations message and survey the users of a mobile app.

**Token.** The operator issues it. Send \`Authorization: Bearer TOKEN\`; \`Token TOKEN\` and the bare token work too. Each
endpoint asks for a permission that the token has to have.

**Formats.** Times are UTC with microseconds and without a zone, \`2022-03-28T09:58:09.118000\`. Phone numbers are in
international format without \`+\`, 7 to 15 digits. Ids are lower-case UUIDs; capital letters are accepted in requests.
Bodies are UTF-8, without a byte order mark, and not compressed. Unknown fields and parameters are ignored.

**Lists** that do not fit into one answer go on behind a \`Link: …; rel="next"\` header: follow it until there is none.

**Repeating.** What is created with an \`Idempotency-Key\` can be repeated: the same key and request are answered as the
first time, and nothing is done twice. Repeating an answer or a deletion needs no key.

**Errors** are problem documents (RFC 9457). \`code\` is stable, \`detail\` says what to do, \`errors\` names each fault of an
\`invalid_request\`, and \`trace_id\` finds the request in our logs. \`type\` leads to the explanation, under
\`components.responses\`. API Gateway answers some requests by itself, as \`{"message": …}\`: 401 without a token, 403 with
one that is not valid, 404 where there is no such route, 413 over its limits, 429 when throttled, 431 for long headers,
500 and 503 when a function fails or takes more than 30 seconds.`;

/** The parts of the API, in the order in which they are shown. */
export const areas: Record<Area, { name: string; says: string }> = {
  messages: { name: 'Messages', says: 'Texts, images and files to users of the app.' },
  media: { name: 'Media', says: 'Images and files, at datafree addresses that work for 30 days.' },
  stats: { name: 'Statistics', says: 'What became of messages.' },
  'user-data': { name: 'User data', says: 'Properties of users: asked for, granted or denied, fetched.' },
  profilers: { name: 'Research profilers', says: "Questions with options, and panelists' answers." },
  bridge: { name: 'Bridge', says: 'Where chat platforms send. On the bridge host.' },
  app: { name: 'App network', says: 'For the servers of the mobile app alone. On the bridge host.' },
  description: { name: 'Description', says: 'What you read.' },
};

/** What an endpoint does, beyond its summary: in Markdown. */
export const explanations: Record<EndpointName, string> = {
  readApiDescription: 'OpenAPI 3.1, with the addresses of this service. Needs no token.',
  createProfiler: `Options are lower-cased, and those that are the same then are one. The answer has the id of each, so that
\`options[text.toLowerCase()]\` finds it. Question and options take at most 350 KB together.`,
  listProfilers: 'The whole list; past 5 MB it goes on behind a `Link` header.',
  readProfiler: "A profiler of another account's looks like none.",
  deleteProfiler: 'Its answers are removed soon after.',
  answerProfiler: `A panelist has one answer to a profiler: the first one stands. Repeating it is 204 again; another option is
409. The profiler has to be your own, and the number a registered panelist's.`,
  sendMessage: `It will be delivered, in the order in which messages to the same number were accepted, or logged as failed.
Images and files are named by a datafree address of your own account (\`POST /v1/upload_image\`, \`/v1/upload_file\`).`,
  uploadImage: `PNG, JPEG, GIF or WebP. What it is, its content decides, not its name. Whoever has the address can open it, for 30
days; only your account can send it.`,
  uploadFile: 'As for images, and PDF besides.',
  readMedia: `What was uploaded, with headers that let a browser show it and do nothing else. May be kept until it expires. Needs
no token: the address is the secret. 410 after 30 days, 404 after 30 more.`,
  takeRapidproMessage: `The request of a channel of the type _External API_ (form fields). The number stands in \`to_no_plus\`, or in
\`to\`. Quick replies are repeated fields. A part of a long text is a message of its own. A repeat (same \`id\`, text and quick
replies) is accepted and not sent again, unless the message has failed. A blank text is accepted, and nothing is sent:
the response has no \`id\`.`,
  takeTurnMessage: `The token stands in the path, in base64url without padding. Texts, images and documents are taken, in the shape of
the Channel API and in WhatsApp's. Ordinary webhooks of Turn are answered with 200 and ignored. Where the operator has set
the channel's \`hmac_secret\`, \`X-Turn-Hook-Signature\` has to be good.`,
  takeTestMessage: `It is logged, goes to your platform, and what that answers goes to \`from\`: exactly as if that user had written to
the bot in the app.`,
  takeAppEvents: `A repeated \`id\` is harmless. Events about one user are applied in the order of the batch. An event that is
rejected is named by its place (\`events_refused\`), and so is each later event about the same user, which is held back; all
others are applied. Correct or remove the rejected ones, and send all again in the same order. After a 503, too, send all
again: no later event was applied about a user for whom one failed.

\`timestamp\` is optional: when the data was true. A \`user.updated\` changes no property and no \`panelist\` of which newer
data is known, and registers nobody who was removed at that time or later, in the last seven days; a \`user.removed\` removes
only what is not newer. Without \`timestamp\`, an event counts as newer than all that is known: before you send a later event
about a user, repeat the earlier ones until they are accepted.`,
  startUserDataRequest: `The user is asked in the app for what needs approval; the other properties are granted at once. A request with
only such ones is completed at once. It is kept for 30 days.`,
  fetchUserData: `\`pending\` until the user has answered for every property. With \`long_poll\` the call waits, and ends within a
second after the answer. What was granted is what it was then: it never changes. Another account's request looks like none.`,
  retrieveUserData:
    'For properties that need no approval: `device_platform`, `app_version`, `device_make`, `device_model`.',
  listLogs: `An entry for each state that a message reached, newest first, of the last 30 days unless \`start\` or \`end\` say
otherwise. Filters combine. A page may be short, or even empty, and still have a next one; 204 only where nothing is left.`,
  listJobs: `The number of messages of each job and payload type that reached a state in the period, so that a job's rows read as
a funnel. Both days count, in UTC, and are at most 366 days apart. The job that was active last comes first.`,
};

/** What to do about a problem. */
export const remedies: Record<ProblemCode, string> = {
  malformed_body: 'send JSON, or a form, whole, well-formed and in UTF-8',
  permission_required: 'ask the operator for a token with the permission that `detail` names',
  signature_invalid: 'sign with the `hmac_secret` that the operator has set for your Turn channel',
  approval_required: 'ask the user with `POST /v1/user_data/start/{phone_number}`',
  address_not_found: 'leave out what follows the last slash of the path',
  bot_not_found: 'your account has no bot with this number',
  profiler_not_found: "there is none, it was deleted, or it is another account's: nobody learns which",
  request_not_found: "there is none, it has expired, or it is another account's: nobody learns which",
  user_not_found: 'the number is not registered with the app',
  media_not_found: 'the address is not complete, or what was there was deleted',
  already_answered: 'the panelist chose another option before; that answer stands',
  media_expired: '30 days are over: upload it again',
  file_too_large: 'make the file smaller than 4 MB (4,194,304 bytes)',
  unsupported_media_type: 'send the `Content-Type` that `detail` names, in UTF-8 and without `Content-Encoding`',
  invalid_request: '`errors` names every fault, by JSON pointer or parameter',
  events_refused: '`errors` names each event that was not applied; correct these and send all again, in the same order',
  file_type_not_supported: 'upload one of the types that `detail` names',
  idempotency_key_reused: 'use a new key, or the first request unchanged',
  option_not_found: "choose one of this profiler's options",
  panelist_not_found: "the number is no registered panelist's",
  period_too_large: 'the answer would have more than 5 MB: ask for fewer days at a time',
  profiler_too_large: 'question and options take more than 350 KB as stored',
  internal_error: 'tell support the `trace_id`',
  unavailable: 'try again after the seconds in `Retry-After`',
};

const TIME = 'UTC, with microseconds and without a zone: `2022-03-28T09:58:09.118000`.';

/** What fields and parameters are, by their names; by `endpoint.name`, where the name alone does not tell. */
export const glossary: Record<string, string> = {
  'Idempotency-Key': 'Any text of your own. The same key and request are answered as the first time, and done once.',
  'If-None-Match': 'The `ETag` of what you have.',
  'X-Turn-Hook-Signature': "HMAC-SHA256 of the body with the channel's `hmac_secret`, in base64.",
  'X-Turn-Hook-Subscription': 'Where it is there, the request is an ordinary webhook.',
  answers: '`approved` or `denied`, by property.',
  bot_phone_number: "Your bot's number.",
  business: "The account's name.",
  code: 'Stable.',
  completed: `When the user had answered for every property. ${TIME}`,
  contact: "The user: phone number, `@`, and the service's domain.",
  count: 'Messages that reached this state.',
  created: TIME,
  created_at: TIME,
  'createProfiler.options':
    'In the request, the texts: at least two that differ in more than case. In the answer, ids by text.',
  cursor: 'Where to go on: as the `Link` header has it.',
  detail: 'What is wrong, and what to do.',
  encoded_token: 'The token in base64url without padding, on one line.',
  end: 'Unix seconds, not included.',
  end_date: 'The last day, `YYYY-MM-DD`, UTC, included.',
  expires_at: `When the address ends to work. ${TIME}`,
  'takeAppEvents.id': 'Of your own. The same id is the same event again.',
  file: 'One file of at most 4 MB (4,194,304 bytes).',
  from: 'Who writes: a phone number.',
  job_id: "The job that a message is counted in; one of your account's for each day, where none was named.",
  limit: 'Entries at the most.',
  'listLogs.contact': 'One user: as the logs show it, or without the domain. Erased users have a pseudonym.',
  long_poll: 'Seconds to wait for the answer.',
  option: 'In lower case.',
  panelist: "Whether profilers' answers of this user are taken.",
  parameter: 'The name of a parameter, or of a header.',
  payload_type: '`text`, `image` or `file`; empty where it is not known.',
  phone_number: 'In international format without `+`, 7 to 15 digits.',
  pointer: 'A place in the body: a JSON pointer as a URI fragment.',
  property: 'One of the properties in the table above.',
  question: 'What the panelist is asked.',
  quick_replies: 'Answers that are offered to the user as buttons, in this order.',
  quick_reply: 'Answers that are offered to the user as buttons: the field again for each, in order, at most 10.',
  reason: 'Why: the user reads it.',
  recipient_type: '`individual`.',
  required: 'Whether the app may warn a user who denies it. It may be denied all the same.',
  results: 'By property; empty while the request is pending.',
  'retrieveUserData.id': "The user's phone number.",
  source: 'Where the value is from: `user`, or `device`.',
  start: 'Unix seconds, included; 30 days ago, where none is given.',
  start_date: 'The first day, `YYYY-MM-DD`, UTC, included.',
  state: 'What a message has reached.',
  timestamp: 'When it was granted, sent, or happened. UTC, or with an offset in events of the app network.',
  title: 'The problem in a few words, always the same.',
  to: "The user's phone number.",
  to_no_plus: "The user's phone number; or in `to`.",
  trace_id: 'Finds the request in our logs.',
  url: 'A datafree address, which works for 30 days.',
};
