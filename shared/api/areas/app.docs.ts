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
    'UserMessage.text': 'UserText',
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
    'ReportedState.reason': 'Why the message failed, in words of your own.',
    ...Object.fromEntries(
      Object.values(events).map((name) => [`${name}.id`, 'An id of your own. The same id is the same event.']),
    ),
    answers: '`approved` or `denied`, by property.',
    panelist: "Whether the user's answers to profilers are accepted.",
  },
};
