/**
 * Outboxes: the pending entries of each conversation, in order. The transaction that accepts an entry also writes the
 * conversation's head, so that `sweep` finds the entry even if every wake-up is lost.
 */
import { now, scaled, sortableTime, timestamp } from '../core/clock.ts';
import { newId, newIdAfter } from '../core/ids.ts';
import { getConsistent, getManyConsistent, page, pages, remove, update, updateAndGet } from '../table/client.ts';
import { dueAt, dueOf, dueOrder, type Key } from '../table/keys.ts';
import {
  deleteExistingWrite,
  putWrite,
  transactReturningItems,
  updateWrite,
  type Write,
} from '../table/transactions.ts';
import { traceId } from '../telemetry/trace.ts';
import {
  type AnyConversation,
  conversationDueAt,
  conversationName,
  conversationOf,
  entryKey,
  headKey,
  type NamedConversation,
  retryingOnPlatform,
  waitingForPlatform,
} from './entities.ts';
import type { Conversation, Entry, Outgoing } from './event.ts';

/**
 * The head of a conversation: an item that exists while entries are pending, and is in the index of due work.
 *
 *     enqueueWrites       enqueueWrites       scheduleRetry        resume               endConversation
 *     entry 1 accepted    entry 2 accepted    attempt failed       attempt succeeded    outbox empty
 *     |                   |                   |                    |                    |
 *     v                   v                   v                    v                    v
 *     generation 1        generation 2        attempts 1, cause    attempts removed     deleted if generation is 2
 *     newest = 1          newest = 2          retry_at, due then   due in a minute      nothing is pending
 *     due in a minute
 *
 * If an entry is accepted before the deletion, the generation has changed: the worker keeps the head and continues. If
 * a wake-up is lost, the head becomes due, and `sweep` sends another one.
 */
export interface Head extends Key {
  /** The user's number, which the key does not contain. */
  phone: string;
  /** The number of entries that were accepted. */
  generation: number;
  /** Id of the entry that was accepted last. */
  newest: string;
  /** When the oldest pending entry was accepted, or earlier. */
  created: string;
  /** When `sweep` wakes the conversation: `dueOf`. */
  gsi1sk: string;
  /** Attempts that failed in a row, why the last one did, and when the next one is due. */
  attempts?: number;
  cause?: string;
  retry_at?: string;
  /** Id of the entry whose attempt failed: the oldest one then. */
  failed?: string;
  /** The number of requests with this entry. */
  tries?: number;
  /** When the destination first refused this entry. */
  refused?: string;
  /** The place in the index of offers, while listeners may claim the oldest entry: the time is when the next one may. */
  gsi3pk?: string;
  gsi3sk?: string;
  /** The id of a listener's claim, and when it runs out. Until then, no other worker or listener attempts an entry. */
  claim?: string;
  claimed_until?: string;
  /** Id of the entry that listeners attempted once without success since a retry was scheduled. */
  attempted?: string;
  /**
   * `listening` while the conversation is offered, `waiting` while it has no destination: its age does not concern operators.
   * Also in the index of due work.
   */
  state?: 'listening' | 'waiting';
}

/** Milliseconds after which `sweep` replaces a wake-up that was lost. */
const OVERDUE_MS = 60_000;
/** Entries that are read at a time. */
const PAGE = 10;

/**
 * The id of the entry that the next entry of a conversation follows, by the conversation's name. Undefined if the clock
 * decides.
 */
export type After = (conversation: string) => string | undefined;

/**
 * The writes that put an entry into a conversation's outbox, for the transaction that accepts it: `transactInOrder`. 4
 * write units.
 */
export const enqueueWrites = (conversation: Conversation, outgoing: Outgoing, after: After): Write[] =>
  enqueueAllWrites(conversation, [outgoing], after);

/**
 * As `enqueueWrites`, for several entries, which are delivered in this order. 2 write units each, and 2 for the head. An
 * entry that is valid for a limited time costs 1 more on an index.
 */
export const enqueueAllWrites = (
  conversation: Conversation,
  outgoing: [Outgoing, ...Outgoing[]],
  after: After,
): Write[] =>
  enqueueDrafts(
    conversation,
    outgoing.map((one) => ({ outgoing: one })),
    after,
  ).writes;

/** As `enqueueAllWrites`, with the ids of the new entries, in the same order. */
export const enqueueReports = (
  conversation: Conversation,
  outgoing: Outgoing[],
  after: After,
): { ids: string[]; writes: Write[] } =>
  enqueueDrafts(
    conversation,
    outgoing.map((one) => ({ outgoing: one })),
    after,
  );

/** The content of a new entry. */
type Draft = Pick<Entry, 'outgoing' | 'replay'>;

/** As `enqueueAllWrites`, for events that are sent again: with the ids of the new entries, in the same order. */
export const enqueueReplays = (
  conversation: Conversation,
  replays: Required<Draft>[],
  after: After,
): { ids: string[]; writes: Write[] } => enqueueDrafts(conversation, replays, after);

const enqueueDrafts = (
  conversation: Conversation,
  drafts: Draft[],
  after: After,
): { ids: string[]; writes: Write[] } => {
  const { account } = conversation;
  const name = conversationName(conversation);
  const trace_id = traceId();
  const previous = after(name);
  const first = previous === undefined ? newId() : newIdAfter(previous);
  let newest = first;
  const entries = drafts.map(({ outgoing: one, replay }, place): Entry => {
    const id = place === 0 ? first : newIdAfter(newest);
    newest = id;
    const key = entryKey(name, id);
    const validUntil = one.type === 'message.send' ? one.valid_until : undefined;
    return {
      ...key,
      id,
      ...(replay !== undefined && { replay }),
      created: timestamp(),
      outgoing: one,
      ...(trace_id !== undefined && { trace_id }),
      ...(validUntil !== undefined && dueAt('conversations', { account, id: name, time: validUntil })),
    };
  });
  const { gsi1pk, gsi1sk } = dueAt('conversations', {
    account,
    id: name,
    time: sortableTime(now() + scaled(OVERDUE_MS)),
  });
  const writes = [
    ...entries.map((entry) => putWrite(entry)),
    updateWrite({
      Key: headKey(name),
      UpdateExpression: `ADD generation :count SET newest = :newest, phone = :phone, created = if_not_exists(created, :created), gsi1pk = if_not_exists(gsi1pk, :shard), gsi1sk = if_not_exists(gsi1sk, :due)`,
      ConditionExpression: 'attribute_not_exists(newest) OR newest < :first',
      ExpressionAttributeValues: {
        ':count': entries.length,
        ':first': first,
        ':newest': newest,
        ':phone': conversation.phone,
        ':created': entries[0]?.created,
        ':shard': gsi1pk,
        ':due': gsi1sk,
      },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    }),
  ];
  return { ids: entries.map(({ id }) => id), writes };
};

/**
 * As `transact`, for writes that add an entry to an outbox: it is delivered after all entries that were accepted
 * before. Entries are delivered in the order of their ids, which begin with the time, but clocks of instances differ:
 *
 *     time     instance A, clock ahead           table: newest   instance B
 *     10:00    adds 10:02-a if newest < 10:02-a  10:02-a
 *     10:01                                                      adds 10:01-b if newest < 10:01-b: condition fails
 *                                                                reads newest = 10:02-a from the failed condition
 *     10:01                                      10:02-b         adds 10:02-b, the id that follows 10:02-a
 *
 * @param writesAfter - returns the writes; `after` is for `enqueueWrites`
 */
export const transactInOrder = async (writesAfter: (after: After) => Write[]): Promise<number[]> => {
  const newest = new Map<unknown, string>();
  for (;;) {
    const failed = await transactReturningItems(writesAfter((conversation) => newest.get(headKey(conversation).pk)));
    // Only heads return their items. Other failed conditions concern the caller.
    const others = failed.filter(({ item }) => item === undefined);
    if (others.length > 0 || failed.length === 0) return others.map(({ place }) => place);
    for (const { item } of failed) newest.set(item?.pk, String(item?.newest));
  }
};

/** The head of a conversation; undefined if no entry is pending. 1 read unit. */
export const readHead = (conversation: AnyConversation): Promise<Head | undefined> =>
  getConsistent<Head>(headKey(conversationName(conversation)));

/** Whether an attempt failed, and the next one is not due yet. */
export const isRetryScheduled = ({ retry_at }: Head): boolean =>
  retry_at !== undefined && retry_at > sortableTime(now());

/** The oldest pending entries of a conversation, at most `most`; `all` if no more follow. 1 read unit for 4 KB. */
export const oldestEntries = async (
  conversation: AnyConversation,
  most = PAGE,
): Promise<{ entries: Entry[]; all: boolean }> => {
  const { pk, sk } = entryKey(conversationName(conversation), '');
  const { items, next } = await page<Entry>({
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
    ExpressionAttributeValues: { ':pk': pk, ':sk': sk },
    ConsistentRead: true,
    Limit: most,
  });
  return { entries: items, all: next === undefined };
};

/** A count up to a bound, and whether there are more. */
interface Bounded {
  more: boolean;
}

/**
 * The conversations that are listed in a partition of the index, `retryingOnPlatform` or `waitingForPlatform`, the longest
 * pending first. 0.5 read units for 4 KB. Eventually consistent.
 */
export const listedConversations = async (
  partition: string,
  most: number,
): Promise<Bounded & { conversations: NamedConversation[] }> => {
  const { items, next } = await page<Key>({
    IndexName: 'gsi2',
    KeyConditionExpression: 'gsi2pk = :partition',
    ExpressionAttributeValues: { ':partition': partition },
    ProjectionExpression: 'pk, sk',
    Limit: most + 1,
  });
  return { conversations: items.slice(0, most).map(conversationOf), more: isMore(items, most, next) };
};

/** How many entries of a conversation are pending. 0.5 read units for 4 KB of them. Eventually consistent. */
export const entriesOf = async (conversation: AnyConversation, most: number): Promise<Bounded & { count: number }> => {
  const { pk, sk } = entryKey(conversationName(conversation), '');
  const { items, next } = await page<Key>({
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
    ExpressionAttributeValues: { ':pk': pk, ':sk': sk },
    ProjectionExpression: 'pk',
    Limit: most + 1,
  });
  return { count: Math.min(items.length, most), more: isMore(items, most, next) };
};

/** Whether a query has more than `most` items. A page is also full at 1 MB. */
const isMore = (items: Key[], most: number, next: object | undefined): boolean =>
  items.length > most || (next !== undefined && items.length < most);

/** How often an entry was sent before, by the head of its conversation. */
export const triesBefore = ({ failed, tries = 0 }: Head, { id }: Entry): number => (failed === id ? tries : 0);

/** All pending entries of a conversation, oldest first, a page at a time. 1 read unit for 4 KB. */
export const pendingEntries = (conversation: AnyConversation): AsyncGenerator<Entry[]> => {
  const { pk, sk } = entryKey(conversationName(conversation), '');
  return pages<Entry>({
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
    ExpressionAttributeValues: { ':pk': pk, ':sk': sk },
    ConsistentRead: true,
  });
};

/** The entries with these sort keys that are still pending, oldest first. 1 read unit for each, and 4 KB. */
export const entriesAt = async (conversation: AnyConversation, sks: string[]): Promise<Entry[]> => {
  const { pk } = entryKey(conversationName(conversation), '');
  const found = await getManyConsistent<Entry[]>(sks.toSorted().map((sk) => ({ pk, sk })));
  return found.filter((entry) => entry !== undefined);
};

/** Removes an entry, within the transaction that settles it; the transaction fails if the entry was removed before. */
export const dequeueWrite = ({ pk, sk }: Entry): Write => deleteExistingWrite({ pk, sk });

/**
 * Schedules a retry of a conversation at `until` (milliseconds since 1970). Customers see those of their platform. 1
 * write unit, and 1 on the index; for a platform's first failure, 1 on another index. A listener's claim is released in the
 * same write, so that a repeated settlement counts no second failure: 2 on the index of offers.
 *
 * @param why.refused - when the destination first refused the entry, in the form of `sortableTime`
 */
export const scheduleRetry = async (
  { pk, sk, state, claim }: Head,
  why: {
    until: number;
    since: string;
    failed: string;
    cause: string;
    attempts: number;
    tries?: number;
    refused?: string | undefined;
  },
): Promise<void> => {
  const { direction, account } = conversationOf({ pk });
  const isWaiting = state === 'waiting';
  const until = sortableTime(why.until);
  const ended = [
    ...(isWaiting ? ['#state'] : []),
    ...(claim === undefined ? [] : ['claim', 'claimed_until', 'attempted']),
  ].join(', ');
  await update({
    Key: { pk, sk },
    UpdateExpression: `SET attempts = :attempts, cause = :cause, retry_at = :until, gsi1sk = :due, created = :since, failed = :failed, tries = :tries${why.refused === undefined ? '' : ', refused = :refused'}${direction === 'platform' ? ', gsi2pk = :retrying, gsi2sk = :since' : ''}${claim === undefined ? '' : ', gsi3sk = :until'}${ended && ` REMOVE ${ended}`}`,
    // Without a claim, also for the client's own retry, after DynamoDB's first response was lost.
    ConditionExpression: `attribute_exists(pk)${claim === undefined ? '' : ' AND (attribute_not_exists(claim) OR claim = :claim)'}`,
    ...(isWaiting && { ExpressionAttributeNames: { '#state': 'state' } }),
    ExpressionAttributeValues: {
      ...(why.refused !== undefined && { ':refused': why.refused }),
      ...(direction === 'platform' && { ':retrying': retryingOnPlatform(account) }),
      ...(claim !== undefined && { ':claim': claim }),
      ':attempts': why.attempts,
      ':cause': why.cause,
      ':until': until,
      ':due': dueOrder(account, until),
      ':since': why.since,
      ':failed': why.failed,
      ':tries': why.tries ?? 0,
    },
  });
};

/**
 * Postpones a conversation to `until` (milliseconds since 1970): then `sweep` wakes it, if its wake-up does not return. 1
 * write unit, and 1 on the index.
 */
export const postpone = async (head: Head, until: number): Promise<void> => {
  await update({
    Key: { pk: head.pk, sk: head.sk },
    UpdateExpression: 'SET gsi1sk = :until',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':until': conversationDueAt(head, sortableTime(until)) },
  });
};

/** Milliseconds after which a waiting conversation is looked at again, in case that the setting of its destination missed it. */
const WAIT_MS = 6 * 3_600_000;

/**
 * Has a conversation wait for a destination: until one is set, or its oldest entry ends at `end` (milliseconds since 1970). 1
 * write unit, and 3 on the indexes.
 */
export const awaitDestination = async (
  { pk, sk }: Head,
  { end, since, cause }: { end: number; since: string; cause: string },
): Promise<Head> => {
  const until = sortableTime(Math.min(end, now() + scaled(WAIT_MS)));
  const { account } = conversationOf({ pk });
  const head = await updateAndGet<Head>({
    Key: { pk, sk },
    UpdateExpression:
      'SET #state = :waiting, cause = :cause, retry_at = :until, gsi1sk = :due, created = :since, gsi2pk = :account, gsi2sk = :since REMOVE attempts, failed, tries, refused',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: {
      ':waiting': 'waiting',
      ':cause': cause,
      ':until': until,
      ':due': conversationDueAt({ pk }, until),
      ':since': since,
      ':account': waitingForPlatform(account),
    },
  });
  if (head === undefined) throw new Error('A conversation with pending entries has no head.');
  return head;
};

/** Resumes a conversation: earlier failures are forgotten, and `sweep` does not wake it for a minute. */
export const resume = async (head: Head, since: string): Promise<Head> => {
  const gsi1sk = conversationDueAt(head, sortableTime(now() + scaled(OVERDUE_MS)));
  const isWaiting = head.state === 'waiting';
  await update({
    Key: { pk: head.pk, sk: head.sk },
    UpdateExpression: `SET gsi1sk = :due, created = :since REMOVE attempts, cause, retry_at, failed, tries, refused, gsi2pk, gsi2sk${isWaiting ? ', #state' : ''}`,
    ConditionExpression: 'attribute_exists(pk)',
    ...(isWaiting && { ExpressionAttributeNames: { '#state': 'state' } }),
    ExpressionAttributeValues: { ':due': gsi1sk, ':since': since },
  });
  const { attempts: _attempts, cause: _cause, retry_at: _retry, failed: _failed, tries: _tries, ...rest } = head;
  const { refused: _refused, state, ...others } = rest;
  return { ...others, ...(state !== undefined && !isWaiting && { state }), gsi1sk, created: since };
};

/** Whether the head of a conversation that continues is out of date. */
export const needsRefresh = (head: Head): boolean =>
  head.attempts !== undefined || dueOf(head).time <= sortableTime(now());

/**
 * Ends a conversation without pending entries, unless an entry was accepted since its head was read.
 *
 * @returns whether it ended
 */
export const endConversation = ({ pk, sk, generation, created }: Head): Promise<boolean> =>
  remove(
    { pk, sk },
    {
      // A later head may have the same generation, but not the same time of creation.
      ConditionExpression: 'generation = :generation AND created = :created',
      ExpressionAttributeValues: { ':generation': generation, ':created': created },
    },
  );
