/** Messages and their states, without their content. */

import { secondsFromNow } from '../core/clock.ts';
import type { SendingHours } from '../core/sending-hours.ts';
import { messageRetention } from '../core/settings.ts';
import type { Key } from '../table/keys.ts';
import { messageIdOf, messageKey, ofLog, outcomeKey, stateKey } from './entities.ts';

/** The first state of a message to a user, and of a message from a user. */
const firstStates = ['sent', 'received'] as const;

/** All states of a message. */
export const states = [
  ...firstStates,
  'delivered_to_server',
  'delivered_to_user',
  'read',
  'delivery_failed',
  'sending_failed',
  'reception_failed_http',
] as const;

export type State = (typeof states)[number];

/** The ways in which sending a message to a user ends. */
const outcomes = ['delivered_to_server', 'sending_failed'] as const satisfies State[];

/**
 * Why a message failed. Log entries and the indexes contain one of these codes, and no text from outside the service.
 * The guides for businesses and operators explain the codes.
 */
export const reasonCodes = [
  'refused',
  'unreachable',
  'cancelled',
  'expired',
  'opted_out',
  'bot_number_released',
  'no_platform',
  'user_erased',
  'unknown',
] as const;

export type ReasonCode = (typeof reasonCodes)[number];

/** A message as the service stores it, without its content, which is stored only while the message is pending. */
export interface Message {
  id: string;
  account: string;
  /** The user's number, for messages of both directions. */
  phone: string;
  job_id: string;
  /** `text`, `image`, `file`, `audio`, `video` or `location`; empty if unknown. */
  payload_type: string;
  /** The business's own name for it. */
  reference?: string;
  /** Set if the account's platform is notified of its states. */
  reported?: true;
  /**
   * The name of the chat platform that sent it, and the platform's id, which other messages may share. The
   * generation counts how often the platform has resent the message after it failed.
   */
  origin?: { platform: string; id: string; generation?: number };
  /** Between which times of the day it may be sent to its user, if not at all times. Further log entries do not contain it. */
  hours?: SendingHours;
  /** When it was accepted: `created` of its first log entry. */
  accepted: string;
  /** When all its items expire, in seconds since 1970: log entries, and status receipts. */
  expires_at: number;
}

/** A log entry in the table. */
export interface LogItem extends Key, ReturnType<typeof ofLog>, Omit<Message, 'id' | 'accepted'> {
  state: State;
  /** When the message reached the state. */
  created: string;
  /** Set if the state is a failure. */
  reason_code?: ReasonCode;
  /** Details of a failure, for operators: the cause, or the app network's text. Not in the indexes. */
  reason?: string;
  /** The id of the outbox entry that notifies the platform of the state, if it is notified. */
  report?: string | undefined;
  /** Whether the worker `count` has added it to its job's counter, or the claim by which it does (`stats/claims.ts`). */
  counted: boolean | string;
}

/**
 * When a message expires that is accepted now. All its items get this time, also if they are written later. Otherwise a
 * state might outlive its message, and belong to the next message with the same idempotency key.
 */
export const lifetimeFrom = (accepted: string): Pick<Message, 'accepted' | 'expires_at'> => ({
  accepted,
  expires_at: secondsFromNow(messageRetention() * 86_400),
});

/** The item of a log entry. The first log entry of a message is the message itself. */
export const logItem = (message: Message, state: State, created: string): LogItem => {
  const { id, accepted: _accepted, hours, ...rest } = message;
  return {
    ...logKey(id, state),
    ...rest,
    ...(hours && isFirst(state) && { hours }),
    state,
    created,
    counted: false,
    ...ofLog(message.account, { ...message, message: id, state, created }),
  };
};

/** The key of the log entry of a state. The ends of sending share one, so that a message has only one of them. */
const logKey = (id: string, state: State): Key => {
  if (isFirst(state)) return messageKey(id);
  return outcomes.some((end) => end === state) ? outcomeKey(id) : stateKey(id, state);
};

const isFirst = (state: State): boolean => firstStates.some((first) => first === state);

/** The message, by its first log entry. */
export const messageOf = (first: LogItem): Message => {
  const { account, phone, job_id, payload_type, reference, reported, origin, hours, created, expires_at } = first;
  return {
    id: messageIdOf(first),
    account,
    phone,
    job_id,
    payload_type,
    ...(reference !== undefined && { reference }),
    ...(reported && { reported }),
    ...(origin && { origin }),
    ...(hours && { hours }),
    accepted: created,
    expires_at,
  };
};
