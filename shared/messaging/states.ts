/** States that messages reach: their log entries, and the reports to the account's platform. */

import type { Key } from '../table/keys.ts';
import { putIfAbsentWrite, type Write } from '../table/transactions.ts';
import { conversationAbout, type Outgoing } from './events.ts';
import { type LogItem, logItem, type Message, type ReasonCode, type State } from './message.ts';
import { enqueueWrites } from './outbox.ts';

/** That a message reaches a state; why, where it failed. */
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
 * The writes by which a message reaches a state: its log entry, which fails where it has reached it before, and the
 * report to its account's platform, if the platform is to be notified.
 */
export const stateWrites = (what: ReachedState, after: string | undefined): Write[] => {
  const { message } = what;
  return [
    putIfAbsentWrite<Key>(stateItem(what)),
    ...(message.reported ? enqueueWrites(conversationAbout('platform', message), reportOf(what), after) : []),
  ];
};

/** What an account's platform is sent about a state. */
export const reportOf = ({ message, state, created }: ReachedState): Outgoing => ({
  type: 'message.state',
  message,
  state,
  created,
});
