/** The history of a message, for operators: states, attempts, pending reports. Never its content. */

import { isMessageKey } from '../../../shared/outbox/entities.ts';
import { conversationAbout, type Direction } from '../../../shared/outbox/event.ts';
import { type LogItem, type Message, messageOf, type State } from '../../../shared/outbox/message.ts';
import { logOfMessage } from '../../../shared/stats/message-log.ts';
import { type DeliveryAttempts, pendingAbout } from './outbox-inspection.ts';

/** The history of a message, without its content. */
export interface MessageHistory extends Message {
  /** To the user (`app`), or to the account's platform. */
  direction: Direction;
  /** Its states in the order of time; failures have a code, and may have words. */
  states: Pick<LogItem, 'state' | 'created' | 'reason_code' | 'reason'>[];
  /** The attempts to deliver it, while it is pending. */
  waiting?: DeliveryAttempts;
  /** Pending reports to the account's platform: their states, and the attempts to deliver them. */
  reports?: DeliveryAttempts & { states: State[] };
}

/** A message's history; undefined if there is no such message. Reads its log entries, and the outboxes of its user. */
export const messageHistory = async (id: string): Promise<MessageHistory | undefined> => {
  const items = await logOfMessage(id);
  const first = items.find(isMessageKey);
  if (first === undefined) return undefined;
  const message = messageOf(first);
  const direction = first.state === 'sent' ? 'app' : 'platform';
  const [itself, reports] = await Promise.all([
    pendingAbout(conversationAbout(direction, message), id),
    message.reported && pendingAbout(conversationAbout('platform', message), id),
  ]);
  return {
    ...message,
    direction,
    states: items.map(({ state, created, reason_code, reason }) => ({
      state,
      created,
      ...(reason_code !== undefined && { reason_code }),
      ...(reason !== undefined && { reason }),
    })),
    ...(itself && { waiting: itself.attempts }),
    ...(reports && { reports: { states: reports.states, ...reports.attempts } }),
  };
};
