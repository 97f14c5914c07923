/** States that messages reach: their log entries, and the notifications of the account's platform. */

import { page } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { putIfAbsentWrite, type Write } from '../table/transactions.ts';
import { stateKey } from './entities.ts';
import type { After } from './entries.ts';
import { enqueue } from './entries.ts';
import { conversationAbout, type Entry, eventIdOf, type OutboxEvent } from './event.ts';
import { type LogItem, logItem, type Message, type ReasonCode, type State } from './message.ts';

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
  ...(reason_code !== undefined && { reason_code }),
  ...(reason !== undefined && { reason }),
});

/**
 * The writes by which a message reaches a state: the log entry, whose condition fails if it exists already, and the
 * notification of the account's platform, if the message is `reported`.
 */
export const stateWrites = (what: ReachedState, after: After): Write[] => {
  const { message } = what;
  if (!message.reported) return [putIfAbsentWrite<Key>(stateItem(what))];
  const { ids, writes } = enqueue(conversationAbout('platform', message), [{ outgoing: reportOf(what) }], after);
  return [putIfAbsentWrite({ ...stateItem(what), report: ids[0] }), ...writes];
};

/** For each state that is reported, the states after which it is not: the message has gone further. */
const LATER: Partial<Record<State, readonly State[]>> = {
  delivered_to_server: ['delivery_failed', 'delivered_to_user', 'read'],
  sending_failed: ['delivered_to_user', 'read'],
  delivery_failed: ['read'],
  delivered_to_user: ['read'],
};

/**
 * Whether a platform was notified of a later state before an entry that reports a state. The app network may report that a
 * message was read before the message is logged as sent, so states are accepted in any order. Each is logged, but those of
 * which a platform is notified never go backwards. 1 read unit, if the state may be outdated. A replay is never outdated,
 * because the customer asks for it.
 */
export const isOutdated = async (entry: Entry): Promise<boolean> => {
  const { outgoing, replay } = entry;
  const later = outgoing.type === 'message.state' && replay === undefined ? LATER[outgoing.state] : undefined;
  if (later === undefined || outgoing.type !== 'message.state') return false;
  const { pk, sk } = stateKey(outgoing.message.id, '');
  const { items } = await page<Pick<LogItem, 'state' | 'report'>>({
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
    ExpressionAttributeValues: { ':pk': pk, ':sk': sk },
    ProjectionExpression: '#state, report',
    ExpressionAttributeNames: { '#state': 'state' },
    ConsistentRead: true,
  });
  return items.some(({ state, report }) => later.includes(state) && report !== undefined && report < eventIdOf(entry));
};

/** The notification of a state for an account's platform. */
export const reportOf = ({ message, state, created, reason_code }: ReachedState): OutboxEvent => ({
  type: 'message.state',
  message,
  state,
  created,
  ...(reason_code !== undefined && { reason_code }),
});
