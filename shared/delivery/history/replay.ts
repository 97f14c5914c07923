/**
 * Replays: an event of the history is sent again, with its id, so that the webhook can recognise it. It is delivered
 * after the pending entries of its conversation, and retried like others.
 *
 *     attempt failed            replay                       attempt succeeded
 *     |                         |                            |
 *     v                         v                            v
 *     attempt: failed, ended    attempt: replayed = entry 2  attempt: succeeded, the newest of the event
 *     outbox: nothing           outbox: entry 2              outbox: nothing
 *
 * The newest attempt of an event decides. One transaction marks it and adds the entry: of two replays at the same time,
 * one adds nothing; after an erasure, neither does.
 */
import { type Account, findAccount } from '../../accounts/accounts.ts';
import { Problem } from '../../core/problems.ts';
import { conversationName, endpointNumbers, entryKey } from '../../outbox/entities.ts';
import { enqueue, transactInOrder } from '../../outbox/entries.ts';
import type { Conversation, Entry, OutboxEvent } from '../../outbox/event.ts';
import { getConsistent, hasExpired, page } from '../../table/client.ts';
import { transactionsFor, updateWrite } from '../../table/transactions.ts';
import { type AttemptReference, attemptIdOf, attemptOf, attemptsOfEvent, deliveriesOf } from '../entities.ts';
import { type AttemptItem, unpack } from './attempt-item.ts';
import { deliveryNotFound, referenceOf } from './deliveries.ts';
import { deliveryStatuses } from './statuses.ts';

/** A replay: `queued` if it was added to the outbox, `pending` if the event is there already. */
export interface Replay {
  event_id: string;
  status: 'queued' | 'pending';
}

/**
 * Sends the event of a delivery attempt again, whatever became of it, unless it is pending. 4 read units, and 6 to 8
 * write units in one transaction.
 *
 * @throws delivery_not_found — unknown, expired, erased, another account's, or delivered elsewhere since
 * @throws platform_not_set_up — the account has no platform any more
 */
export const replayDelivery = async (account: string, id: string): Promise<Replay> => {
  const reference = referenceOf(id);
  const { event } = reference;
  const attempts = await attemptsAt(account, reference);
  if (!attempts.some((attempt) => attemptIdOf(attempt) === id.toLowerCase())) throw deliveryNotFound();
  const owner = await requirePlatform(account);
  const newest = attempts.at(-1);
  if (newest === undefined) throw deliveryNotFound();
  const target = targetOf(owner, newest);
  if (target === undefined) throw endpointIsGone();
  if (await isPending(target, newest)) return { event_id: event, status: 'pending' };
  const outgoing = eventOf(newest);
  // It left the outbox without a last attempt here: it was delivered to another platform, or its attempt was not recorded.
  if (outgoing === undefined) throw deliveryNotFound();
  // If another replay or an erasure comes first: look again.
  return (await enqueueReplays(target, [{ attempt: newest, outgoing }]))
    ? { event_id: event, status: 'queued' }
    : replayDelivery(account, id);
};

/**
 * An event is sent to the platform that the account has now. 1 read unit.
 *
 * @returns the account
 * @throws platform_not_set_up — it has none, so the event would be lost
 */
export const requirePlatform = async (account: string): Promise<Account> => {
  const found = await findAccount(account);
  if (found?.platform !== undefined) return found;
  throw new Problem(
    'platform_not_set_up',
    'Your account has neither a webhook nor another chat platform that could receive the event. The operator sets it up.',
  );
};

const endpointIsGone = (): Problem =>
  new Problem(
    'platform_not_set_up',
    'The webhook that received the event was deleted. GET /v1/webhooks lists those that you have.',
  );

/** An event, in an account with endpoints at one of them. */
export type EventReference = Pick<AttemptReference, 'slot' | 'event' | 'endpoint'>;

/**
 * The attempts of an event, oldest first, by consistent reads. 1 read unit for each outcome.
 *
 * @param max - of each outcome, the newest ones; default: as many as a page has
 */
export const attemptsAt = async (
  account: string,
  { slot, event, endpoint }: EventReference,
  max?: number,
): Promise<AttemptItem[]> => {
  const found = await Promise.all(
    deliveryStatuses.map((outcome) =>
      page<AttemptItem>({
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
        ExpressionAttributeValues: {
          ':pk': deliveriesOf(account, slot, outcome),
          ':sk': attemptsOfEvent(event, endpoint),
        },
        // The newest ones, in case that not all fit a page.
        ScanIndexForward: false,
        ConsistentRead: true,
        ...(max !== undefined && { Limit: max }),
      }),
    ),
  );
  return found
    .flatMap(({ items }) => items)
    .filter((item) => !hasExpired(item))
    .sort((a, b) => (a.sk < b.sk ? -1 : 1));
};

/** Where the event of an attempt is sent again: its conversation, and the endpoint in an account with endpoints. */
export interface Target {
  conversation: Conversation;
  /** The id of the endpoint, and the number that the account's bot has now. */
  endpoint?: { id: string; bot: string | null };
}

/**
 * The target of an attempt. What was sent to the webhook that an operator had set is for the endpoint that it has become.
 * Undefined if there is no such endpoint, or no platform.
 */
export const targetOf = (
  { id: account, platform, endpoints, bot_number }: Account,
  attempt: AttemptItem,
): Target | undefined => {
  const { phone, consent, reports, endpoint: id } = attempt;
  const { endpoint: given } = attemptOf(attempt);
  if (given === undefined && endpoints === undefined) {
    const direction = consent ? 'consent' : 'platform';
    const conversation: Conversation = { direction, account, phone, ...(reports && { reports }) };
    return platform === undefined ? undefined : { conversation };
  }
  const endpoint = given ?? endpointNumbers.find((number) => endpoints?.[number]?.adopted);
  const known = endpoint === undefined ? undefined : endpoints?.[endpoint];
  if (known === undefined || (given !== undefined && known.id !== id)) return undefined;
  const conversation: Conversation = { direction: 'platform', account, phone, endpoint };
  return { conversation, endpoint: { id: known.id, bot: bot_number ?? null } };
};

/** The event of an attempt; undefined if more attempts followed. */
export const eventOf = (attempt: AttemptItem): OutboxEvent | undefined => {
  const [, , , , , , , outgoing] = unpack(attempt);
  return outgoing ?? undefined;
};

/** Whether the event of its newest attempt is in the outbox: that entry, or the one that replays it. 1 read unit. */
export const isPending = async ({ conversation }: Target, newest: AttemptItem): Promise<boolean> => {
  const name = conversationName(conversation);
  return (await getConsistent<Entry>(entryKey(name, newest.replayed ?? newest.entry))) !== undefined;
};

/** The newest attempt of an event, and the event. */
export interface Candidate {
  attempt: AttemptItem;
  outgoing: OutboxEvent;
}

/** A part of the events of a conversation that one transaction adds to its outbox. */
type ReplayPart = [Candidate, ...Candidate[]];

/** Divides events of a conversation into parts that one transaction each adds to its outbox, in the same order. */
export const replayParts = (candidates: Candidate[]): ReplayPart[] =>
  transactionsFor(candidates, {
    writes: 2,
    others: 1,
    // The attempt that is marked may contain the event, too.
    touched: ({ attempt, outgoing }) => [attempt, outgoing, outgoing],
  }).filter((part): part is ReplayPart => part.length > 0);

/**
 * Adds a part of the events of a conversation to its outbox, in the given order. 2 write units for each and 2 for the
 * conversation, and 2 to 4 to mark each.
 *
 * @returns whether they were added; nothing was, if one of them was replayed or erased in the meantime
 */
export const enqueueReplays = async ({ conversation, endpoint }: Target, part: ReplayPart): Promise<boolean> => {
  const replays = part.map(({ attempt, outgoing }) => {
    const { event } = attemptOf(attempt);
    // The same as in the first attempt, if it was made for an endpoint.
    const bot = attempt.endpoint === undefined ? endpoint?.bot : unpack(attempt)[9];
    return {
      outgoing,
      replay: { event, since: attempt.created },
      ...(endpoint && { copy: { endpoint: endpoint.id, event, bot: bot ?? null } }),
    };
  });
  const failed = await transactInOrder((after) => {
    const { ids, writes } = enqueue(conversation, replays, after);
    return [...part.map(({ attempt }, index) => markWrite(attempt, ids[index])), ...writes];
  });
  return failed.length === 0;
};

/** Marks an attempt as replayed, unless it was erased, or replayed since it was read. */
const markWrite = ({ pk, sk, replayed }: AttemptItem, entry: string | undefined) =>
  updateWrite({
    Key: { pk, sk },
    UpdateExpression: 'SET replayed = :entry',
    ConditionExpression:
      replayed === undefined ? 'attribute_exists(pk) AND attribute_not_exists(replayed)' : 'replayed = :before',
    ExpressionAttributeValues: { ':entry': entry, ...(replayed !== undefined && { ':before': replayed }) },
  });
