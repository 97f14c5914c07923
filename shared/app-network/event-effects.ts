/** What the events of the app network change, and what they must name for that. */

import { timestamp } from '../core/clock.ts';
import type { Message } from '../messaging/message.ts';
import { receiveMessage } from '../messaging/receive.ts';
import { findLogged, findMessages, isLogged, type Logged, type StateChange } from '../messaging/state-reports.ts';
import { removeUser } from '../user-data/erasure.ts';
import { answerRequest, usersAsked } from '../user-data/requests.ts';
import { recordAnswered, wasAnswered } from '../users/event-receipts.ts';
import { updateUser } from '../users/users.ts';
import { truncate } from '../validation/schemas.ts';
import type { AppEvent, Subject } from './events.ts';

/** Longest part of a reason that is kept, in characters. */
const MAX_REASON = 500;

/** What is known of what events name. */
export interface PrefetchedData {
  /** Messages to users, by their ids. */
  messages: Map<string, Message>;
  logged: Logged;
  /** The users who were asked, by the ids of requests. */
  asked: Map<string, string>;
}

/** Looks up all that events name in a few calls: 1 read unit for a state, 0.5 for an answer; more for what is unknown. */
export const prefetch = async (
  received: { subject: Subject | undefined; event: AppEvent | undefined }[],
): Promise<PrefetchedData> => {
  const subjects = received.flatMap(({ subject }) => subject ?? []);
  const [messages, logged, asked] = await Promise.all([
    findMessages(subjects.flatMap((subject) => ('message' in subject ? subject.message : []))),
    findLogged(received.flatMap(({ event }) => (event?.type === 'message.state' ? event.data : []))),
    usersAsked(subjects.flatMap((subject) => ('request' in subject ? subject.request : []))),
  ]);
  return { messages, logged, asked };
};

/** The number of the user whom an event is about; nothing, if the event names an unknown message or request. */
export const userOf = (subject: Subject | undefined, { messages, asked }: PrefetchedData): string | undefined => {
  if (subject === undefined) return undefined;
  if ('phone' in subject) return subject.phone;
  return 'message' in subject ? messages.get(subject.message)?.phone : asked.get(subject.request);
};

/** The state that an event reports of a message; nothing, where it is about something else, or needs no writing. */
export const stateChangeOf = (event: AppEvent, { messages, logged }: PrefetchedData): StateChange | undefined => {
  if (event.type !== 'message.state' || isLogged(event.data, logged)) return undefined;
  const { id, state, reason } = event.data;
  const message = messages.get(id);
  return (
    message && {
      message,
      state,
      reason_code: state === 'delivery_failed' ? 'refused' : undefined,
      reason: reason === undefined ? undefined : truncate(reason, MAX_REASON),
    }
  );
};

/** Why an event is rejected: something in it that is unknown, by its place in the event. */
export interface Rejection {
  keys: string[];
  detail: string;
}

/** Applies an event; one that reports a new state of a known message is applied by `recordStates`. */
export const applyEvent = async (
  { id: event, timestamp: time, ...what }: AppEvent,
  known: PrefetchedData,
): Promise<Rejection[]> => {
  switch (what.type) {
    case 'message.received':
      return (await receiveMessage(event, what.data)) ? [] : [UNKNOWN_BOT];
    case 'message.state':
      return known.messages.has(what.data.id) ? [] : [UNKNOWN_MESSAGE];
    case 'user_data.answered':
      return answer(event, what.data);
    case 'user.updated':
      await updateUser(event, what.data, notInFuture(time));
      return [];
    case 'user.removed':
      await removeUser(event, what.data.phone_number, notInFuture(time));
      return [];
  }
};

/** Clocks differ: data is never newer than its report, or nothing later would ever replace it. */
const notInFuture = (time: string | undefined): string | undefined => {
  const present = timestamp();
  return time !== undefined && time > present ? present : time;
};

const answer = async (
  event: string,
  { id, answers }: Extract<AppEvent, { type: 'user_data.answered' }>['data'],
): Promise<Rejection[]> => {
  const refused = await answerRequest(id, answers);
  if (refused === undefined) {
    await recordAnswered(event);
    return [];
  }
  if (!('unknown' in refused)) return refused.notAsked.map(notAsked);
  // Its user may have been removed since.
  return (await wasAnswered(event)) ? [] : [UNKNOWN_REQUEST];
};

const UNKNOWN_BOT: Rejection = { keys: ['data', 'to'], detail: "is no bot's number" };
const UNKNOWN_MESSAGE: Rejection = { keys: ['data', 'id'], detail: 'is the id of no message that was sent to a user' };
const UNKNOWN_REQUEST: Rejection = {
  keys: ['data', 'id'],
  detail: 'is the id of no request, or of one that has expired',
};

const notAsked = (name: string): Rejection => ({
  keys: ['data', 'answers', name],
  detail: 'is not among the properties that this request asks for',
});
