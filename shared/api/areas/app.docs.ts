/** Texts, names and examples of events of the app network. */

import { appEvent } from '../../app-network/events.ts';
import { DELETION_MEMORY_DAYS, inDays } from '../../core/lifetimes.ts';
import { listOf } from '../../validation/bounded.ts';
import type { AreaDocs } from '../docs.ts';
import { placeholders } from '../placeholders.ts';
import type { app } from './app.ts';

const { user, bot } = placeholders;

/** The names of events. */
const events = {
  'AppEvent:message.received': 'MessageReceivedEvent',
  'AppEvent:message.state': 'MessageStateEvent',
  'AppEvent:user.updated': 'UserUpdatedEvent',
  'AppEvent:user_data.answered': 'UserDataAnsweredEvent',
  'AppEvent:user_data.withdrawn': 'UserDataWithdrawnEvent',
  'AppEvent:user.removed': 'UserRemovedEvent',
  'AppEvent:user.stopped': 'UserStoppedEvent',
  'AppEvent:user.started': 'UserStartedEvent',
};

export const appDocs: AreaDocs<typeof app> = {
  name: 'App network',
  description: 'Only for the servers of the mobile app. On the bridge host.',
  endpoints: {
    receiveAppEvents: {
      text: `The body is an array of events; a single event without the array is accepted too. A repeated \`id\` has no effect. Events about one user are applied in the order of the batch. If an event is rejected,
\`errors\` contains its position (\`events_refused\`). Each later event about the same user is held back and listed too. All
other events are applied. Correct or remove the rejected events, and send all again in the same order. After a 503, also send
all again: if an event failed, no later event about that user was applied.

A message of a user is a text, an image, a file, a sound, a film or a location. \`url\` is an address of yours, or an \`aesgcm\`
address with the key of an encrypted file: it is passed on to the business, and nothing is copied. \`in_reply_to\` is the id of the message that the user answers, and
\`quick_reply\` the place of the reply that the user chose, from 0 on.

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
      // One event without the array is accepted too; most generators fail for a body that is either.
      body: listOf(appEvent, { max: 100, of: 'events' }),
      examples: [
        {
          shows: 'The user writes to a bot',
          body: [
            {
              id: 'event-4',
              type: 'message.received',
              data: { from: user, to: bot, type: 'text', text: { body: 'Hi' } },
            },
          ],
        },
        {
          shows: 'The user sends a picture and a location',
          body: [
            {
              id: 'event-9',
              type: 'message.received',
              data: {
                ...{ from: user, to: bot, type: 'image' },
                image: {
                  url: 'https://files.example.com/1.jpg',
                  mime_type: 'image/jpeg',
                  size: 48_213,
                  caption: 'My cow',
                },
              },
            },
            {
              id: 'event-10',
              type: 'message.received',
              data: { from: user, to: bot, type: 'location', location: { latitude: -33.92, longitude: 18.42 } },
            },
          ],
        },
        {
          shows: 'A user stops a business, and starts it again',
          body: [
            { id: 'event-5', type: 'user.stopped', data: { from: user, to: bot } },
            { id: 'event-6', type: 'user.started', data: { from: user, to: bot } },
          ],
        },
        { shows: 'A user leaves', body: [{ id: 'event-7', type: 'user.removed', data: { phone_number: user } }] },
      ],
    },
  },
  schemas: { AppEvent: appEvent },
  names: {
    ...events,
    'MessageReceivedEvent.data': 'UserMessage',
    'UserMessage:text': 'UserTextMessage',
    'UserMessage:image': 'UserImageMessage',
    'UserMessage:file': 'UserFileMessage',
    'UserMessage:audio': 'UserAudioMessage',
    'UserMessage:video': 'UserVideoMessage',
    'UserMessage:location': 'UserLocationMessage',
    'UserTextMessage.text': 'UserText',
    'UserImageMessage.image': 'UserMedia',
    'UserFileMessage.file': 'UserMedia',
    'UserAudioMessage.audio': 'UserMedia',
    'UserVideoMessage.video': 'UserMedia',
    'UserLocationMessage.location': 'UserLocation',
    'UserTextMessage.quick_reply': 'ChosenQuickReply',
    'UserImageMessage.quick_reply': 'ChosenQuickReply',
    'UserFileMessage.quick_reply': 'ChosenQuickReply',
    'UserAudioMessage.quick_reply': 'ChosenQuickReply',
    'UserVideoMessage.quick_reply': 'ChosenQuickReply',
    'UserLocationMessage.quick_reply': 'ChosenQuickReply',
    'MessageStateEvent.data': 'ReportedState',
    'UserUpdatedEvent.data': 'UserUpdate',
    'UserUpdate.properties{}': 'ReportedProperty',
    'UserDataAnsweredEvent.data': 'UserDataAnswers',
    'UserDataWithdrawnEvent.data': 'WithdrawnConsent',
    'UserRemovedEvent.data': 'RemovedUser',
    'UserStoppedEvent.data': 'OptOut',
    'UserStartedEvent.data': 'OptOut',
  },
  fields: {
    in_reply_to: 'The id of the message that the user answers.',
    index: 'The place of the quick reply among those of the message, from 0 on.',
    latitude: 'Degrees north of the equator.',
    longitude: 'Degrees east of Greenwich.',
    mime_type: 'The media type, such as `image/jpeg`.',
    'UserMedia.url': 'An https address of yours, or an aesgcm address with the key of an encrypted file.',
    'UserMedia.size': 'Bytes of the file.',
    'UserMedia.caption': 'The text that the user wrote with it.',
    'ReportedState.reason': 'Why the message failed, in words of your own.',
    ...Object.fromEntries(
      Object.values(events).map((name) => [`${name}.id`, 'An id of your own. The same id is the same event.']),
    ),
    answers: '`approved` or `denied`, by property.',
    panelist: "Whether the user's answers to profilers are accepted.",
  },
};
