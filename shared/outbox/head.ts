/**
 * The head of a conversation: the item that says when the conversation is delivered next, and by whom. It exists while
 * entries are pending, and is in the index of due work, so that `sweep` finds the entries even if every wake-up is lost.
 *
 *     addEntriesWrite     addEntriesWrite     scheduleRetry        resume               endConversation
 *     entry 1 accepted    entry 2 accepted    attempt failed       attempt succeeded    outbox empty
 *     |                   |                   |                    |                    |
 *     v                   v                   v                    v                    v
 *     generation 1        generation 2        attempts 1, cause    attempts removed     deleted if generation is 2
 *     newest = 1          newest = 2          retryAt, due then    due in a minute      nothing is pending
 *     due in a minute
 *
 * If an entry is accepted before the deletion, the generation has changed: the worker keeps the head and continues.
 *
 * While listeners stand for an account's webhook, `deliver` offers conversations instead of making requests. A listener
 * claims a conversation, sends its oldest entry to a program, and settles the entry by the response:
 *
 *     offer             claim                    renewClaim           release
 *     listed from now   listed from the end of   claim is valid for   listed from now, or from the next
 *     |                 the claim: 60 s          another 60 s         attempt after a failure
 *     v                 v                        v                    v
 *     deliver           listener A asks          A settles            the next entry can be claimed
 *
 * Each step is a conditional write, so one listener at a time has a conversation. If a listener ends without settling,
 * the entry can be claimed again after the claim. Only `deliver` offers and unlists conversations, so no request is made
 * to a URL while a listener has a claim.
 */
import { now, scaled, sortableTime, timestampOf } from '../core/clock.ts';
import { inParallel } from '../core/parallel.ts';
import { type Condition, getConsistent, page, pages, remove, updateAndGet } from '../table/client.ts';
import { dueAt, dueOf, dueOrder, type Key } from '../table/keys.ts';
import { updateWrite, type Write } from '../table/transactions.ts';
import {
  type AnyConversation,
  conversationName,
  conversationOf,
  headKey,
  type NamedConversation,
  offeredTo,
  retryingOnPlatform,
  waitingForPlatform,
} from './entities.ts';
import type { Entry } from './event.ts';

/** The head as the rest of the service uses it. Times without a unit have the form of `sortableTime`. */
export interface Head {
  conversation: NamedConversation;
  /** The user's number, which the key does not contain. */
  phone: string;
  /** The number of entries that were accepted. */
  generation: number;
  /** Id of the entry that was accepted last. */
  newest: string;
  /**
   * When the oldest pending entry was accepted, or earlier, in the form of `timestamp`. While it waits for its sending hours,
   * and after that, when they begin: closed hours are no delay.
   */
  created: string;
  /** When `sweep` wakes the conversation. */
  dueAt: string;
  /** Attempts that failed in a row, why the last one did, and when the next one is due. */
  attempts?: number | undefined;
  cause?: string | undefined;
  retryAt?: string | undefined;
  /** Id of the entry whose attempt failed: the oldest one then. */
  failed?: string | undefined;
  /** The number of requests with this entry. */
  tries?: number | undefined;
  /** When the destination first refused this entry. */
  refusedAt?: string | undefined;
  /** From when listeners may claim the oldest entry, while the conversation is offered to them. */
  offeredFrom?: string | undefined;
  /** The id of a listener's claim, and when it runs out. Until then, nobody else attempts an entry. */
  claim?: string | undefined;
  claimedUntil?: string | undefined;
  /** Id of the entry that listeners attempted once without success since a retry was scheduled. */
  attempted?: string | undefined;
  /** `listening` while it is offered, `waiting` while it has no destination: its age does not concern operators. */
  state?: 'listening' | 'waiting' | undefined;
}

/** A head with a listener's claim. */
export type ClaimedHead = Head & { claim: string; claimedUntil: string };

/**
 * The head in the table: with its places in the indexes of due work, of platforms that fail or are missing, and of offers. The
 * first index has `since` (`created`) and `status` (`state`), which are no attributes of log entries: these would be in it, too.
 */
interface HeadItem
  extends Key,
    Omit<
      Head,
      'conversation' | 'created' | 'state' | 'dueAt' | 'retryAt' | 'refusedAt' | 'claimedUntil' | 'offeredFrom'
    > {
  since: string;
  status?: Head['state'];
  retry_at?: string;
  refused?: string;
  claimed_until?: string;
  gsi1sk: string;
  gsi2pk?: string;
  gsi2sk?: string;
  gsi3pk?: string;
  gsi3sk?: string;
}

const toHead = (item: HeadItem): Head => {
  const { pk, sk: _sk, gsi1sk, gsi2pk: _of, gsi2sk: _since, gsi3pk: _to, gsi3sk, ...rest } = item;
  const { since, status, retry_at, refused, claimed_until, ...fields } = rest;
  return {
    ...fields,
    ...{ created: since, state: status },
    ...{ conversation: conversationOf({ pk }), dueAt: dueOf({ gsi1sk }).time },
    ...{ retryAt: retry_at, refusedAt: refused, claimedUntil: claimed_until, offeredFrom: gsi3sk },
  };
};

type Known = Pick<Head, 'conversation'> & Partial<Head>;

/** A change of a head: new values, values for what is missing, what is removed, and the condition. */
interface HeadChange {
  set?: Partial<Omit<HeadItem, keyof Key>>;
  setIfMissing?: Partial<Omit<HeadItem, keyof Key>>;
  remove?: readonly (keyof HeadItem)[];
  condition?: Condition;
}

/**
 * Changes a head that exists. Returns the new head; undefined if the condition was not met. The generation of a known head
 * stays: the caller has not read entries that were accepted since. 1 write unit, and 1 for each index whose keys change.
 */
const change = async (
  { conversation, generation }: Known,
  { set = {}, setIfMissing = {}, remove: removed = [], condition = {} }: HeadChange,
): Promise<Head | undefined> => {
  const values = { ...setIfMissing, ...set };
  const assignments = Object.keys(values).map((name) =>
    name in setIfMissing ? `#${name} = if_not_exists(#${name}, :${name})` : `#${name} = :${name}`,
  );
  const expressions = [
    ...(assignments.length > 0 ? [`SET ${assignments.join(', ')}`] : []),
    ...(removed.length > 0 ? [`REMOVE #${removed.join(', #')}`] : []),
  ];
  const item = await updateAndGet<HeadItem>({
    Key: headKey(conversationName(conversation)),
    UpdateExpression: expressions.join(' '),
    ConditionExpression: condition.ConditionExpression ?? 'attribute_exists(pk)',
    ExpressionAttributeNames: Object.fromEntries(
      [...Object.keys(values), ...removed].map((name) => [`#${name}`, name]),
    ),
    ExpressionAttributeValues: {
      ...Object.fromEntries(Object.entries(values).map(([name, value]) => [`:${name}`, value])),
      ...condition.ExpressionAttributeValues,
    },
  });
  return item && { ...toHead(item), ...(generation !== undefined && { generation }) };
};

const dueAtTime = ({ conversation: { account } }: Known, time: string) => ({ gsi1sk: dueOrder(account, time) });

/** Milliseconds after which `sweep` replaces a wake-up that was lost. */
const OVERDUE_MS = 60_000;

/** The place in the index of due work of a conversation whose wake-up was just sent. */
const overdue = (conversation: AnyConversation) =>
  dueAt('conversations', {
    account: conversation.account,
    id: conversationName(conversation),
    time: sortableTime(now() + scaled(OVERDUE_MS)),
  });

/** Notes new entries in the head, in the transaction that adds them. Creates the head if there is none. 2 write units. */
export const addEntriesWrite = (
  conversation: AnyConversation,
  { phone, count, newest, created }: { phone: string; count: number; newest: string; created: string | undefined },
  { ConditionExpression, ExpressionAttributeValues }: Condition,
): Write => {
  const { gsi1pk, gsi1sk } = overdue(conversation);
  return updateWrite({
    Key: headKey(conversationName(conversation)),
    UpdateExpression:
      'ADD generation :count SET newest = :newest, phone = :phone, since = if_not_exists(since, :since), gsi1pk = if_not_exists(gsi1pk, :shard), gsi1sk = if_not_exists(gsi1sk, :due)',
    ConditionExpression,
    ExpressionAttributeValues: {
      ...ExpressionAttributeValues,
      ...{ ':count': count, ':newest': newest, ':phone': phone, ':since': created, ':shard': gsi1pk, ':due': gsi1sk },
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
};

/** The head of a conversation; undefined if no entry is pending. 1 read unit. */
export const readHead = async (conversation: AnyConversation): Promise<Head | undefined> => {
  const item = await getConsistent<HeadItem>(headKey(conversationName(conversation)));
  return item && toHead(item);
};

/** Whether an attempt failed, and the next one is not due yet. */
export const isRetryScheduled = ({ retryAt }: Head, at = now()): boolean =>
  retryAt !== undefined && retryAt > sortableTime(at);

/** Whether a listener has a claim that has not run out. */
export const isClaimed = ({ claimedUntil }: Head, at = now()): boolean =>
  claimedUntil !== undefined && claimedUntil > sortableTime(at);

/** Whether the head of a conversation that continues is out of date. */
export const needsRefresh = ({ attempts, dueAt: time }: Head, at = now()): boolean =>
  attempts !== undefined || time <= sortableTime(at);

/** How often an entry was sent before. */
export const triesBefore = ({ failed, tries = 0 }: Head, { id }: Entry): number => (failed === id ? tries : 0);

/** What heads note of failed attempts. */
const FAILURES = ['attempts', 'cause', 'retry_at', 'failed', 'tries', 'refused'] as const;
const CLAIM = ['claim', 'claimed_until', 'attempted'] as const;

/**
 * Schedules a retry of a conversation at `until` (milliseconds since 1970). Customers see those of their platform. 1
 * write unit, and 1 on the index; for a platform's first failure, 1 on another index. A listener's claim is released in the
 * same write, so that a repeated settlement counts no second failure: 2 on the index of offers.
 */
export const scheduleRetry = async (
  head: Head,
  why: Required<Pick<Head, 'failed' | 'cause' | 'attempts'>> &
    Pick<Head, 'tries' | 'refusedAt'> & { until: number; since: string },
): Promise<void> => {
  const { direction, account } = head.conversation;
  const { since, failed, cause, attempts, tries = 0, refusedAt } = why;
  const until = sortableTime(why.until);
  await change(head, {
    set: {
      ...{ attempts, cause, failed, tries, retry_at: until, ...dueAtTime(head, until) },
      // The closed hours between two attempts of an entry do not count.
      since: head.failed === failed && head.created > since ? head.created : since,
      ...(refusedAt !== undefined && { refused: refusedAt }),
      ...(direction === 'platform' && { gsi2pk: retryingOnPlatform(account), gsi2sk: since }),
      ...(head.claim !== undefined && { gsi3sk: until }),
    },
    remove: [...(head.state === 'waiting' ? ['status' as const] : []), ...(head.claim === undefined ? [] : CLAIM)],
    ...(head.claim !== undefined && {
      condition: {
        // Without a claim, also for the client's own retry, after DynamoDB's first response was lost.
        ConditionExpression: 'attribute_exists(pk) AND (attribute_not_exists(claim) OR claim = :mine)',
        ExpressionAttributeValues: { ':mine': head.claim },
      },
    }),
  });
};

/**
 * Postpones a conversation to `until` (milliseconds since 1970): then `sweep` wakes it, if its wake-up does not return. 1
 * write unit, and 1 on the index.
 */
export const postpone = async (head: Head, until: number): Promise<void> => {
  await change(head, { set: dueAtTime(head, sortableTime(until)) });
};

/**
 * Milliseconds after which a waiting conversation is looked at again, in case that the setting of its destination missed it:
 * for the first time, because the index may have been behind; and later, because there may be too many to make due at once.
 */
const WAIT_MS = { first: 10_000, later: 6 * 3_600_000 };

/**
 * Has a conversation wait for a destination: until one is set, or its oldest entry ends at `end` (milliseconds since 1970). 1
 * write unit, and 3 on the indexes.
 */
export const awaitDestination = async (
  head: Head,
  { end, since, cause }: { end: number; since: string; cause: string },
): Promise<void> => {
  const wait = head.state === 'waiting' ? WAIT_MS.later : WAIT_MS.first;
  const until = sortableTime(Math.min(end, now() + scaled(wait)));
  await change(head, {
    set: {
      ...{ status: 'waiting', cause, retry_at: until, since, ...dueAtTime(head, until) },
      ...{ gsi2pk: waitingForPlatform(head.conversation.account), gsi2sk: since },
    },
    remove: ['attempts', 'failed', 'tries', 'refused'],
  });
};

/**
 * Has a conversation wait until the sending hours of an entry begin. This is no attempt, so earlier failures stay. 1 write
 * unit, and 1 on the index.
 *
 * @param until - in milliseconds since 1970
 */
export const awaitHours = async (head: Head, { id }: Entry, until: number): Promise<void> => {
  const time = sortableTime(until);
  await change(head, {
    set: {
      ...{ cause: 'outside_hours', failed: id, since: timestampOf(until), retry_at: time, ...dueAtTime(head, time) },
    },
  });
};

/** Resumes a conversation: earlier failures are forgotten, and `sweep` does not wake it for a minute. */
export const resume = async (head: Head, since: string): Promise<Head> => {
  const resumed = await change(head, {
    set: { gsi1sk: overdue(head.conversation).gsi1sk, since },
    remove: [...FAILURES, 'gsi2pk', 'gsi2sk', ...(head.state === 'waiting' ? ['status' as const] : [])],
  });
  // Another worker has ended the conversation: so nothing is pending, and `endConversation` finds this out.
  return resumed ?? { ...head, attempts: undefined, dueAt: sortableTime(now() + scaled(OVERDUE_MS)) };
};

/** Makes a conversation due that failed or waits, so that `sweep` wakes it next. Returns whether it still exists. */
export const makeDue = async (conversation: NamedConversation): Promise<boolean> => {
  const known = { conversation };
  const present = sortableTime(now());
  const isThere = (await change(known, { set: dueAtTime(known, present), remove: FAILURES })) !== undefined;
  // A listener may claim it at once, unless another one has a claim.
  await change(known, {
    set: { gsi3sk: present },
    remove: ['attempted'],
    condition: {
      ConditionExpression: `attribute_exists(gsi3pk) AND ${UNCLAIMED}`,
      ExpressionAttributeValues: { ':now': present },
    },
  });
  return isThere;
};

/** Conversations that are made due at the same time. */
const TOGETHER = 25;

/**
 * Makes conversations of an account due that wait for a platform or a webhook, those first that have waited longest, a page at
 * a time. The index may miss one that began to wait within the last second: `deliver` looks at it again within two minutes,
 * and at those beyond `most` after some hours. 0.5 read units for 4 KB of the index; 2 write units for each, and 2 on an index.
 */
export const endWaiting = (account: string, most?: number): Promise<void> =>
  makeListedDue(waitingForPlatform(account), () => true, most);

/**
 * As `endWaiting`, for those whose attempts have failed, as far as `of` is true for them: others of the first `most` stay as
 * they are.
 */
export const endRetrying = (
  account: string,
  of: (conversation: NamedConversation) => boolean,
  most: number,
): Promise<void> => makeListedDue(retryingOnPlatform(account), of, most);

const makeListedDue = async (
  partition: string,
  of: (conversation: NamedConversation) => boolean,
  most = Number.POSITIVE_INFINITY,
): Promise<void> => {
  let left = most;
  for await (const heads of pages<Key>({
    IndexName: 'gsi2',
    KeyConditionExpression: 'gsi2pk = :partition',
    ExpressionAttributeValues: { ':partition': partition },
    ProjectionExpression: 'pk, sk',
    ...(left < Number.POSITIVE_INFINITY && { Limit: left }),
  })) {
    const due = heads.slice(0, left).map(conversationOf).filter(of);
    await inParallel(due, TOGETHER, async (conversation) => void (await makeDue(conversation)));
    left -= heads.length;
    if (left <= 0) return;
  }
};

/**
 * Ends a conversation without pending entries, unless an entry was accepted since its head was read.
 *
 * @returns whether it ended
 */
export const endConversation = ({ conversation, generation, created }: Head): Promise<boolean> =>
  remove(headKey(conversationName(conversation)), {
    // A later head may have the same generation, but not the same time of creation.
    ConditionExpression: 'generation = :generation AND since = :since',
    ExpressionAttributeValues: { ':generation': generation, ':since': created },
  });

/**
 * The conversations that are listed in a partition of the index, `retryingOnPlatform` or `waitingForPlatform`, the longest
 * pending first, at most `max`. 0.5 read units for 4 KB. Eventually consistent.
 */
export const listedConversations = async (
  partition: string,
  max: number,
): Promise<{ conversations: NamedConversation[]; more: boolean }> => {
  const { items, next } = await page<Key>({
    IndexName: 'gsi2',
    KeyConditionExpression: 'gsi2pk = :partition',
    ExpressionAttributeValues: { ':partition': partition },
    ProjectionExpression: 'pk, sk',
    Limit: max + 1,
  });
  const more = items.length > max || (next !== undefined && items.length < max);
  return { conversations: items.slice(0, max).map(conversationOf), more };
};

/** The conversations of an account that listeners may claim now, those first that have waited longest. */
export const offeredConversations = async (account: string, max: number): Promise<NamedConversation[]> => {
  const { items } = await page<Key>({
    IndexName: 'gsi3',
    KeyConditionExpression: 'gsi3pk = :offered AND gsi3sk <= :now',
    ExpressionAttributeValues: { ':offered': offeredTo(account), ':now': sortableTime(now()) },
    ProjectionExpression: 'pk, sk',
    Limit: max,
  });
  return items.map(conversationOf);
};

/** Milliseconds for which a claim is valid: longer than a request, its response, and some repeats of a failed call. */
const CLAIM_MS = 60_000;
/** Milliseconds after which `deliver` looks at an offered conversation again. */
const LOOK_MS = 6 * 3_600_000;

const UNCLAIMED = '(attribute_not_exists(claimed_until) OR claimed_until <= :now)';

/**
 * Offers a conversation to listeners, unless it is offered. 1 write unit, and 1 on an index.
 *
 * @param end - when its oldest entry fails permanently, in milliseconds since 1970
 */
export const offer = async (head: Head, end: number): Promise<void> => {
  if (head.offeredFrom !== undefined && head.dueAt > sortableTime(now())) return;
  await change(head, {
    set: {
      ...{ gsi3pk: offeredTo(head.conversation.account), status: 'listening' },
      ...dueAtTime(head, sortableTime(Math.min(end, now() + scaled(LOOK_MS)))),
    },
    setIfMissing: { gsi3sk: sortableTime(now()) },
  });
};

/** Has `deliver` look at a conversation when a listener's claim runs out. */
export const awaitClaimEnd = async (head: Head): Promise<void> => {
  const { claimedUntil, dueAt: time } = head;
  if (claimedUntil === undefined || time > sortableTime(now())) return;
  await change(head, { set: dueAtTime(head, claimedUntil) });
};

/**
 * Unlists a conversation that is offered, because its account has no listeners any more.
 *
 * @returns the head without the offer; undefined if a listener has a claim
 */
export const unlist = async (head: Head): Promise<Head | undefined> => {
  if (head.offeredFrom === undefined && head.claim === undefined) return head;
  const free = await change(head, {
    remove: ['gsi3pk', 'gsi3sk', ...CLAIM, 'status'],
    condition: {
      ConditionExpression: `attribute_exists(pk) AND ${UNCLAIMED}`,
      ExpressionAttributeValues: { ':now': sortableTime(now()) },
    },
  });
  if (free === undefined) await awaitClaimEnd(head);
  return free;
};

const claimWith = async (
  conversation: NamedConversation,
  claim: string,
  condition: Condition,
): Promise<ClaimedHead | undefined> => {
  const claimedUntil = sortableTime(now() + CLAIM_MS);
  const head = await change(
    { conversation },
    { set: { claim, claimed_until: claimedUntil, gsi3sk: claimedUntil }, condition },
  );
  return head && { ...head, claim, claimedUntil };
};

/**
 * Claims an offered conversation whose next attempt is due, under a new id. 1 write unit, and 2 on an index.
 *
 * @returns its head; undefined if another listener was quicker, or the conversation is no longer offered
 */
export const claimOffer = (conversation: NamedConversation, id: string): Promise<ClaimedHead | undefined> =>
  claimWith(conversation, id, {
    // Also true for the client's own retry, after DynamoDB's first response was lost.
    ConditionExpression: 'gsi3pk = :offered AND (gsi3sk <= :now OR claim = :claim)',
    ExpressionAttributeValues: { ':offered': offeredTo(conversation.account), ':now': sortableTime(now()) },
  });

/**
 * Renews a claim that has not run out, so that nobody else claims the conversation while its entry is settled.
 *
 * @returns the head; undefined if the claim has run out, or there is none
 */
export const renewClaim = (conversation: NamedConversation, id: string): Promise<ClaimedHead | undefined> =>
  claimWith(conversation, id, {
    ConditionExpression: 'claim = :claim AND claimed_until > :now',
    ExpressionAttributeValues: { ':now': sortableTime(now()) },
  });

/**
 * Releases a claim: a listener can claim the next entry now, or `deliver` settles what no listener may receive, when
 * `sweep` wakes it within a minute. A scheduled retry releases the claim itself.
 */
export const release = async (head: ClaimedHead, to: 'listeners' | 'deliver'): Promise<void> => {
  const present = sortableTime(now());
  await change(head, {
    set: to === 'listeners' ? { gsi3sk: present } : dueAtTime(head, present),
    remove: to === 'listeners' ? CLAIM : [...CLAIM, 'gsi3pk', 'gsi3sk'],
    condition: claimedBy(head),
  });
};

/**
 * Releases a claim after the first failed request of a round: the second one follows at `due` (milliseconds since 1970),
 * before a retry is scheduled. `tries` is the number of requests with the entry.
 */
export const releaseForSecondTry = async (
  head: ClaimedHead,
  { entry, due, tries }: { entry: string; due: number; tries: number },
): Promise<void> => {
  await change(head, {
    set: { gsi3sk: sortableTime(due), attempted: entry, failed: entry, tries },
    remove: ['claim', 'claimed_until'],
    condition: claimedBy(head),
  });
};

const claimedBy = ({ claim }: ClaimedHead): Condition => ({
  ConditionExpression: 'claim = :mine',
  ExpressionAttributeValues: { ':mine': claim },
});
