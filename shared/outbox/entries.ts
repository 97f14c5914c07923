/**
 * Outboxes: the pending entries of each conversation, in order. The transaction that accepts an entry also writes the
 * conversation's head.
 */
import { timestamp } from '../core/clock.ts';
import { newId, newIdAfter } from '../core/ids.ts';
import { getManyConsistent, page, pages } from '../table/client.ts';
import { dueAt, type Key } from '../table/keys.ts';
import { deleteExistingWrite, putWrite, transactReturningItems, type Write } from '../table/transactions.ts';
import { traceId } from '../telemetry/trace.ts';
import { type AnyConversation, conversationName, entryKey, headKey, isEntryKey } from './entities.ts';
import type { Conversation, Entry, OutboxEvent } from './event.ts';
import { addEntriesWrite } from './head.ts';
import { deliverAtOnce } from './wake-ups/awaited.ts';

/** Entries that are read at a time. */
const PAGE = 10;

/**
 * The id of the entry that the next entry of a conversation follows, by the conversation's name. Undefined if the clock
 * decides.
 */
export type After = (conversation: string) => string | undefined;

/** The content of a new entry. `created` is that of the entry that it copies. */
type Draft = Pick<Entry, 'outgoing' | 'replay' | 'copy'> & Partial<Pick<Entry, 'created'>>;

/**
 * The writes that put an entry into a conversation's outbox, for the transaction that accepts it: `transactInOrder`. 4
 * write units.
 */
export const enqueueWrites = (conversation: Conversation, outgoing: OutboxEvent, after: After): Write[] =>
  enqueue(conversation, [{ outgoing }], after).writes;

/**
 * As `enqueueWrites`, for several entries, which are delivered in this order: with their ids. 2 write units each, and 2 for
 * the head. An entry that is valid for a limited time costs 1 more on an index.
 */
export const enqueue = (
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
  const entries = drafts.map(({ outgoing: one, replay, copy, created = timestamp() }, index): Entry => {
    const id = index === 0 ? first : newIdAfter(newest);
    newest = id;
    const key = entryKey(name, id);
    const validUntil = one.type === 'message.send' ? one.valid_until : undefined;
    return {
      ...key,
      id,
      ...(replay !== undefined && { replay }),
      ...(copy !== undefined && { copy }),
      created,
      outgoing: one,
      ...(trace_id !== undefined && { trace_id }),
      ...(validUntil !== undefined && dueAt('conversations', { account, id: name, time: validUntil })),
    };
  });
  const writes = [
    ...entries.map((entry) => putWrite(entry)),
    addEntriesWrite(
      conversation,
      { phone: conversation.phone, count: entries.length, newest, created: entries[0]?.created },
      {
        ConditionExpression: 'attribute_not_exists(newest) OR newest < :first',
        ExpressionAttributeValues: { ':first': first },
      },
    ),
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
    const writes = writesAfter((conversation) => newest.get(headKey(conversation).pk));
    const failed = await transactReturningItems(writes);
    if (failed.length === 0) deliverAtOnce(messagesIn(writes));
    // Only heads return their items. Other failed conditions concern the caller.
    const others = failed.filter(({ item }) => item === undefined);
    if (others.length > 0 || failed.length === 0) return others.map(({ place }) => place);
    for (const { item } of failed) newest.set(item?.pk, String(item?.newest));
  }
};

/** The messages that writes put into outboxes: somebody waits for these, and not for reports. */
const messagesIn = (writes: Write[]): Entry[] =>
  writes.flatMap(({ Put }) => {
    const item = Put?.Item as Entry | undefined;
    return item && isEntryKey(item) && AWAITED.has(item.outgoing.type) ? [item] : [];
  });

const AWAITED: ReadonlySet<OutboxEvent['type']> = new Set(['message.send', 'message.received']);

/** The query for the entries of a conversation, oldest first. */
const entriesOf = (conversation: AnyConversation) => {
  const { pk, sk } = entryKey(conversationName(conversation), '');
  return {
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
    ExpressionAttributeValues: { ':pk': pk, ':sk': sk },
  };
};

/** The oldest pending entries of a conversation, at most `max`; `all` if no more follow. 1 read unit for 4 KB. */
export const oldestEntries = async (
  conversation: AnyConversation,
  max = PAGE,
): Promise<{ entries: Entry[]; all: boolean }> => {
  const { items, next } = await page<Entry>({ ...entriesOf(conversation), ConsistentRead: true, Limit: max });
  return { entries: items, all: next === undefined };
};

/** How many entries of a conversation are pending, at most `max`. 0.5 read units for 4 KB of them. Eventually consistent. */
export const countPending = async (
  conversation: AnyConversation,
  max: number,
): Promise<{ count: number; more: boolean }> => {
  const { items, next } = await page<Key>({ ...entriesOf(conversation), ProjectionExpression: 'pk', Limit: max + 1 });
  // A page is also full at 1 MB.
  return {
    count: Math.min(items.length, max),
    more: items.length > max || (next !== undefined && items.length < max),
  };
};

/** All pending entries of a conversation, oldest first, a page at a time. 1 read unit for 4 KB. */
export const pendingEntries = (conversation: AnyConversation): AsyncGenerator<Entry[]> =>
  pages<Entry>({ ...entriesOf(conversation), ConsistentRead: true });

/** The entries with these sort keys that are still pending, oldest first. 1 read unit for each, and 4 KB. */
export const entriesAt = async (conversation: AnyConversation, sks: string[]): Promise<Entry[]> => {
  const { pk } = entryKey(conversationName(conversation), '');
  const found = await getManyConsistent<Entry[]>(sks.toSorted().map((sk) => ({ pk, sk })));
  return found.filter((entry) => entry !== undefined);
};

/** Removes an entry, within the transaction that settles it; the transaction fails if the entry was removed before. */
export const dequeueWrite = ({ pk, sk }: Entry): Write => deleteExistingWrite({ pk, sk });
