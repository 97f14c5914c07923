/** Texts, names and examples of the customer's own account. */
import { inDays, RETRY_DAYS } from '../../core/lifetimes.ts';
import { type AreaDocs, TIME } from '../docs.ts';
import { placeholders } from '../placeholders.ts';
import { type account, configuration } from './account.ts';

const { account: accountId, bot, formerName, label, name, time } = placeholders;

export const accountDocs: AreaDocs<typeof account> = {
  name: 'Account',
  description: 'Your own token, settings, name and avatar.',
  endpoints: {
    readTokenInfo: {
      text: `The token of the request: its label, its account, its permissions, when it was issued, and when it expires. \`expires\` is
null if it does not expire. Each token may do this.`,
      names: { 200: 'TokenInfo' },
      examples: {
        shows: 'A token that does not expire',
        answer: {
          label,
          account: accountId,
          permissions: ['profilers', 'stats', 'user_data', 'messages', 'contacts', 'account', 'bridge'],
          created: time,
          expires: null,
        },
      },
    },
    updateAccount: {
      text: `The name that users see with your messages and requests for data. An operator approves it first: until then, it is
\`pending_name\`, and \`name\` is the one that users see. Your present name withdraws a pending one. Then the app is notified.
Invisible characters, and words with letters of several alphabets, are rejected. Some deployments need no approval.

\`sending_hours\` are the default of your messages: between which times of the day users receive them. They take effect with the
next message; \`null\` removes them.

\`opt_out_keywords\` is what follows when the whole message of a user is STOP, UNSUBSCRIBE or another keyword. With \`tell\`, your
platform is notified, as if the user had stopped your account in the app. With \`opt_out\`, the user is opted out as well, and
receives \`confirmation\`. By default, and with \`null\`, nothing follows. The message is delivered to you in any case.`,
      names: { request: 'AccountName', 200: 'StoredAccountName' },
      examples: [
        {
          shows: 'Another name, which an operator approves',
          body: { name },
          answer: { name: formerName, pending_name: name },
        },
        {
          shows: 'Hours in which users receive messages',
          body: { sending_hours: { between: ['08:00', '20:00'], time_zone: 'Africa/Johannesburg' } },
          answer: {
            name: formerName,
            pending_name: name,
            sending_hours: { between: ['08:00', '20:00'], time_zone: 'Africa/Johannesburg' },
          },
        },
        {
          shows: 'What follows when a user writes STOP',
          body: { opt_out_keywords: { action: 'opt_out', confirmation: 'You get no more messages of us.' } },
          answer: {
            name: formerName,
            pending_name: name,
            opt_out_keywords: { action: 'opt_out', confirmation: 'You get no more messages of us.' },
          },
        },
      ],
    },
    setAvatar: {
      text: `A PNG, JPEG or WebP of at most 1 MB (1,048,576 bytes). The service detects the type from the content, not from the name. The
app is notified, with a URL that works until you set another avatar.`,
      names: { request: 'AvatarUpload' },
      examples: { shows: 'A picture' },
    },
    readAvatar: {
      text: 'The bytes as they were uploaded.',
      // The last one is for generators, some of which know bytes by no other type, and leave the response out.
      fileTypes: ['image/png', 'image/jpeg', 'image/webp', 'application/octet-stream'],
      examples: { shows: 'The picture' },
    },
    readConfiguration: {
      text: `\`platform\` is null if the account has no chat platform; users' messages then wait for ${inDays(RETRY_DAYS)}. It is \`failing\` after
three failures in a row, until a request succeeds, and \`disabled\` after its webhook returned 410, until an operator sets it again.
\`cause\` and \`last_event\` are those of the last failure. \`pending_messages\` counts the entries that wait for the next attempt, and those behind them: users' messages,
states and other notifications. At most 50 conversations with 20 entries each are counted; \`more_pending\` is true if there are
more. \`limits\` are those of your account for all endpoints together.`,
      names: { 200: 'ConfigurationDocument' },
      examples: {
        shows: 'Without a chat platform',
        answer: {
          configuration: {
            name: formerName,
            pending_name: name,
            bot_number: bot,
            avatar: 'https://bridge.example.com/media/0a1b2c3d4e5f60718293a4b5c6d7e8f9',
            sending_hours: { between: ['08:00', '20:00'], time_zone: 'Africa/Johannesburg' },
            opt_out_keywords: { action: 'opt_out', confirmation: 'You get no more messages of us.' },
            platform: null,
            limits: { requests_per_second: 100, requests_at_once: 200, long_polls: 50 },
            allowances: {
              // Of an answer above: its number is not a panelist's.
              contacts: { limit: 100_000, used: 3, resets_at: '2026-11-21T00:00:00.000000' },
              audiences: { limit: 100, used: 1, resets_at: '2026-11-21T00:00:00.000000' },
            },
          },
        },
      },
    },
  },
  schemas: { AccountConfiguration: configuration },
  names: {
    'AccountConfiguration.platform': 'ChatPlatform',
    'AccountConfiguration.limits': 'AccountLimits',
    'AccountConfiguration.sending_hours': 'SendingHours',
    'StoredAccountName.sending_hours': 'SendingHours',
    'AccountName.sending_hours': 'NewSendingHours',
    'AccountConfiguration.opt_out_keywords': 'OptOutKeywords',
    'StoredAccountName.opt_out_keywords': 'OptOutKeywords',
    'AccountName.opt_out_keywords': 'NewOptOutKeywords',
    'AccountConfiguration.allowances': 'Allowances',
    'Allowances.contacts': 'Allowance',
    'Allowances.audiences': 'Allowance',
  },
  fields: {
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
    'AccountName.sending_hours': 'Between which times of the day users receive your messages; `null` for all times.',
    'AccountConfiguration.sending_hours':
      'Between which times of the day users receive your messages, unless a request says otherwise.',
    opt_out_keywords: 'What follows when a user writes STOP or another keyword.',
    'AccountName.opt_out_keywords': 'What follows when a user writes STOP or another keyword; `null` for nothing.',
    action: '`tell`: your platform is notified. `opt_out`: the user is opted out, too.',
    confirmation: 'The text that the user receives after an opt-out. Default: none.',
    'StoredAccountName.sending_hours': 'The sending hours that the request has set.',
  },
  guarantees: { 'AccountConfiguration.avatar': 'url' },
};
