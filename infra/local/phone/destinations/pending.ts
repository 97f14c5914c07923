/** Pending messages of each destination, and when its next attempt is due. */
import { findAccount } from '../../../../shared/accounts/accounts.ts';
import { conversationName, entryKey } from '../../../../shared/outbox/entities.ts';
import type { OutboxEvent } from '../../../../shared/outbox/event.ts';
import { page } from '../../../../shared/table/client.ts';
import {
  type PendingConversation,
  pendingConversations,
  retryConversations,
  type Selection,
} from '../../../operator/queries/outbox-inspection.ts';
import { compare, isoOf } from '../times.ts';
import type { DestinationView, Server } from './views.ts';

type Pending = Pick<DestinationView, 'pending' | 'others' | 'next'>;

/** Most entries of a conversation that are counted. */
const MOST = 100;

/** The kinds of entries that a person waits for. */
const MESSAGES: OutboxEvent['type'][] = ['message.send', 'message.received', 'user_data.request'];

/**
 * Pending messages of each destination, except those whose first attempt is under way. Reads the conversations with
 * entries, and their entries without content.
 */
export const pendingOf = async (): Promise<Record<Server, Pending>> => {
  const waiting = (await pendingConversations()).filter(({ failed, next }) => failed > 0 || next !== undefined);
  const counted = await Promise.all(
    waiting.map(async (one) => ({ server: await serverOf(one), next: one.next, ...(await countEntries(one)) })),
  );
  const of = (server: Server): Pending => {
    const own = counted.filter((one) => one.server === server);
    const [next] = own.flatMap((one) => (one.next === undefined ? [] : [one.next])).sort(compare);
    return {
      pending: own.reduce((sum, { messages }) => sum + messages, 0),
      others: own.reduce((sum, { others }) => sum + others, 0),
      next: next === undefined ? null : isoOf(next),
    };
  };
  return { app: of('app'), rapidpro: of('rapidpro'), turn: of('turn') };
};

/** Retries the pending messages of a destination, as the operator's command `outbox retry` does. */
export const retryPending = async (server: Server): Promise<void> => {
  const conversations = await pendingConversations();
  const servers = await Promise.all(conversations.map(serverOf));
  const selections: Selection[] =
    server === 'app'
      ? [{ direction: 'app' }]
      : [...new Set(conversations.filter((_, index) => servers[index] === server).map(({ account }) => account))].map(
          (account) => ({ direction: 'platform', account }),
        );
  for (const selection of selections) await retryConversations(selection);
};

const PLATFORMS: Partial<Record<string, Server>> = { rapidpro: 'rapidpro', turn: 'turn' };

/** The destination of a conversation, if it is one with a switch. */
const serverOf = async ({ direction, account }: PendingConversation): Promise<Server | undefined> => {
  if (direction === 'app') return 'app';
  if (direction === 'consent') return undefined;
  const platform = (await findAccount(account))?.platform;
  return platform === undefined ? undefined : PLATFORMS[platform];
};

const countEntries = async (conversation: PendingConversation): Promise<{ messages: number; others: number }> => {
  const { pk, sk } = entryKey(conversationName(conversation), '');
  const { items } = await page<{ outgoing: Pick<OutboxEvent, 'type'> }>({
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
    ExpressionAttributeValues: { ':pk': pk, ':sk': sk },
    ProjectionExpression: 'outgoing.#type',
    ExpressionAttributeNames: { '#type': 'type' },
    ConsistentRead: true,
    Limit: MOST,
  });
  const messages = items.filter(({ outgoing }) => MESSAGES.includes(outgoing.type)).length;
  return { messages, others: items.length - messages };
};
