/** Recovery: all events that failed permanently since a time are sent again. */
import type { Account } from '../../accounts/accounts.ts';
import { now } from '../../core/clock.ts';
import { inParallel } from '../../core/parallel.ts';
import { sizeInJson } from '../../core/parts.ts';
import { conversationName } from '../../outbox/entities.ts';
import { page } from '../../table/client.ts';
import { attemptOf, attemptsFrom, deliveriesOf, deliverySlots, endOfAttempts } from '../entities.ts';
import { type AttemptItem, unpack } from './attempt-item.ts';
import {
  attemptsAt,
  type Candidate,
  type EventReference,
  enqueueReplays,
  eventOf,
  isPending,
  replayParts,
  requirePlatform,
  type Target,
  targetOf,
} from './replay.ts';

/** The numbers of events that a recovery found. */
export interface Recovered {
  /** Added to the outbox. */
  queued: number;
  /** In the outbox already. */
  pending: number;
}

/** When the events were accepted, in milliseconds since 1970: it includes `since`, and excludes `until`. And the endpoint. */
interface Recovery {
  since: number;
  until?: number | undefined;
  /** The id of an endpoint. Default: all. */
  webhook_id?: string | undefined;
}

/** Attempts that are read at a time, and conversations or events that are handled at the same time. */
const [PAGE, TOGETHER] = [200, 8];
/** Events of a conversation that are read before any of them is added to its outbox. */
const CHUNK = 40;
/** A call ends after so many events, bytes of them, pages of attempts, or milliseconds: the rest is for the next call. */
const CALL_BUDGET = { events: 500, bytes: 5_000_000, pages: 40, ms: 10_000 };

/**
 * Sends the events of an account again whose last attempt failed permanently: those of a conversation in the order in
 * which they were accepted. Events that are pending or were sent again since then stay as they are, so repeating it is
 * harmless. A call handles some 500 events, or 5 MB of them, within some 10 s; `next` is the position of the rest.
 *
 * Costs 1 read unit for 4 KB of failed attempts, of which it reads at most 40 MB; 3 read units for each event; and the writes
 * of a replay.
 *
 * @param after - position of the previous call
 * @throws platform_not_set_up — the account has no platform any more
 */
export const recoverDeliveries = async (
  account: string,
  which: Recovery,
  after?: string,
): Promise<{ recovered: Recovered; next?: string }> => {
  const owner = await requirePlatform(account);
  const end = now() + CALL_BUDGET.ms;
  const recovered: Recovered = { queued: 0, pending: 0 };
  const handled = { events: 0, bytes: 0, pages: 0 };
  const [first = '0', position] = after?.split(' ') ?? [];
  // A slot contains whole conversations, oldest event first.
  for (const slot of deliverySlots.filter((one) => one >= Number(first))) {
    let from = slot === Number(first) ? position : undefined;
    do {
      const found = await failedOf(owner, slot, which, from);
      const { items, bytes, next } = upTo(CALL_BUDGET.bytes - handled.bytes, found);
      await replayAll(owner, items, recovered);
      from = next;
      handled.events += items.length;
      handled.bytes += bytes;
      handled.pages += 1;
      const { events, bytes: size, pages } = CALL_BUDGET;
      const isEnough = handled.events >= events || handled.bytes >= size || handled.pages >= pages || now() > end;
      if (isEnough && (next !== undefined || slot !== deliverySlots.at(-1))) {
        return { recovered, next: next === undefined ? `${slot + 1}` : `${slot} ${next}` };
      }
    } while (from !== undefined);
  }
  return { recovered };
};

/** Permanently failed attempts that were not replayed, oldest event first. `next` is set if more may follow. */
interface Failed {
  items: AttemptItem[];
  next?: string;
}

/**
 * The first of these attempts whose events have so many bytes together, at least one. They are compressed in the table: a
 * page of 1 MB may have 50 MB of events.
 */
const upTo = (max: number, { items, next }: Failed): Failed & { bytes: number } => {
  let bytes = 0;
  for (const [index, attempt] of items.entries()) {
    bytes += sizeInJson(eventOf(attempt) ?? {});
    if (bytes < max || index === items.length - 1) continue;
    return { items: items.slice(0, index + 1), bytes, next: attempt.sk };
  }
  return { items, bytes, ...(next !== undefined && { next }) };
};

/** A page of permanently failed attempts, without those of endpoints that were deleted. */
const failedOf = async (
  owner: Account,
  slot: number,
  { since, until, webhook_id }: Recovery,
  after: string | undefined,
): Promise<Failed> => {
  const first = attemptsFrom(since);
  // After all attempts at this position, also if a caller has made it up.
  const from = after === undefined || after < first ? first : `${after}~`;
  const to = until === undefined ? endOfAttempts : attemptsFrom(until);
  if (to < from) return { items: [] };
  const { items, next } = await page<AttemptItem>({
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
    FilterExpression: `attribute_exists(ended) AND attribute_not_exists(replayed)${webhook_id === undefined ? '' : ' AND endpoint = :endpoint'}`,
    ExpressionAttributeValues: {
      ...(webhook_id !== undefined && { ':endpoint': webhook_id }),
      ':pk': deliveriesOf(owner.id, slot, 'failed'),
      ':from': from,
      ':to': to,
    },
    Limit: PAGE,
    // Nobody repeats a recovery that has found nothing.
    ConsistentRead: true,
  });
  return {
    items: items.filter((item) => targetOf(owner, item) !== undefined && !isTest(item)),
    ...(next && { next: String(next.sk) }),
  };
};

/** A test of an endpoint: whoever wants another one sends it. */
const isTest = (attempt: AttemptItem): boolean => unpack(attempt)[0] === 'webhook.test';

/** Replays the events of permanently failed attempts, and counts them. */
const replayAll = async (owner: Account, failed: AttemptItem[], recovered: Recovered): Promise<void> => {
  const all = failed.flatMap((attempt): [Target, AttemptItem][] => {
    const target = targetOf(owner, attempt);
    return target ? [[target, attempt]] : [];
  });
  const conversations = Map.groupBy(all, ([{ conversation }]) => conversationName(conversation));
  await inParallel([...conversations.values()], TOGETHER, async (theirs) => {
    const [[target] = []] = theirs;
    if (target) await replayConversation(owner.id, target, eventsOf(theirs.map(([, attempt]) => attempt)), recovered);
  });
};

/** The events of attempts of a conversation, each once. */
const eventsOf = (attempts: AttemptItem[]): EventReference[] => [
  ...new Map(attempts.map((attempt) => [attemptOf(attempt).event, attemptOf(attempt)])).values(),
];

/** Replays events of a conversation in their order, a chunk at a time. */
const replayConversation = async (
  account: string,
  target: Target,
  events: EventReference[],
  recovered: Recovered,
): Promise<void> => {
  for (let start = 0; start < events.length; start += CHUNK) {
    await replayChunk(account, target, events.slice(start, start + CHUNK), recovered);
  }
};

const replayChunk = async (
  account: string,
  target: Target,
  events: EventReference[],
  recovered: Recovered,
): Promise<void> => {
  const found: (Candidate | 'pending' | undefined)[] = events.map(() => undefined);
  await inParallel([...events.entries()], TOGETHER, async ([index, event]) => {
    found[index] = await candidateOf(account, target, event);
  });
  const candidates = found.filter((one): one is Candidate => typeof one === 'object');
  for (const part of replayParts(candidates)) {
    // Some were replayed or erased in the meantime, and none of the part was added: look again, before others follow.
    if (await enqueueReplays(target, part)) recovered.queued += part.length;
    else {
      const again = eventsOf(part.map(({ attempt }) => attempt));
      await replayChunk(account, target, again, recovered);
    }
  }
  recovered.pending += found.filter((one) => one === 'pending').length;
};

/** The event as it may be replayed; undefined if its last attempt did not fail permanently, or it was replayed since. */
const candidateOf = async (
  account: string,
  target: Target,
  event: EventReference,
): Promise<Candidate | 'pending' | undefined> => {
  const newest = (await attemptsAt(account, event, 1)).at(-1);
  if (newest === undefined || attemptOf(newest).outcome === 'succeeded') return undefined;
  if (await isPending(target, newest)) return 'pending';
  if (newest.ended === undefined || newest.replayed !== undefined) return undefined;
  const outgoing = eventOf(newest);
  return outgoing && { attempt: newest, outgoing };
};
