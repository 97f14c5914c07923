/** Outbox entries and their content: for users, through the app network, and for customers' chat platforms. */

import type { MediaType } from '../core/media-types.ts';
import type { Key } from '../table/keys.ts';
import type { PropertyName } from '../users/profile-properties.ts';
import { type EndpointNumber, endpointNumbers } from './entities.ts';
import type { Message, ReasonCode, State } from './message.ts';

/**
 * `app`: to a user, through the app network. `platform`: to a customer's chat platform. `consent`: to a customer's webhook,
 * when consent ends.
 */
export const directions = ['app', 'platform', 'consent'] as const;

export type Direction = (typeof directions)[number];

/**
 * An account and a user, in one direction. The entries of a conversation are delivered in order. Messages with sending hours
 * are a conversation of their own, so that others overtake them while they wait. So are the reports about messages of a chat
 * platform that gets them a second apart, and the copies for each endpoint of an account.
 */
export interface Conversation {
  direction: Direction;
  account: string;
  phone: string;
  /** Set for messages with sending hours. */
  hours?: true | undefined;
  /** Set for reports about messages of a chat platform that gets them with pauses. */
  reports?: true | undefined;
  /** Set for copies for an endpoint. */
  endpoint?: EndpointNumber | undefined;
}

/** All conversations of an account and a user. */
export const conversationsOf = (account: string, phone: string): Conversation[] => [
  ...directions.map((direction) => ({ direction, account, phone })),
  { direction: 'app', account, phone, hours: true },
  { direction: 'platform', account, phone, reports: true },
  ...endpointNumbers.map((endpoint): Conversation => ({ direction: 'platform', account, phone, endpoint })),
];

/** A picture, a file, a sound or a film. Those of businesses have no more than a URL and a caption. */
export interface Media {
  /** `https`, or `aesgcm` for an encrypted file: then its fragment contains the key, which no log and no list may contain. */
  url: string;
  caption?: string | undefined;
  filename?: string | undefined;
  mime_type?: string | undefined;
  /** In bytes. */
  size?: number | undefined;
}

/** The content of a message. */
export type Content =
  | { type: 'text'; text: { body: string } }
  | { type: 'image'; image: Media }
  | { type: 'file'; file: Media }
  | { type: 'audio'; audio: Media }
  | { type: 'video'; video: Media };

/** A place, in degrees. */
interface Location {
  latitude: number;
  longitude: number;
  name?: string | undefined;
  address?: string | undefined;
}

/** The content of a user's message. */
export type ReceivedContent = Content | { type: 'location'; location: Location };

/** What a content has at its URL; undefined if it has none. */
export const mediaOf = (content: ReceivedContent): Media | undefined => {
  switch (content.type) {
    case 'image':
      return content.image;
    case 'file':
      return content.file;
    case 'audio':
      return content.audio;
    case 'video':
      return content.video;
    default:
      return undefined;
  }
};

/** The content of a type with something at a URL. */
export const contentWith = (type: MediaType, media: Media): Content => {
  switch (type) {
    case 'image':
      return { type, image: media };
    case 'file':
      return { type, file: media };
    case 'audio':
      return { type, audio: media };
    case 'video':
      return { type, video: media };
  }
};

/**
 * The content as a part of a request, with its fields in a fixed order. The table does not keep the order of an entry's
 * fields, and each attempt must send the same bytes.
 */
export const contentFields = (content: ReceivedContent): ReceivedContent => {
  if (content.type === 'text') return { type: 'text', text: { body: content.text.body } };
  if (content.type === 'location') {
    const { latitude, longitude, name, address } = content.location;
    return { type: 'location', location: { latitude, longitude, name, address } };
  }
  const { url, caption, filename, mime_type, size } = mediaOf(content) ?? { url: '' };
  return contentWith(content.type, { url, caption, filename, mime_type, size });
};

/** A property that a business asks for. */
export interface RequestedProperty {
  property: PropertyName;
  /** Why the business asks for this property. */
  reason?: string | undefined;
  /** Whether the business requires it; the app may show this to the user. */
  required: boolean;
}

/** The id, account and user of a user data request, and the business's own name for it. */
export interface RequestReference {
  id: string;
  account: string;
  phone: string;
  reference?: string;
}

/**
 * The content of an entry. A user receives messages and user data requests. A platform receives users' messages, states
 * of messages, completed requests, opt-outs, and removals of users. `from` is the bot's number when the message was accepted; the
 * message is sent with the bot's number at the time of the attempt. A message may end before its delivery: `cancellable`
 * if its job can be cancelled, and `valid_until` if it is of no use later (in the form of `sortableTime`).
 */
export type OutboxEvent =
  | {
      type: 'message.send';
      message: Message;
      from?: string;
      content: Content;
      quick_replies?: string[];
      cancellable?: true;
      valid_until?: string;
      /** Set if it confirms an opt-out: it is delivered in spite of that. */
      confirmsStop?: true;
    }
  | {
      type: 'message.received';
      message: Message;
      to: string;
      content: ReceivedContent;
      /** The id of the message that the user answers, and the place of the quick reply that the user chose. */
      in_reply_to?: string | undefined;
      quick_reply?: { index: number } | undefined;
    }
  | { type: 'message.state'; message: Message; state: State; created: string; reason_code?: ReasonCode }
  | {
      type: 'user_data.request';
      request: RequestReference;
      /** The name of the business. */
      business: string;
      reason: string;
      properties: RequestedProperty[];
      valid_days?: number;
    }
  | { type: 'user_data.completed'; request: RequestReference; completed: string }
  /** The consent to these properties has ended: the customer must delete its copy. */
  | {
      type: 'user_data.ended';
      request: RequestReference;
      status: ConsentEnd;
      properties: PropertyName[];
      ended: string;
    }
  /** Users see another name or avatar of the business. The avatar is the id of its media. */
  | { type: 'account.updated'; account: string; bot: string; name: string; avatar: string | null }
  /** A user was removed: the platform must send nothing more to the user. */
  | { type: 'user.stopped'; user: UserReference }
  /** A user stopped the account, or started it again; `by` a message to it, or in the app. */
  | { type: 'user.state'; user: UserReference; state: OptOutState; by?: 'message' }
  /** A business tests one of its endpoints. */
  | { type: 'webhook.test'; account: string };

/** How the consent to a property ended. */
export type ConsentEnd = 'withdrawn' | 'expired';

/** Whether a user has stopped an account. */
export type OptOutState = 'stopped' | 'started';

/** A user, in relation to an account. */
export interface UserReference {
  account: string;
  phone: string;
}

/** The business's own name for the message or the request of an entry. */
export const referenceOf = (outgoing: OutboxEvent): string | undefined => {
  if ('message' in outgoing) return outgoing.message.reference;
  return 'request' in outgoing ? outgoing.request.reference : undefined;
};

/** The business's own name as a field, if there is one. */
export const withReference = ({ reference }: { reference?: string | undefined } = {}): { reference?: string } =>
  reference === undefined ? {} : { reference };

/** The account and the user of an entry. */
export const subjectOf = (outgoing: OutboxEvent): UserReference => {
  if ('message' in outgoing) return outgoing.message;
  // They concern no user.
  if ('account' in outgoing) return { account: outgoing.account, phone: '' };
  return 'user' in outgoing ? outgoing.user : outgoing.request;
};

/** The fields that identify an entry in the log. */
export const logFields = (outgoing: OutboxEvent) => ({
  type: outgoing.type,
  account: subjectOf(outgoing).account,
  ...('message' in outgoing && { message_id: outgoing.message.id }),
  ...('request' in outgoing && { user_data_request_id: outgoing.request.id }),
});

/** The chat platforms that get reports about their messages with pauses, for which users' messages do not wait. */
const REPORTS_APART: ReadonlySet<string> = new Set(['rapidpro']);

/** The conversation that a message, or a report about it, belongs to. */
export const conversationAbout = (direction: Direction, { account, phone, hours, origin }: Message): Conversation => ({
  direction,
  account,
  phone,
  ...(hours && direction === 'app' && { hours: true }),
  ...(origin && REPORTS_APART.has(origin.platform) && direction === 'platform' && { reports: true }),
});

/** What an endpoint of an account receives: a copy of an event. */
interface Copy {
  /** The id of the endpoint. If it is deleted, its copies are dropped. */
  endpoint: string;
  /** The id of the event: that of the entry that was copied. Missing for a test, which only this endpoint receives. */
  event?: string;
  /** The number of the account's bot when it was copied: each attempt sends the same bytes. */
  bot: string | null;
}

/** The event that an entry sends again. */
interface Replayed {
  /** The id of the event: that of the entry that delivered it first. Destinations recognise repeats by it. */
  event: string;
  /** When the event was accepted, or the message that it is about. */
  since: string;
}

/** The id that destinations receive: the same in each attempt, in each replay, and at each endpoint. */
export const eventIdOf = ({ id, replay, copy }: Pick<Entry, 'id' | 'replay' | 'copy'>): string =>
  replay?.event ?? copy?.event ?? id;

/** When the event of an entry was accepted, or the message that it is about. */
export const sinceOf = ({ created, outgoing, replay }: Pick<Entry, 'created' | 'outgoing' | 'replay'>): string =>
  replay?.since ?? ('message' in outgoing ? outgoing.message.accepted : created);

export interface Entry extends Key {
  /** The same in each attempt. */
  id: string;
  /** Set if the entry sends an earlier event again. */
  replay?: Replayed;
  /** Set if it is a copy for an endpoint. */
  copy?: Copy;
  /** When it was accepted, or the entry that it copies. */
  created: string;
  outgoing: OutboxEvent;
  /** The trace in which it was accepted. */
  trace_id?: string;
  /** The place in the index of due work of a message that is of no use after some time: `sweep` wakes it then. */
  gsi1pk?: string;
  gsi1sk?: string;
}

/** A message from a platform to a user. */
export interface PlatformDraft {
  type: 'text';
  text: { body: string };
  to: string;
  quick_replies?: string[];
  /** The platform's id of the message, if it sends one. Parts of one message share it. */
  reference?: string;
  /** Set if what is at the URL at its end must be sent as a file. */
  asFile?: true;
}
