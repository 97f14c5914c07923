/** Texts of the view Home. */
import { counted, figure } from '../../web/figures.ts';

const ofMessages = (count: number): string => counted(count, 'message', 'messages');

export const home = {
  write: 'Write a message',
  period: {
    label: 'Period',
    today: 'Today',
    month: 'Last 30 days',
  },
  funnel: {
    title: 'Messages',
    sent: (count: number) => (count === 1 ? 'message sent' : 'messages sent'),
    received: (count: number) => (count === 1 ? 'message received' : 'messages received'),
    caption: 'What became of your messages',
    first: 'Sent',
    server: 'Reached the server',
    user: 'Delivered',
    read: 'Read',
    failed: 'Failed',
    failures: 'Messages that failed',
    none: 'None failed.',
    note: 'Each step counts when it happens: a message of yesterday that is read today counts as read today.',
  },
  attention: {
    title: 'Needs attention',
    count: (count: number) => counted(count, 'thing', 'things'),
    fine: 'Nothing needs your attention.',
    checked: (parts: string[]) => `Checked: ${parts.join(', ')}.`,
    parts: {
      messages: 'today’s messages',
      webhooks: 'webhooks',
      platform: 'chat platform',
      tokens: 'tokens',
      token: 'your token',
    },
    notChecked: 'Some of it could not be checked.',
    webhook: {
      disabled: (name: string) => `The webhook ${name} is switched off`,
      failing: (name: string) => `The webhook ${name} fails`,
      fix: 'Open webhooks',
    },
    platform: {
      webhook: 'Your webhook',
      disabled: (name: string) => `${name} is switched off`,
      failing: (name: string) => `${name} cannot be reached`,
      waiting: (name: string) => `${name} has not received everything`,
      waitingCause: 'The last attempts failed. They are repeated by themselves.',
      none: 'Nothing receives the messages of people',
      noneCause:
        'People write to you, but no webhook or chat platform is connected. Their messages wait for three days.',
      noneFix: 'Add a webhook, or ask your operator to connect a chat platform.',
      fix: 'Open settings',
    },
    since: 'Since',
    pending: (count: number, more: boolean) =>
      `${more ? 'More than ' : ''}${counted(count, 'event waits', 'events wait')} for it.`,
    failed: {
      sending_failed: (count: number) => `${ofMessages(count)} not sent today`,
      delivery_failed: (count: number) => `${ofMessages(count)} not delivered today`,
      reception_failed_http: (count: number) =>
        `${counted(count, 'message of a person', 'messages of people')} not passed on today`,
      show: 'Show messages',
      newest: (count: number) => `Of the newest ${figure(count)}:`,
    },
    token: {
      own: (label: string) => `Your token “${label}” expires soon`,
      other: (label: string) => `The token “${label}” expires soon`,
      until: 'It works until',
      ownFix: 'Ask your operator for a new one in time.',
      fix: 'Replace it, and change the program that uses it.',
      replaced: 'A newer token has the same name: change the program that uses the former one.',
      open: 'Open tokens',
    },
  },
  times: {
    title: 'Delivery times',
    server: 'To the server',
    user: 'To the phone',
    read: 'Until it is read',
    half: 'half of them within',
    most: (time: string, count: number) => `9 of 10 within ${time} · ${ofMessages(count)}`,
    none: 'No message has reached a phone yet.',
    notYet: 'none yet',
    about: (count: number) =>
      `Measured with the ${ofMessages(count)} that arrived last. Waiting for sending hours is included.`,
  },
  campaigns: {
    title: 'Recent campaigns',
    all: 'All campaigns',
    none: 'There is no campaign yet.',
    noneCounted: 'No campaign in the last 30 days.',
    starts: (count: number, start: string) => `${ofMessages(count)} · Starts ${start}`,
    summary: (count: number, delivered: string, read: string) =>
      `${ofMessages(count)} · ${delivered} delivered · ${read} read`,
    failed: (count: number) => `${figure(count)} failed`,
  },
  start: {
    title: 'Start here',
    intro: 'Your account has sent no message yet. These steps bring you there.',
    statsOnly: 'There is no message yet. Figures appear here with the first one.',
    done: 'Done',
    identity: {
      title: 'Show who you are',
      text: 'People see your name and your picture with each message.',
      action: 'Open settings',
    },
    receive: {
      title: 'Receive what people write',
      text: 'Connect your own system by a webhook, or ask your operator to connect RapidPro or Turn.',
      action: 'Open webhooks',
    },
    send: {
      title: 'Send your first message',
      text: 'Send it to your own number first, and look at how it arrives.',
      action: 'Write a message',
    },
  },
};
