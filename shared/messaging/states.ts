/** States that messages reach: their log entries, and the notifications of the account's platform. */

import type { Key } from '../table/keys.ts';
import { putIfAbsentWrite, type Write } from '../table/transactions.ts';
import { conversationAbout, type Outgoing } from './events.ts';
import { type LogItem, logItem, type Message, type ReasonCode, type State } from './message.ts';
import { enqueueWrites } from './outbox.ts';

/** A message and a state that it reaches, with the reason if it is a failure. */
export interface ReachedState {
  message: Message;
  state: State;
  created: string;
  reason_code?: ReasonCode | undefined;
  reason?: string | undefined;
}

/** The log entry of a state that a message reaches. */
export const stateItem = ({ message, state, created, reason_code, reason }: ReachedState): LogItem => ({
  ...logItem(message, state, created),
  // Stryker disable next-line ConditionalExpression: The table and JSON leave out a value that is undefined.
  ...(reason_code !== undefined && { reason_code }),
  // Stryker disable next-line ConditionalExpression: The table and JSON leave out a value that is undefined.
  ...(reason !== undefined && { reason }),
});

/**
 * The writes by which a message reaches a state: the log entry, whose condition fails if it exists already, and the
 * notification of the account's platform, if the message is `reported`.
 */
export const stateWrites = (what: ReachedState, after: string | undefined): Write[] => {
  const { message } = what;
  return [
    putIfAbsentWrite<Key>(stateItem(what)),
    ...(message.reported ? enqueueWrites(conversationAbout('platform', message), reportOf(what), after) : []),
  ];
};

/** The notification of a state for an account's platform. */
export const reportOf = ({ message, state, created }: ReachedState): Outgoing => ({
  type: 'message.state',
  message,
  state,
  created,
});
