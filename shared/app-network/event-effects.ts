/** Applies events of the app network, and rejects events that name unknown bots, messages or requests. */

import { timestamp } from '../core/clock.ts';
import { reportOptOut } from '../messaging/opt-outs/changes.ts';
import { receiveMessage } from '../messaging/receive.ts';
import {
  findLogged,
  findMessages,
  isLogged,
  type Logged,
  type Messages,
  type StateChange,
} from '../messaging/state-reports.ts';
import { withdrawConsent } from '../user-data/consent-ends.ts';
import { removeFormerNumber, removeUser } from '../user-data/erasure.ts';
import { answerRequest, type RejectedAnswer } from '../user-data/request-answers.ts';
import { usersAsked } from '../user-data/requests.ts';
import { recordAnswered, wasAnswered } from '../users/event-receipts.ts';
import { updateUser } from '../users/users.ts';
import { truncate } from '../validation/schemas.ts';
import type { AppEvent, Subject } from './events.ts';

/** Most characters of a reason that are stored. */
const MAX_REASON = 500;

/** The stored data that the events of a batch name. */
export interface PrefetchedData {
  /** Messages to users, by id. */
  messages: Messages;
  logged: Logged;
  /** The phone numbers of the users of requests, by request id. */
  asked: Map<string, string>;
}

/** Reads the data of a batch in a few calls. 1 read unit for a state, 0.5 for an answer, and more for unknown ids. */
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

/** The phone number of an event's user; undefined if the event names an unknown message or request. */
export const userOf = (subject: Subject | undefined, { messages, asked }: PrefetchedData): string | undefined => {
  if (subject === undefined) return undefined;
  if ('phone' in subject) return subject.phone;
  return 'message' in subject ? messages.get(subject.message)?.phone : asked.get(subject.request);
};

/**
 * The state that an event reports; undefined for other events, unknown messages, and states that are already logged.
 */
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

/** Why an event is rejected: the place of an unknown value in the event, and the text of the error. */
export interface Rejection {
  keys: string[];
  detail: string;
}

/** Applies an event. `recordStates` applies the events that report a new state of a known message. */
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
      return respond(event, await answerRequest(what.data.id, what.data.answers), ['data', 'answers']);
    case 'user_data.withdrawn':
      return withdraw(event, what.data);
    case 'user.updated':
      await update(event, what.data, notInFuture(time));
      return [];
    case 'user.removed':
      await removeUser(event, what.data.phone_number, notInFuture(time));
      return [];
    case 'user.stopped':
      return (await reportOptOut(event, { ...what.data, state: 'stopped' }, notInFuture(time))) ? [] : [UNKNOWN_BOT];
    case 'user.started':
      return (await reportOptOut(event, { ...what.data, state: 'started' }, notInFuture(time))) ? [] : [UNKNOWN_BOT];
  }
};

/** Clocks differ. Data with a time in the future would not be replaced by later data, so it gets the present time. */
const notInFuture = (time: string | undefined): string | undefined => {
  const present = timestamp();
  return time !== undefined && time > present ? present : time;
};

/** Records a report about a user. If its id belongs to another number, the user has left that number: it is removed. */
const update = async (
  event: string,
  data: Extract<AppEvent, { type: 'user.updated' }>['data'],
  at: string | undefined,
): Promise<void> => {
  for (let left: string | undefined; ; ) {
    left = await updateUser(event, data, { at, left });
    if (left === undefined) return;
    await removeFormerNumber(left, at);
  }
};

const withdraw = async (
  event: string,
  { id, properties }: Extract<AppEvent, { type: 'user_data.withdrawn' }>['data'],
): Promise<Rejection[]> => {
  const rejected = await withdrawConsent(id, properties);
  if (rejected === undefined || 'unknown' in rejected) return respond(event, rejected, []);
  return rejected.notAsked.map((name) => notAsked(['data', 'properties', String(properties.indexOf(name))]));
};

/** The rejections of an answer or a withdrawal; a repeat of one that was recorded has none. */
const respond = async (event: string, rejected: RejectedAnswer | undefined, keys: string[]): Promise<Rejection[]> => {
  if (rejected === undefined) {
    await recordAnswered(event);
    return [];
  }
  if (!('unknown' in rejected)) return rejected.notAsked.map((name) => notAsked([...keys, name]));
  // A repeat is valid, even if the request has expired or its user was removed.
  return (await wasAnswered(event)) ? [] : [UNKNOWN_REQUEST];
};

const UNKNOWN_BOT: Rejection = { keys: ['data', 'to'], detail: "is no bot's number" };
const UNKNOWN_MESSAGE: Rejection = { keys: ['data', 'id'], detail: 'is the id of no message that was sent to a user' };
const UNKNOWN_REQUEST: Rejection = {
  keys: ['data', 'id'],
  detail: 'is the id of no request, or of one that has expired',
};

const notAsked = (keys: string[]): Rejection => ({
  keys,
  detail: 'is not among the properties that this request asks for',
});
