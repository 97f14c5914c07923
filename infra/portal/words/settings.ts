/** Texts of the view Settings. */
import type { changes } from '../../../shared/accounts/changes.ts';
import { figure } from '../../web/figures.ts';

const fieldWords: Record<string, string> = {
  name: 'name',
  sending_hours: 'sending hours',
  opt_out_keywords: 'what follows STOP',
  url: 'URL',
  types: 'kinds of events',
  version: 'form of the events',
  description: 'note',
  secret: 'secret',
};

const listed = (fields: readonly string[] | undefined): string =>
  (fields ?? []).map((field) => fieldWords[field] ?? field).join(', ');

/** What a change did; `of` names the token or webhook that was changed. */
export const changeWords: Record<
  (typeof changes)[number],
  (of: string, fields: readonly string[] | undefined) => string
> = {
  'token.created': (of, fields) => `Created ${of}, which may: ${(fields ?? []).join(', ')}`,
  'token.rotated': (of) => `Replaced ${of} by a new one`,
  'token.revoked': (of) => `Revoked ${of}`,
  'session.created': () => 'Signed in with a link',
  'session.ended': () => 'Signed out',
  'webhook.created': (of) => `Added ${of}`,
  'webhook.updated': (of, fields) =>
    listed(fields) === '' ? `Enabled ${of} again` : `Changed ${of}: ${listed(fields)}`,
  'webhook.secret_rotated': (of) => `Replaced the secret of ${of}`,
  'webhook.deleted': (of) => `Deleted ${of}`,
  'account.updated': (_, fields) => `Changed the account: ${listed(fields)}`,
  'avatar.updated': () => 'Changed the avatar',
};

export const settings = {
  intro: 'How users see you, when they get messages, and what your account may do.',
  tabs: { account: 'Account', history: 'History' },
  tabsLabel: 'Parts of Settings',
  save: 'Save',
  saving: 'Saving …',
  saved: 'Saved.',
  name: {
    title: 'Name and picture',
    label: 'Name that users see',
    hint: 'At most 100 characters. An operator approves a new name first, because users trust it.',
    missing: 'Enter a name.',
    submit: 'Ask for this name',
    pending: (name: string) => `“${name}” waits for the approval of your operator.`,
    pendingText: (name: string) => `Until then, users see “${name}”.`,
    withdraw: 'Withdraw it',
    withdrawn: 'The new name is withdrawn.',
    asked: 'Your operator will approve the name.',
    changed: 'The name is changed.',
    bot: 'Number that users write to',
    noBot: 'none',
  },
  avatar: {
    alt: 'Your picture, as users see it',
    preview: 'The picture that you have chosen',
    none: 'No picture yet',
    hint: 'PNG, JPEG or WebP of at most 1 MB. A square looks best: users see it with round corners.',
    choose: 'Choose a picture',
    use: 'Use this picture',
    uploading: 'Uploading …',
    discard: 'Discard',
    done: 'Users see the new picture from now on.',
    tooLarge: (bytes: number) => `This file has ${(bytes / 1_048_576).toFixed(1)} MB. Choose one of at most 1 MB.`,
    wrongType: 'This is no PNG, JPEG or WebP picture.',
    chosen: (name: string, bytes: number) => `${name}, ${figure(Math.ceil(bytes / 1_024))} KB`,
  },
  hours: {
    title: 'Sending hours',
    save: 'Save the sending hours',
    text: 'Between which times of the day users get your messages. A reply to someone who has just written is sent at once.',
    any: 'At any time',
    between: 'Only within these hours',
    from: 'From',
    to: 'Until',
    zone: 'Time zone',
    recipient: 'That of each user’s country',
    invalid: 'Enter two different times.',
    overnight: 'These hours go past midnight.',
    effect: 'They count from the next message on. A campaign can have hours of its own.',
  },
  stop: {
    title: 'When a user writes STOP',
    save: 'Save what follows STOP',
    text: 'STOP, UNSUBSCRIBE and other such words, if they are the whole message. You get the message in any case.',
    none: 'Nothing follows',
    tell: 'Notify our webhook or chat platform',
    optOut: 'Notify it, and send this user nothing more',
    confirmation: 'Text that confirms it',
    confirmationHint: 'Optional. The user gets it once. Say that START begins again.',
    sample: 'You get no more messages from us. Write START to change this.',
  },
  limits: {
    title: 'Limits',
    text: 'Your operator sets them.',
    rate: 'Requests',
    rateValue: (perSecond: number, atOnce: number | undefined) =>
      `${figure(perSecond)} per second${atOnce === undefined ? '' : `, ${figure(atOnce)} at once after a pause`}`,
    unlimited: 'no limit',
    longPolls: 'Calls that wait for an answer',
    atOnce: (count: number) => `${figure(count)} at a time`,
    allowances: 'Used today',
    contacts: 'Numbers looked up',
    audiences: 'Audiences counted',
    used: (used: number, limit: number) => `${figure(used)} of ${figure(limit)}`,
    resets: 'Full again',
  },
  session: {
    title: 'Your token in this session',
    label: 'Name',
    account: 'Account',
    created: 'Created',
    expires: 'Works until',
    never: 'it is revoked',
    may: 'It may use',
    manage: 'Manage tokens',
  },
  history: {
    intro:
      'What was changed of tokens, webhooks and settings in the last 400 days. What your operator changes is not here.',
    caption: 'Changes, the newest first',
    columns: { when: 'When', what: 'What', by: 'With the token' },
    empty: 'Nothing was changed yet. Changes of tokens, webhooks and settings will appear here.',
    token: (label: string) => `the token “${label}”`,
    someToken: 'a token',
    webhook: (url: string) => `the webhook ${url}`,
    someWebhook: 'a webhook',
    removedToken: 'A token that was removed',
    thisSession: 'This session',
  },
} as const;
