/** Pending entries of all outboxes, for operators. The index of due work finds them. */

import { now, timestampOf } from '../../../shared/core/clock.ts';
import type { CircuitItem } from '../../../shared/delivery/circuit-breaker.ts';
import { circuitKey } from '../../../shared/delivery/entities.ts';
import { circuitNamesOf } from '../../../shared/destinations/destination.ts';
import { type Due, ScheduledWork } from '../../../shared/due-work/scheduled-work.ts';
import {
  apartOf,
  conversationName,
  conversationOf,
  entryKey,
  isHeadKey,
  type NamedConversation,
  userOf,
} from '../../../shared/outbox/entities.ts';
import type { Conversation, Direction, Entry } from '../../../shared/outbox/event.ts';
import { type Head, isRetryScheduled, makeDue, readHead } from '../../../shared/outbox/head.ts';
import type { State } from '../../../shared/outbox/message.ts';
import { getConsistent, page, pages, remove } from '../../../shared/table/client.ts';

/** Selects conversations; a missing field matches all. */
export interface Selection {
  direction?: Direction | undefined;
  account?: string | undefined;
  phone?: string | undefined;
}

/** The attempts to deliver the oldest entry of a conversation. */
export interface DeliveryAttempts {
  /** How many failed in a row, and the cause of the last failure. */
  failed: number;
  cause?: string;
  /** When the next attempt is due; if missing, now. */
  next?: string;
}

/** A conversation with pending entries. */
export interface PendingConversation extends Conversation, DeliveryAttempts {
  /** When the oldest entry was accepted. */
  since: string;
  /** How many entries are pending, and whether there are more than were counted. */
  entries: number;
  more: boolean;
}

/** Maximum number of entries that are counted. */
const COUNTED = 100;
/** Conversations or circuits that are processed at the same time. */
const TOGETHER = 25;

/** Every selected conversation with pending entries, the one with the oldest entry first. */
export const pendingConversations = async (selection: Selection = {}): Promise<PendingConversation[]> => {
  const found = await together(await selectedConversations(selection), inspect);
  return found.filter((waiting) => waiting !== undefined).sort((a, b) => (a.since < b.since ? -1 : 1));
};

/**
 * Retries the pending entries of the selected conversations. Their failures are forgotten, so `sweep` wakes them within
 * a minute. The circuits of their destinations are reset, so that attempts are made at once.
 *
 * @returns how many conversations are retried
 */
export const retryConversations = async (selection: Selection = {}): Promise<number> => {
  const conversations = await selectedConversations(selection);
  // Before the conversations are due: an open circuit would only schedule another retry.
  await together([...new Set(conversations.flatMap(circuitNamesOf))], resetCircuit);
  return makeAllDue(conversations);
};

/**
 * Makes an account's pending entries to users due, without a change of the app network's circuit, which is that of all
 * accounts.
 *
 * @returns how many conversations are due
 */
export const resumeConversations = async (account: string): Promise<number> =>
  makeAllDue(await selectedConversations({ account, direction: 'app' }));

const makeAllDue = async (conversations: NamedConversation[]): Promise<number> => {
  const due = await together(conversations, makeDue);
  return due.filter((wasThere) => wasThere).length;
};

/** Conversations with pending entries, in a few figures. */
export interface Backlog {
  conversations: number;
  /** Whether there are more than were counted. */
  more: boolean;
  /** When the oldest pending entry was accepted that does not wait for a listener; undefined if there is none. */
  oldest?: string;
  /** Destinations with pending entries whose circuit is open. */
  circuits: OpenCircuit[];
}

/** From so many conversations on, only a page of each account in each partition is read. */
const MOST_CONVERSATIONS = 10_000;

/** The backlog of all accounts. Reads no conversation: 0.5 read units for 4 KB of the index, and 1 for each destination. */
export const readBacklog = async (): Promise<Backlog> => {
  const work = new ScheduledWork('conversations', END_OF_TIME);
  const destinations = new Set<string>();
  let [conversations, more] = [0, false];
  let oldest: string | undefined;
  const present = timestampOf(now());
  const add = (due: Due[]): void => {
    const heads = due.filter(isHeadKey);
    conversations += heads.length;
    for (const head of heads) {
      for (const name of circuitNamesOf(conversationOf(head))) destinations.add(name);
      const { since, status } = head;
      // Conversations that are offered to listeners are not late. Those outside sending hours begin in the future.
      if (since !== undefined && status === undefined && since <= present && since < (oldest ?? END_OF_TIME)) {
        oldest = since;
      }
    }
  };
  for await (const due of work.firstTurn()) add(due);
  for await (const due of work.furtherTurns()) {
    more = conversations >= MOST_CONVERSATIONS;
    if (more) break;
    add(due);
  }
  const circuits = await together([...destinations], findOpenCircuit);
  return {
    conversations,
    more,
    ...(oldest !== undefined && { oldest }),
    circuits: circuits.filter((circuit) => circuit !== undefined),
  };
};

/** The attempts to deliver pending entries about a message, and the states that are not reported yet. */
export interface PendingAbout {
  attempts: DeliveryAttempts;
  states: State[];
}

/**
 * The pending entries of a conversation about a message; undefined if there are none. Reads the whole outbox of the
 * conversation, without the content of messages.
 */
export const pendingAbout = async (conversation: Conversation, message: string): Promise<PendingAbout | undefined> => {
  const { pk, sk } = entryKey(conversationName(conversation), '');
  const found: { outgoing: { state?: State } }[] = [];
  for await (const items of pages<{ outgoing: { state?: State } }>({
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
    FilterExpression: 'outgoing.message.id = :message',
    ProjectionExpression: 'outgoing.#type, outgoing.#state',
    ExpressionAttributeNames: { '#type': 'type', '#state': 'state' },
    ExpressionAttributeValues: { ':pk': pk, ':sk': sk, ':message': message },
    ConsistentRead: true,
  })) {
    found.push(...items);
  }
  const head = await readHead(conversation);
  // A missing head means that the entries were delivered after they were read.
  if (head === undefined || found.length === 0) return undefined;
  return { attempts: toAttempts(head), states: found.flatMap(({ outgoing }) => outgoing.state ?? []) };
};

/** Sorts after every time, so that all scheduled work counts as due. */
const END_OF_TIME = '~';

/** Whether a conversation is one with the user with a number. */
const isWith = (conversation: NamedConversation, phone: string): boolean => {
  const { direction, account } = conversation;
  return userOf(conversation) === userOf({ direction, account, phone });
};

/** The selected conversations that have a head. The list is complete before any conversation is read or changed. */
const selectedConversations = async ({ direction, account, phone }: Selection): Promise<NamedConversation[]> => {
  const found: NamedConversation[] = [];
  for await (const due of new ScheduledWork('conversations', END_OF_TIME).due()) {
    found.push(...due.filter(isHeadKey).map(conversationOf));
  }
  return found.filter(
    (conversation) =>
      (direction === undefined || conversation.direction === direction) &&
      (account === undefined || conversation.account === account) &&
      (phone === undefined || isWith(conversation, phone)),
  );
};

/** Processes all items, `TOGETHER` at a time. */
const together = async <Item, Result>(items: Item[], work: (item: Item) => Promise<Result>): Promise<Result[]> => {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += TOGETHER) {
    results.push(...(await Promise.all(items.slice(start, start + TOGETHER).map(work))));
  }
  return results;
};

/** A conversation with its pending entries; undefined if there are none. */
const inspect = async (conversation: NamedConversation): Promise<PendingConversation | undefined> => {
  const { pk, sk } = entryKey(conversationName(conversation), '');
  const [head, { items, next }] = await Promise.all([
    readHead(conversation),
    page<Pick<Entry, 'created'>>({
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
      ExpressionAttributeValues: { ':pk': pk, ':sk': sk },
      ProjectionExpression: 'created',
      ConsistentRead: true,
      Limit: COUNTED + 1,
    }),
  ]);
  const [oldest] = items;
  if (head === undefined || oldest === undefined) return undefined;
  const { direction, account } = conversation;
  return {
    direction,
    account,
    ...apartOf(conversation),
    phone: head.phone,
    since: oldest.created,
    ...toAttempts(head),
    entries: Math.min(items.length, COUNTED),
    more: items.length > COUNTED || next !== undefined,
  };
};

const toAttempts = (head: Head): DeliveryAttempts => ({
  failed: head.attempts ?? 0,
  ...causeOf(head),
  ...(isRetryScheduled(head) && head.retryAt !== undefined && { next: head.retryAt }),
});

/** Why a conversation is pending. Without a failed attempt, it waits for a listener. */
const causeOf = ({ cause, offeredFrom }: Head): Pick<DeliveryAttempts, 'cause'> => {
  if (cause !== undefined) return { cause };
  return offeredFrom === undefined ? {} : { cause: 'listening' };
};

/**
 * Closes a destination's circuit, and ends a pause of a rate limit.
 *
 * @internal Tests use it, too.
 */
export const resetCircuit = async (destination: string): Promise<void> => {
  await remove(circuitKey(destination));
};

/** A destination whose circuit is open. */
export interface OpenCircuit {
  destination: string;
  /** No attempt is made before this time; the first one after it probes the destination. */
  open_until: string;
  /** Failures in a row. */
  failures: number;
}

/** A destination's circuit, if it is open. 1 read unit. */
export const findOpenCircuit = async (destination: string): Promise<OpenCircuit | undefined> => {
  const { open_until, failures = 0, trials = 0 } = (await getConsistent<CircuitItem>(circuitKey(destination))) ?? {};
  return open_until === undefined ? undefined : { destination, open_until, failures: failures + trials };
};
