/** What goes out of the service: to users through the app network, and to customers' chat platforms. */

import type { Key } from '../table/keys.ts';
import type { PropertyName } from '../users/profile-properties.ts';
import type { Message, State } from './message.ts';

/** `app` leads to a user through the app network, `platform` to a customer's chat platform. */
export type Direction = 'app' | 'platform';

/** Everything between an account and one user in one direction: delivered in order. */
export interface Conversation {
  direction: Direction;
  account: string;
  phone: string;
}

/** What a message says. */
export type Content =
  | { type: 'text'; text: { body: string } }
  | { type: 'image'; image: { url: string } }
  | { type: 'file'; file: { url: string } };

/** A property that a business asks for. */
export interface Asked {
  property: PropertyName;
  /** Why this one. */
  reason?: string | undefined;
  /** Whether the business requires it; the app may show this to the user. */
  required: boolean;
}

/** A user data request, by who asks whom. */
export interface RequestReference {
  id: string;
  account: string;
  phone: string;
}

/**
 * What goes out: to a user, a message (`from` is the number of the account's bot when it was accepted; it goes out under the
 * number that the bot has then) or a user data request; to a platform, a user's message, what became of a message, or
 * that a request is completed.
 */
export type Outgoing =
  | { type: 'message.send'; message: Message; from?: string; content: Content; quick_replies?: string[] }
  | { type: 'message.received'; message: Message; to: string; content: Content }
  | { type: 'message.state'; message: Message; state: State; created: string }
  | {
      type: 'user_data.request';
      request: RequestReference;
      /** The business's name, and why it asks. */
      business: string;
      reason: string;
      properties: Asked[];
    }
  | { type: 'user_data.completed'; request: RequestReference; completed: string }
  /** A user was removed: the platform is to send them nothing more. */
  | { type: 'user.stopped'; user: UserReference };

/** A user as an account knows them. */
export interface UserReference {
  account: string;
  phone: string;
}

/** Whom an entry is about, and whose it is. */
export const subjectOf = (outgoing: Outgoing): UserReference => {
  if ('message' in outgoing) return outgoing.message;
  return 'user' in outgoing ? outgoing.user : outgoing.request;
};

/** What goes out, as the log may name it. */
export const namesOf = (outgoing: Outgoing) => ({
  type: outgoing.type,
  account: subjectOf(outgoing).account,
  ...('message' in outgoing && { message_id: outgoing.message.id }),
  ...('request' in outgoing && { user_data_request_id: outgoing.request.id }),
});

/** The conversation that a message belongs to. */
export const conversationAbout = (direction: Direction, { account, phone }: Message): Conversation => ({
  direction,
  account,
  phone,
});

export interface Entry extends Key {
  /** The same at every attempt to deliver it. */
  id: string;
  /** When it was accepted. */
  created: string;
  outgoing: Outgoing;
  /** The trace in which it was accepted. */
  trace_id?: string;
}

/** A message to a user as a platform sends it. */
export type PlatformDraft = Content & {
  to: string;
  quick_replies?: string[];
  /** The platform's id of the message, if it sends one. Parts of one message share it. */
  reference?: string;
  /** The position of the URL of its image or file in the platform's request: a JSON pointer. */
  mediaAt?: string;
};
