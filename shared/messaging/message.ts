/** Messages and the states that they reach (spec §2): what the service keeps of them, without their content. */

import { secondsFromNow } from '../core/clock.ts';
import { idFromKey } from '../core/ids.ts';
import { messageRetention } from '../core/settings.ts';
import { type Key, messageIdOf, messageKey, ofLog, stateKey } from '../table/keys.ts';

/** The first state of a message to a user, and of one from a user; all others follow. */
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

/**
 * Why a message has failed. Log entries contain a code of this list, also in the indexes, and never a text of somebody
 * else's. The guide for operators explains them.
 */
export type ReasonCode = 'refused' | 'unreachable' | 'bot_number_released' | 'user_erased' | 'unknown';

/** A message as the service stores it, without its content, which is stored only while the message is pending. */
export interface Message {
  id: string;
  account: string;
  /** The user's number, for messages of both directions. */
  phone: string;
  job_id: string;
  /** `text`, `image`, `file`; empty where unknown. */
  payload_type: string;
  /** Set if its states are reported to the account's platform. */
  reported?: true;
  /**
   * The name of the chat platform that sent it, and the platform's id, which other messages may share. The
   * generation counts how often the platform has resent the message after it failed.
   */
  origin?: { platform: string; id: string; generation?: number };
  /** When it was accepted: `created` of its first log entry. */
  accepted: string;
  /** When all rows about it expire, in seconds since 1970: its log entries, and the receipts of reported statuses. */
  expires_at: number;
}

/** A log entry in the table. */
export interface LogItem extends Key, ReturnType<typeof ofLog>, Omit<Message, 'id' | 'accepted'> {
  state: State;
  /** When it reached the state. */
  created: string;
  /** Set if the state is a failure. */
  reason_code?: ReasonCode;
  /** More about a failure, for operators: the cause, or the words of the app network. Not in the indexes. */
  reason?: string;
  /** Whether `count` has added it to the counter of its job. Missing in entries of earlier versions. */
  counted?: boolean;
}

/**
 * When a message expires that is accepted now. All its rows get this time, however late they are written: a state that
 * outlived its message would count as one of the next message with the same idempotency key.
 */
export const lifetimeFrom = (accepted: string): Pick<Message, 'accepted' | 'expires_at'> => ({
  accepted,
  expires_at: secondsFromNow(messageRetention() * 86_400),
});

/** The item of a log entry. A message's first one is the message itself. */
export const logItem = (message: Message, state: State, created: string): LogItem => {
  const { id, accepted: _accepted, ...rest } = message;
  return {
    ...(isFirst(state) ? messageKey(id) : stateKey(id, state)),
    ...rest,
    state,
    created,
    counted: false,
    ...ofLog(message.account, { ...message, message: id, state, created }),
  };
};

const isFirst = (state: State): boolean => firstStates.some((first) => first === state);

/** The message whose first log entry this is. */
export const messageOf = (first: LogItem): Message => {
  const { account, phone, job_id, payload_type, reported, origin, created, expires_at } = first;
  return {
    id: messageIdOf(first),
    account,
    phone,
    job_id,
    payload_type,
    ...(reported && { reported }),
    ...(origin && { origin }),
    accepted: created,
    expires_at,
  };
};

/**
 * The job of a message that names none: one for each account, source and day (UTC).
 *
 * @param source - `api`, `app`, or the name of a chat platform
 */
export const jobOf = (account: string, source: string, created: string): string =>
  idFromKey(account, 'job', `${source} ${created.slice(0, 10)}`);
