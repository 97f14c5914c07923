/** The history of a message, for operators: states, attempts, pending reports. Never its content. */

import { isMessageKey } from '../../../shared/outbox/entities.ts';
import { type Conversation, conversationAbout, conversationsOf, type Direction } from '../../../shared/outbox/event.ts';
import { type LogItem, type Message, messageOf, type State } from '../../../shared/outbox/message.ts';
import { logOfMessage } from '../../../shared/stats/message-log.ts';
import { type DeliveryAttempts, type PendingAbout, pendingAbout } from './outbox-inspection.ts';

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

/** The conversations towards the account's platform, or its webhooks. */
const towardsPlatform = ({ account, phone }: Message): Conversation[] =>
  conversationsOf(account, phone).filter(({ direction }) => direction === 'platform');

/** As `pendingAbout`, in several conversations: the attempts in the first one that has entries about the message. */
const pendingAmong = async (conversations: Conversation[], message: string): Promise<PendingAbout | undefined> => {
  const all = await Promise.all(conversations.map((conversation) => pendingAbout(conversation, message)));
  const found = all.filter((one) => one !== undefined);
  const [first] = found;
  return first && { ...first, states: [...new Set(found.flatMap(({ states }) => states))] };
};

/** A message's history; undefined if there is no such message. Reads its log entries, and the outboxes of its user. */
export const messageHistory = async (id: string): Promise<MessageHistory | undefined> => {
  const items = await logOfMessage(id);
  const first = items.find(isMessageKey);
  if (first === undefined) return undefined;
  const message = messageOf(first);
  const direction = first.state === 'sent' ? 'app' : 'platform';
  const [itself, reports] = await Promise.all([
    pendingAmong(direction === 'app' ? [conversationAbout('app', message)] : towardsPlatform(message), id),
    message.reported && pendingAmong(towardsPlatform(message), id),
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
