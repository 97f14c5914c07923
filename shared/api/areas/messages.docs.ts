/** Texts, names and examples of messages. */
import { DAYS_AHEAD, inDays, RETRY_DAYS } from '../../core/lifetimes.ts';
import { type AreaDocs, TIME } from '../docs.ts';
import { placeholders } from '../placeholders.ts';
import { messageStatus, type messages } from './messages.ts';

const { user, job, media, message, otherUser, time } = placeholders;

export const messagesDocs: AreaDocs<typeof messages> = {
  name: 'Messages',
  description: 'Texts, images, files, sounds and films to users of the app.',
  endpoints: {
    sendMessage: {
      text: `An accepted message is delivered, or logged as failed. Messages to the same number are delivered in the order in which
they were accepted. Images, files, sounds and films need a datafree URL of your own account (\`POST /v1/upload_image\`, \`/v1/upload_file\`).
A document that is sent as an image arrives as what it is. For a file that you have encrypted before its upload, \`url\` is its URL with
\`aesgcm\` in place of \`https\`, and the IV and the key in hexadecimal after \`#\`: the app decrypts it. The key is stored only while the message is pending.

\`to\` is one number, or a list of up to 10,000. A list returns \`job_id\` and the number of messages instead of \`id\`: duplicate numbers
count once, and without \`job_id\` the list gets a job of its own. A request with at most 25 messages and 1 MB, and neither
\`send_at\` nor the priority \`low\`, keeps its place in the order of messages. Messages of longer lists become part of the logs
within minutes, and a message to one user that you send later may overtake them.
\`recipient_type\`, \`priority\` of a single message and \`text.allow_merge\` are accepted and have no effect.

With \`send_at\`, the message is sent later, within a minute of that time. \`GET /v1/message/{message_id}\` returns \`scheduled\` until then.

With \`dry_run\`, nothing is sent: the response says what the request would do, and has a \`plan\` for an hour. Each number costs one
contact of your daily allowance. The request with this \`plan\`, and without \`dry_run\`, returns 409 \`plan_differs\` if anything in it has changed.

With \`reference\`, your own name for the message comes back in logs and webhooks, and filters them. \`job_reference\` does the same for a job.

With \`valid_for\`, a message that the app network does not have in time becomes \`sending_failed\` with the reason \`expired\`,
within two minutes. With \`job_id\`, \`DELETE /v1/jobs/{job_id}\` stops the messages that are still pending.

With \`between\` and \`time_zone\`, users receive the message only within these hours of the day, also after an outage. Outside them it
stays pending, and no attempt is made or counted. A message to one user who has written to you in the last ten minutes is sent at once;
\`urgent\` decides otherwise. Messages with hours keep their order, and so do those without; the latter do not wait for the former.`,
      names: { request: 'Message', 200: 'AcceptedMessageOrJob' },
      links: {
        readMessage: ['/id', 'Read the states of a message to one user.'],
        readJob: ['/job_id', 'Read the job of a message to many users.'],
      },
      examples: [
        {
          shows: 'A text with quick replies',
          query: { job_id: job },
          headers: { 'idempotency-key': 'welcome-1' },
          body: {
            ...{ to: user, type: 'text', text: { body: 'Good morning!' }, quick_replies: ['Hi', 'Stop'] },
            reference: 'order-1047',
          },
          answer: { id: message },
        },
        {
          shows: 'An image',
          query: { job_id: job },
          body: {
            to: user,
            recipient_type: 'individual',
            type: 'image',
            image: { url: media, caption: 'Our new clinic' },
          },
          answer: { id: '019a9f5e-2c15-7d4e-96e7-f8091a2b3c4d' },
        },
        {
          shows: 'A text with sending hours, which is urgent and does not wait for them',
          body: {
            to: user,
            type: 'text',
            text: { body: 'Your code is 4711.' },
            between: ['08:00', '20:00'],
            time_zone: 'Africa/Johannesburg',
            urgent: true,
          },
          answer: { id: '019a9f5e-2c15-7d4e-96e7-f8091a2b3c4e' },
        },
        {
          shows: 'A text to many users',
          query: { job_id: job, job_reference: 'autumn-survey' },
          headers: { 'idempotency-key': 'invitation-7' },
          body: { to: [user, otherUser], priority: 'low', type: 'text', text: { body: 'A new survey is open.' } },
          answer: { job_id: job, messages: 2 },
        },
        {
          shows: 'What a text to many users would do',
          body: { to: [user, otherUser, user], type: 'text', text: { body: 'A new survey is open.' }, dry_run: true },
          answer: {
            dry_run: true,
            messages: 3,
            valid: 1,
            duplicates: 1,
            not_registered: 1,
            stopped: 0,
            outside_hours: 0,
            estimated_end: time,
            plan: '1763632689118.Yk3vN0pQ2sT5uW8xZ1aB4c',
          },
        },
      ],
    },
    sendMessages: {
      text: `All messages are accepted, or none. Messages to the same number are delivered in the order of the request. The highest
priority of the messages counts for all, and \`send_at\` must be the same. Without \`job_id\`, the request gets a job of its own.`,
      names: { 'request[]': 'MessageToOne', 200: 'AcceptedMessagesOrForecast' },
      links: { readJob: ['/job_id', 'Read the job of the messages.'] },
      examples: {
        shows: 'A text of its own for each user',
        query: { job_id: job },
        body: [
          { to: user, type: 'text', text: { body: 'Good morning, Thandi!' } },
          { to: otherUser, type: 'text', text: { body: 'Good morning, Sipho!' } },
        ],
        answer: {
          job_id: job,
          messages: [
            { to: user, id: '019a9f5e-2c15-8d4e-96e7-f8091a2b0000' },
            { to: otherUser, id: '019a9f5e-2c15-8d4e-96e7-f8091a2b0001' },
          ],
        },
      },
    },
    readMessage: {
      text: `The states that the message has reached so far, oldest first, as in the logs; its content is not stored. Works for messages to
users and from users. \`waits_until\` is there while the message waits for its sending hours. A message of a request with many has the state \`scheduled\` until it is in the logs. Another account's message returns the same 404 as one that does not exist.`,
      id: 'message_id',
      examples: {
        shows: 'A message that the app network has accepted',
        path: { id: message },
        answer: {
          id: message,
          contact: `${user}@users.example.com`,
          job_id: job,
          payload_type: 'text',
          reference: 'order-1047',
          states: [
            { state: 'sent', created: time },
            { state: 'delivered_to_server', created: '2026-11-20T09:58:09.412000' },
          ],
        },
      },
    },
  },
  schemas: { MessageStatus: messageStatus },
  names: {
    'Message:text': 'TextMessage',
    'Message:image': 'ImageMessage',
    'Message:file': 'FileMessage',
    'Message:audio': 'AudioMessage',
    'Message:video': 'VideoMessage',
    'AcceptedMessageOrJob:0': 'AcceptedMessage',
    'AcceptedMessageOrJob:1': 'AcceptedJob',
    'AcceptedMessageOrJob:2': 'Forecast',
    'AcceptedMessagesOrForecast:0': 'AcceptedMessages',
    'AcceptedMessagesOrForecast:1': 'Forecast',
    'MessageToOne:text': 'TextMessageToOne',
    'MessageToOne:image': 'ImageMessageToOne',
    'MessageToOne:file': 'FileMessageToOne',
    'MessageToOne:audio': 'AudioMessageToOne',
    'MessageToOne:video': 'VideoMessageToOne',
    'AcceptedMessages.messages[]': 'AcceptedMessageToOne',
    'TextMessage.text': 'MessageText',
    'TextMessageToOne.text': 'MessageText',
    'ImageMessage.image': 'CaptionedMedia',
    'ImageMessageToOne.image': 'CaptionedMedia',
    'FileMessage.file': 'CaptionedMedia',
    'FileMessageToOne.file': 'CaptionedMedia',
    'VideoMessage.video': 'CaptionedMedia',
    'VideoMessageToOne.video': 'CaptionedMedia',
    'AudioMessage.audio': 'MediaLink',
    'AudioMessageToOne.audio': 'MediaLink',
    'MessageStatus.states[]': 'ReachedState',
    'TextMessage.to': 'Recipients',
    'ImageMessage.to': 'Recipients',
    'FileMessage.to': 'Recipients',
    'AudioMessage.to': 'Recipients',
    'VideoMessage.to': 'Recipients',
    recipient_type: 'RecipientType',
    priority: 'Priority',
    'Recipients:0': 'PhoneNumber',
    'Recipients:1': 'PhoneNumbers',
    'ReachedState.reason': 'ReasonCode',
  },
  fields: {
    'ReachedState.reason': 'The reason code of a failed state, as in the logs.',
    job_reference:
      'Your own name for the job, of at most 64 characters. A job keeps its first one. Without `job_id`, only for messages to many.',
    reference: 'Your own name for the message, of at most 64 characters. Several messages may have the same.',
    'MessageStatus.reference': 'The `reference` of the message, if it has one.',
    dry_run: 'Sends nothing, and returns what the request would do.',
    plan: 'The `plan` of a forecast: the request must be the same. Valid for one hour.',
    caption: 'A text of at most 1,024 characters that the app shows with it.',
    'Forecast.dry_run': 'Nothing was sent.',
    'Forecast.messages': 'The messages of the request: `valid`, `duplicates`, `not_registered` and `stopped` together.',
    'Forecast.valid': 'Messages to users of the app who have not stopped your account.',
    'Forecast.duplicates': 'Numbers that the list contains again. They count once.',
    'Forecast.not_registered':
      'Messages to numbers of no user. They are accepted, and the app network may refuse them.',
    'Forecast.stopped':
      'Messages to users who have stopped your account. They become `sending_failed` with the reason `opted_out`.',
    'Forecast.outside_hours': 'Valid messages that wait for their sending hours.',
    'Forecast.outside_hours_until': `When the last of them may be sent. ${TIME}`,
    'Forecast.estimated_end': `When the last message leaves, at the pace of your account. If that is outside its sending hours, when they begin. ${TIME}`,
    'Forecast.plan': 'What a request names to be sent only if it is the same. Valid for one hour.',
    recipient_type: '`individual`.',
    message_id: 'The id that `POST /v1/message` returned, or `id` of a log entry.',
    send_at: `When the message is sent, one minute to ${inDays(DAYS_AHEAD)} ahead: RFC 3339 (without a zone: UTC), or Unix seconds. Default: now.`,
    between:
      'From which time of the day until which one, as `HH:MM`. If the second one is earlier, it is on the next day. In a message, an empty list is as none.',
    time_zone:
      "The name of an IANA time zone, or `recipient`: the zone of the user's country, by the first digits of the number. A country with several zones has the hours that all of them share.",
    urgent:
      'Whether the message is sent at any time of the day. Default: a message to one user who has written to you in the last ten minutes is; others have the sending hours.',
    waits_until: `When the message can be sent first, if it waits for its sending hours. ${TIME}`,
    valid_for: `For how many seconds the message is of use, from its acceptance: 60 to ${(RETRY_DAYS * 86_400).toLocaleString('en')}. A media URL must work as long. Default: until all attempts have failed, for ${inDays(RETRY_DAYS)}.`,
  },
  guarantees: {
    'AcceptedJob.job_id': 'id',
    'AcceptedMessages.job_id': 'id',
    'AcceptedMessageToOne.id': 'id',
    'AcceptedMessageToOne.to': 'phone',
    'MediaLink.url': 'url',
    'CaptionedMedia.url': 'url',
    'MessageStatus.id': 'id',
  },
};
