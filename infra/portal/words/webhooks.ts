/** Texts of the view Webhooks. */
import type { subscribedTypes } from '../../../shared/destinations/endpoint-settings.ts';
import { counted } from '../../web/text.tsx';

/** What helps against a failure: a button of the webhook. */
type Fix = 'change' | 'rotate' | 'test';

interface Cause {
  text: string;
  remedy?: string;
  fix?: Fix;
}

const causes: Record<string, Cause> = {
  timeout: {
    text: 'Your server did not respond within 10 seconds.',
    remedy: 'Let it respond as soon as it has stored an event, and do the work afterwards.',
    fix: 'test',
  },
  no_connection: {
    text: 'Your server could not be reached.',
    remedy: 'Check that it runs, that the host in the URL is right, and that its certificate is valid.',
    fix: 'test',
  },
  invalid_response: {
    text: 'Your server’s response is not valid HTTP.',
    remedy: 'Check that the port in the URL is that of your web server.',
    fix: 'change',
  },
  address_not_public: {
    text: 'The URL leads to an address that is not public.',
    remedy: 'Enter a URL that the internet can reach.',
    fix: 'change',
  },
  address_not_https: { text: 'The URL does not begin with https.', remedy: 'Enter an https URL.', fix: 'change' },
  not_set_up: { text: 'The webhook lacks a setting.', remedy: 'Enter its URL again.', fix: 'change' },
  circuit_open: {
    text: 'All requests to the webhook failed for three days, so this event was not tried again.',
    remedy: 'Correct your server, then send the failed events again.',
  },
};

/** What a status of the webhook means. */
const causeOfStatus = (status: number): Cause => {
  const text = (meaning: string) => `Your server ${meaning} (status ${status}).`;
  if (status >= 300 && status < 400) {
    return {
      text: text('redirects requests to another address'),
      remedy: 'Enter that address: redirects are not followed.',
      fix: 'change',
    };
  }
  if (status === 404 || status === 405) {
    return {
      text: text('does not know this address'),
      remedy: 'Compare the URL with that of your server.',
      fix: 'change',
    };
  }
  if (status === 401 || status === 403) {
    return {
      text: text('rejects the requests'),
      remedy: 'Check how it verifies the signature, and that it has the present secret. Else replace the secret.',
      fix: 'rotate',
    };
  }
  if (status === 410) {
    return {
      text: text('has said that nobody wants these events any more'),
      remedy: 'No request is made until you enable the webhook again. Its events wait for three days.',
    };
  }
  if (status === 429) return { text: text('asks for fewer requests') };
  if (status >= 500) {
    return {
      text: text('has an error'),
      remedy: 'Its log says more. Correct it, then send a test event.',
      fix: 'test',
    };
  }
  return { text: text('rejected the event'), remedy: 'Its response, or its log, says why.', fix: 'test' };
};

/** A code of the API (`status_404`, `timeout`) in plain words. */
export const causeOf = (code: string | undefined): Cause => {
  const status = /^status_(\d{3})$/.exec(code ?? '')?.[1];
  if (status !== undefined) return causeOfStatus(Number(status));
  return causes[code ?? ''] ?? { text: 'The last requests failed.', fix: 'test' };
};

/** The types of events, as they are called in settings. */
export const eventWords: Record<(typeof subscribedTypes)[number], string> = {
  'message.received': 'A user sends a message',
  'message.state': 'A message is delivered, read, or has failed',
  'user.stopped': 'A user stops you',
  'user.started': 'A user starts you again',
  'user_data.completed': 'A request for data is answered',
  'user_data.withdrawn': 'A user withdraws consent',
  'user_data.expired': 'Consent ends',
};

export const webhooks = {
  intro: 'Your servers receive what happens in your account: messages from users, deliveries, and answers to requests.',
  tabs: { list: 'Webhooks', deliveries: 'Deliveries' },
  tabsLabel: 'Parts of Webhooks',
  add: 'Add a webhook',
  empty: 'You have no webhook yet. Add the address of a server that receives your events.',
  statuses: { working: 'Working', failing: 'Failing', disabled: 'Disabled' },
  failingSince: 'Failing since',
  disabledSince: 'Disabled since',
  lastFailure: 'Last failed request',
  events: 'Events',
  allEvents: 'All events',
  changed: 'Changed',
  version: 'Form of the events',
  versions: { 1: 'Version 1, of earlier servers', 2: 'Version 2' },
  enable: 'Enable again',
  enabled: 'The webhook is enabled again. Its waiting events follow.',
  retry: 'Try again now',
  retried: 'Waiting events are sent now.',
  test: 'Send a test event',
  testing: {
    sending: 'The test event is on its way …',
    ok: (status: number, ms: number | undefined) =>
      `Your server accepted the test event (status ${status}${ms === undefined ? '' : `, ${ms} ms`}).`,
    late: 'No outcome yet. If the last requests failed, the test waits for the next attempt. The deliveries show it later.',
    sent: 'The test event was sent. Your token may not read deliveries, so look into the log of your server.',
    open: 'Show the delivery',
  },
  change: 'Change',
  changeTitle: 'Change a webhook',
  changedToast: 'The webhook is changed, from the next request on.',
  save: 'Save',
  saving: 'Saving …',
  form: {
    about: 'Where events go',
    url: 'URL',
    urlHint: 'A public https address of your server. It receives a POST request for each event.',
    urlMissing: 'Enter a URL.',
    description: 'Note',
    descriptionHint: 'Optional. Only for you, for example what the server does.',
    types: 'Which events?',
    all: 'All events, also kinds that are added later',
    some: 'Only these',
    noType: 'Choose at least one kind of event.',
    versionHint: 'Servers made for version 1 do not understand version 2. Change your server first.',
  },
  notFound: 'There is no such webhook. It may have been deleted.',
  toList: 'Show all webhooks',
  rotate: 'Replace the secret',
  rotateTitle: 'Replace the secret?',
  rotateText: [
    'You get a new secret. For 24 hours, requests are signed with both secrets, so your server keeps accepting them.',
    'Enter the new secret in your server within that time. Afterwards, only the new one signs.',
  ],
  secretTitle: 'The secret of your webhook',
  copySecret: 'Copy the secret',
  secretOnce: 'Copy it now: it is not shown again.',
  secretUse: 'Your server verifies with it that requests come from this service. Keep it like a password.',
  rotatedUse: 'The former secret also signs for 24 hours. Enter the new one in your server before.',
  delete: 'Delete',
  deleteTitle: 'Delete this webhook?',
  deleteText: (url: string) =>
    `${url} gets no more requests. Events that are waiting for it are dropped, and do not come back.`,
  deleteLast: 'It is your only webhook. Later events wait for another one for three days; then they are lost.',
  deleteWaiting: (count: number, more: boolean) =>
    `At the moment, ${more ? 'more than ' : ''}${counted(count, 'event waits', 'events wait')} for your webhooks.`,
  deleted: 'The webhook is deleted.',
  deliveriesOf: 'Deliveries',
  platform: {
    title: (name: string) => `${name} receives your events`,
    text: (name: string) =>
      `Your operator has connected this account to ${name}, which receives the messages of your users. An account has either a chat platform or webhooks of its own. To use webhooks, ask your operator to remove ${name}.`,
    unknown: 'a chat platform',
    names: {
      rapidpro: 'RapidPro',
      turn: 'Turn',
      webhook: 'A webhook',
      listen: 'A program that claims events',
    } as Record<string, string>,
    status: 'Status',
    waiting: 'Waiting events',
    count: (count: number, more: boolean) => `${more ? 'more than ' : ''}${count}`,
    noDeliveries: (name: string) => `${name} receives your events, and its deliveries are not listed here.`,
  },
  deliveries: {
    intro: 'Each request to your webhooks in the last seven days, and what your server answered.',
    filters: 'Filters',
    webhook: 'Webhook',
    allWebhooks: 'All webhooks',
    deletedWebhook: 'A deleted webhook',
    status: 'Result',
    all: 'All',
    succeeded: 'Accepted',
    failed: 'Failed',
    reference: 'Your reference',
    from: 'Events from',
    until: 'Events before',
    clear: 'Clear the filters',
    empty: 'There are no deliveries in the last seven days.',
    emptyFiltered: 'No delivery matches these filters.',
    caption: 'Deliveries, the newest event first',
    columns: { when: 'Time', event: 'Event', to: 'Webhook', user: 'User', result: 'Result', duration: 'Duration' },
    attempt: (number: number) => `attempt ${number}`,
    recover: 'Send failed events again',
    types: {
      message: 'Message from a user',
      status: 'State of a message',
      user_data: 'Request for data',
      user: 'Stop or start',
      test: 'Test',
    },
    result: (status: number | undefined, ok: boolean) =>
      status === undefined ? (ok ? 'Accepted' : 'No response') : `${ok ? 'Accepted' : 'Failed'}, ${status}`,
  },
  delivery: {
    title: 'A delivery',
    back: 'Deliveries',
    outcome: 'Result',
    next: 'Next attempt',
    none: 'None. Send it again when your server is ready.',
    done: 'None is needed',
    request: 'Request',
    requestNote: 'The content of the event is not part of this record.',
    response: 'Response',
    responseNote: 'The beginning of the body, at most a kilobyte, as your server sent it.',
    noResponse: 'There was no response.',
    noBody: 'The response had no body.',
    event: 'Event',
    eventId: 'Event id',
    attempt: 'Attempt',
    message: 'Message',
    showMessage: 'Show the message',
    replay: 'Send again',
    replaying: 'Sending …',
    replayHint: 'Your server gets the same event with the same webhook-id, so that it can recognise it.',
    queued: 'The event is sent again.',
    pending: 'The event is waiting already, and is sent with the next attempt.',
    notFound: 'This delivery does not exist, or is older than seven days.',
    copyId: 'Copy the event id',
  },
  recover: {
    title: 'Send failed events again?',
    text: 'All events since this time whose last attempt has failed, and that are not tried any more, are sent again. Your server gets them with the same webhook-id, and may have seen some of them before.',
    since: 'Events from',
    until: 'Until',
    untilHint: 'Optional. Without it: until now.',
    missing: 'Enter a time.',
    run: 'Send again',
    running: (count: number) => (count === 0 ? 'Sending …' : `Sending … ${count}`),
    done: (queued: number, pending: number) =>
      queued + pending === 0
        ? 'No event since then has failed for good.'
        : `${counted(queued, 'event is', 'events are')} sent again.${
            pending === 0 ? '' : ` ${counted(pending, 'is', 'are')} waiting already.`
          }`,
  },
} as const;
