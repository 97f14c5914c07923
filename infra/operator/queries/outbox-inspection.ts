/** What waits in outboxes, as operators look at it: over all conversations, found by the index of due work. */

import { now, sortableTime } from '../../../shared/core/clock.ts';
import type { CircuitItem } from '../../../shared/delivery/circuit-breaker.ts';
import { dueWork } from '../../../shared/delivery/scheduled-work.ts';
import type { Conversation, Direction } from '../../../shared/messaging/events.ts';
import type { State } from '../../../shared/messaging/message.ts';
import { conversationOf, type Entry, type Head, isPutOff, nameOf, readHead } from '../../../shared/messaging/outbox.ts';
import { receiverNameOf } from '../../../shared/outbound/destination.ts';
import { findLatest, page, pages, remove, update } from '../../../shared/table/client.ts';
import { circuitKey, entryKey, headKey } from '../../../shared/table/keys.ts';

/** Which conversations an operator means; without anything all. */
export interface Selection {
  direction?: Direction | undefined;
  account?: string | undefined;
  phone?: string | undefined;
}

/** What is told of a conversation's attempts to deliver. */
export interface Attempts {
  /** How many failed in a row, and why the last one did. */
  failed: number;
  cause?: string;
  /** When the next one is due; it is due now without that. */
  next?: string;
}

/** A conversation in which something waits. */
export interface Waiting extends Conversation, Attempts {
  /** When the oldest of it was accepted. */
  since: string;
  /** How many entries wait, and whether there are more than were counted. */
  entries: number;
  more: boolean;
}

/** Entries that are counted at most. */
const COUNTED = 100;
/** Conversations, or circuits, that are worked on at a time. */
const TOGETHER = 25;

/** Every selected conversation in which something waits, the one that waits longest first. */
export const waitingConversations = async (selection: Selection = {}): Promise<Waiting[]> => {
  const found = await together(await selectedConversations(selection), lookAt);
  // Stryker disable next-line EqualityOperator: No two are equal, or their order is not defined.
  return found.filter((waiting) => waiting !== undefined).sort((a, b) => (a.since < b.since ? -1 : 1));
};

/**
 * Has all that waits in the selected conversations tried again, as if nothing had failed: `sweep` wakes them within a
 * minute, and their receivers' circuits are closed, so that they are not put off again at once.
 *
 * @returns how many conversations
 */
export const retryConversations = async (selection: Selection = {}): Promise<number> => {
  const conversations = await selectedConversations(selection);
  // Before anything is due, or it would find its receiver left alone.
  await together([...new Set(conversations.map(receiverNameOf))], close);
  const due = await together(conversations, makeDue);
  return due.filter((wasThere) => wasThere).length;
};

/** How the attempts to deliver stand of what waits about a message, and which states wait to be reported. */
export interface WaitingAbout {
  attempts: Attempts;
  states: State[];
}

/**
 * What waits in a conversation about a message; nothing, where none does. Reads the whole outbox of the conversation,
 * but takes nothing that is said in it.
 */
export const waitingAbout = async (conversation: Conversation, message: string): Promise<WaitingAbout | undefined> => {
  const { pk, sk } = entryKey(nameOf(conversation), '');
  const found: { outgoing: { state?: State } }[] = [];
  for await (const items of pages<{ outgoing: { state?: State } }>({
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
    FilterExpression: 'outgoing.message.id = :message',
    ProjectionExpression: 'outgoing.#type, outgoing.#state',
    ExpressionAttributeNames: { '#type': 'type', '#state': 'state' },
    ExpressionAttributeValues: { ':pk': pk, ':sk': sk, ':message': message },
    // Stryker disable next-line BooleanLiteral: The embedded database always reads consistently.
    ConsistentRead: true,
  })) {
    found.push(...items);
  }
  const head = await readHead(conversation);
  // Without a head, what was read a moment before is gone.
  if (head === undefined || found.length === 0) return undefined;
  // Stryker disable next-line ArrayDeclaration: The replacement matches nothing either, or is rejected too.
  return { attempts: toAttempts(head), states: found.flatMap(({ outgoing }) => outgoing.state ?? []) };
};

/** Later than everything that is due. */
const EVER = '~';

/** The conversations that have a head and are selected; all are known before any is looked at. */
const selectedConversations = async ({ direction, account, phone }: Selection): Promise<Conversation[]> => {
  const found: Conversation[] = [];
  for await (const due of dueWork(EVER)) {
    // Stryker disable next-line MethodExpression,ConditionalExpression,StringLiteral: Only heads match the rest, and their sort key is fixed.
    found.push(...due.filter((item) => item.sk === headKey('').sk).map(conversationOf));
  }
  return found.filter(
    (conversation) =>
      (direction === undefined || conversation.direction === direction) &&
      (account === undefined || conversation.account === account) &&
      (phone === undefined || conversation.phone === phone),
  );
};

/** Works on all items, some at a time. */
const together = async <Item, Result>(items: Item[], work: (item: Item) => Promise<Result>): Promise<Result[]> => {
  const results: Result[] = [];
  // Stryker disable next-line EqualityOperator: One more round finds nothing.
  for (let start = 0; start < items.length; start += TOGETHER) {
    results.push(...(await Promise.all(items.slice(start, start + TOGETHER).map(work))));
  }
  return results;
};

/** What waits in a conversation; nothing, where it has come to its end. */
const lookAt = async (conversation: Conversation): Promise<Waiting | undefined> => {
  const { pk, sk } = entryKey(nameOf(conversation), '');
  const [head, { items, next }] = await Promise.all([
    readHead(conversation),
    page<Pick<Entry, 'created'>>({
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
      ExpressionAttributeValues: { ':pk': pk, ':sk': sk },
      ProjectionExpression: 'created',
      // Stryker disable next-line BooleanLiteral: The embedded database always reads consistently.
      ConsistentRead: true,
      Limit: COUNTED + 1,
    }),
  ]);
  const [oldest] = items;
  if (head === undefined || oldest === undefined) return undefined;
  return {
    ...conversation,
    since: oldest.created,
    ...toAttempts(head),
    entries: Math.min(items.length, COUNTED),
    // Stryker disable next-line ConditionalExpression: A full page of the table has a next page.
    more: items.length > COUNTED || next !== undefined,
  };
};

const toAttempts = (head: Head): Attempts => ({
  failed: head.attempts ?? 0,
  // Stryker disable next-line ConditionalExpression: The table and JSON leave out a value that is undefined.
  ...(head.cause !== undefined && { cause: head.cause }),
  // Stryker disable next-line ConditionalExpression: The table and JSON leave out a value that is undefined.
  ...(isPutOff(head) && head.retry_at !== undefined && { next: head.retry_at }),
});

/** Forgets what failed in a conversation, and has `sweep` wake it next. Answers whether it still was there. */
const makeDue = (conversation: Conversation): Promise<boolean> =>
  update({
    Key: headKey(nameOf(conversation)),
    UpdateExpression: 'SET gsi1sk = :now REMOVE attempts, cause, retry_at',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':now': sortableTime(now()) },
  });

/** Forgets that a receiver failed, or asked for a pause. */
export const close = async (receiver: string): Promise<void> => {
  await remove(circuitKey(receiver));
};

/** A receiver that is left alone. */
export interface OpenCircuit {
  receiver: string;
  /** Nobody tries before then; from then on the next one does. */
  open_until: string;
  /** Failures in a row. */
  failures: number;
}

/** A receiver's circuit, where it is open. 1 read unit. */
export const findOpenCircuit = async (receiver: string): Promise<OpenCircuit | undefined> => {
  const { open_until, failures = 0, trials = 0 } = (await findLatest<CircuitItem>(circuitKey(receiver))) ?? {};
  return open_until === undefined ? undefined : { receiver, open_until, failures: failures + trials };
};
