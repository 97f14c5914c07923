/** States that messages reach: their log entries, and the reports to the account's platform. */

import type { Key } from '../table/keys.ts';
import { puttingNew, type Write } from '../table/transactions.ts';
import { conversation, type Outgoing } from './events.ts';
import { type LogItem, logItem, type Message, type State } from './message.ts';
import { enqueueing } from './outbox.ts';

/** That a message reaches a state; why, where it failed. */
export interface Reaching {
  message: Message;
  state: State;
  created: string;
  reason?: string | undefined;
}

/** The log entry of a state that a message reaches. */
export const stateItem = ({ message, state, created, reason }: Reaching): LogItem => ({
  ...logItem(message, state, created),
  // Stryker disable next-line ConditionalExpression: The table and JSON leave out a value that is undefined.
  ...(reason !== undefined && { reason }),
});

/**
 * The writes by which a message reaches a state: its log entry, which fails where it has reached it before, and the
 * report to its account's platform, where that wants to know.
 */
export const reaching = (what: Reaching, after: string | undefined): Write[] => {
  const { message } = what;
  return [
    puttingNew<Key>(stateItem(what)),
    ...(message.reported ? enqueueing(conversation('platform', message), reportOf(what), after) : []),
  ];
};

/** What an account's platform is sent about a state. */
export const reportOf = ({ message, state, created }: Reaching): Outgoing => ({
  type: 'message.state',
  message,
  state,
  created,
});
