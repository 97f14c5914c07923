/** The delivery attempts of an account's webhook, as the API and operators see them. */

import { timestampOf } from '../../core/clock.ts';
import { HISTORY_DAYS, inDays } from '../../core/lifetimes.ts';
import { Problem } from '../../core/problems.ts';
import { contactOf } from '../../messaging/jids.ts';
import type { OutboxEvent } from '../../outbox/event.ts';
import { get, hasExpired, page } from '../../table/client.ts';
import {
  type AttemptReference,
  attemptIdOf,
  attemptKey,
  attemptOf,
  attemptsFrom,
  attemptWithId,
  type DeliveryOutcome,
  deliveriesOf,
  deliverySlots,
  endOfAttempts,
} from '../entities.ts';
import { type AttemptItem, unpack } from './attempt-item.ts';
import { deliveryStatuses, type EventType } from './statuses.ts';

/** A delivery attempt. */
export interface Delivery {
  id: string;
  /** The `webhook-id` of its requests. */
  event_id: string;
  type: EventType;
  /** The user. */
  phone: string;
  /** The message that the event is about. */
  message_id?: string;
  /** The business's own name for the message or the request. */
  reference?: string;
  /** The id of the endpoint, in an account with endpoints. */
  webhook_id?: string;
  /** The URL of the webhook, without user, password and query. */
  url?: string;
  /** The number of attempts so far, with this one. */
  attempt: number;
  started: string;
  duration_ms?: number;
  status: DeliveryOutcome;
  status_code?: number;
  /** Why there was no response. */
  error?: string;
  /** The beginning of the response's body. */
  response?: string;
  /** When the next attempt was due; missing if none follows. */
  next_attempt?: string;
}

export const typeOf = (type: OutboxEvent['type']): EventType => {
  if (type === 'message.received') return 'message';
  if (type === 'message.state') return 'status';
  if (type === 'webhook.test') return 'test';
  return type === 'user.state' ? 'user' : 'user_data';
};

export const toDelivery = (item: AttemptItem): Delivery => {
  const { outcome, event, started } = attemptOf(item);
  const [type, number, duration, result, next, url, message, , response] = unpack(item);
  return {
    id: attemptIdOf(item),
    event_id: event,
    type: typeOf(type),
    phone: item.phone,
    ...(message !== null && { message_id: message }),
    ...(item.reference !== undefined && { reference: item.reference }),
    ...(item.endpoint !== undefined && { webhook_id: item.endpoint }),
    ...(url !== null && { url }),
    attempt: number,
    started: timestampOf(started),
    ...(duration !== null && { duration_ms: duration }),
    status: outcome,
    ...(typeof result === 'number' ? { status_code: result } : { error: result }),
    ...(response !== null && { response }),
    ...(next !== null && { next_attempt: timestampOf(next) }),
  };
};

/** A delivery attempt in the form of the API. A test of an endpoint is about no user. */
export const presentDelivery = ({ id, event_id, type, phone, ...rest }: Delivery) => ({
  ...{ id, event_id, type, ...(phone !== '' && { contact: contactOf(phone) }) },
  ...rest,
});

export interface DeliveryFilter {
  status?: DeliveryOutcome | undefined;
  reference?: string | undefined;
  /** The id of an endpoint. */
  webhook_id?: string | undefined;
  /** The period in which the events were accepted, in seconds since 1970: it includes `start`, and excludes `end`. */
  start?: number | undefined;
  end?: number | undefined;
}

/** A partition that is read, newest first. */
interface Source {
  partition: string;
  items: AttemptItem[];
  next: Start;
}

type Start = Awaited<ReturnType<typeof page>>['next'];

/** Pages into which the entries of a list are divided: usually, many partitions contribute to a list. */
const PARTS = 8;
/** Attempts that are read at a time to find those with a reference, or of an endpoint. */
const FILTERED = 250;
/**
 * How often a list reads on, where that is needed for a full page. Enough for attempts without an event; of long events, a
 * page of the table has only a few, and of those that are searched for maybe none.
 */
const MAX_ROUNDS = 40;

/**
 * A page of an account's delivery attempts: at most `limit`, the newest event first, and of an event the newest attempt.
 * `next` is the position of the next page: a page of long events may be short, and have one. At least 0.5 read units for each
 * of 16 partitions, of 32 without a status; at most 128 for each and for each of 40 rounds.
 *
 * @param after - position of the last attempt of the previous page
 */
export const listDeliveries = async (
  account: string,
  { status, reference, webhook_id: endpoint, start = 0, end }: DeliveryFilter,
  limit: number,
  after?: string,
): Promise<{ deliveries: Delivery[]; next?: string }> => {
  const outcomes = status === undefined ? deliveryStatuses : [status];
  const [from, to] = [
    attemptsFrom(start * 1_000),
    after ?? (end === undefined ? endOfAttempts : attemptsFrom(end * 1_000)),
  ];
  if (to < from) return { deliveries: [] };
  const sources = outcomes.flatMap((outcome) =>
    deliverySlots.map(
      (slot): Source => ({ partition: deliveriesOf(account, slot, outcome), items: [], next: undefined }),
    ),
  );
  const wanted = Object.entries({ reference, endpoint }).filter(([, value]) => value !== undefined);
  const most = wanted.length === 0 ? Math.ceil(limit / PARTS) + 2 : FILTERED;
  const read = (source: Source) => readMore(source, { from, to, wanted, limit: most });
  await Promise.all(sources.map(read));
  for (let round = 1; ; round += 1) {
    const open = sources.filter(({ next }) => next !== undefined);
    // Partitions that are not read to their end may have more before the last attempt that was read of them.
    const horizon = open.map(lastOf).sort().at(-1) ?? '';
    const found = sources
      .flatMap(({ items }) => items)
      .filter(({ sk }) => sk >= horizon && sk !== after)
      .sort((a, b) => (a.sk < b.sk ? 1 : -1));
    if (found.length > limit || open.length === 0) {
      const shown = found.slice(0, limit);
      const next = found.length > limit ? shown.at(-1)?.sk : undefined;
      return {
        deliveries: shown.filter((item) => !hasExpired(item)).map(toDelivery),
        ...(next !== undefined && { next }),
      };
    }
    if (round === MAX_ROUNDS) {
      return { deliveries: found.filter((item) => !hasExpired(item)).map(toDelivery), next: horizon };
    }
    await Promise.all(open.filter((source) => lastOf(source) === horizon).map(read));
  }
};

/** The position up to which a partition is read. */
const lastOf = ({ next }: Source): string => String(next?.sk ?? endOfAttempts);

const readMore = async (
  source: Source,
  { from, to, wanted, limit }: { from: string; to: string; wanted: [name: string, value: unknown][]; limit: number },
): Promise<void> => {
  const { items, next } = await page<AttemptItem>({
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
    ...(wanted.length > 0 && {
      FilterExpression: wanted.map(([name]) => `#${name} = :${name}`).join(' AND '),
      ExpressionAttributeNames: Object.fromEntries(wanted.map(([name]) => [`#${name}`, name])),
    }),
    ExpressionAttributeValues: {
      ...{ ':pk': source.partition, ':from': from, ':to': to },
      ...Object.fromEntries(wanted.map(([name, value]) => [`:${name}`, value])),
    },
    ScanIndexForward: false,
    Limit: limit,
    ...(source.next && { ExclusiveStartKey: source.next }),
  });
  source.items.push(...items);
  source.next = next;
};

/**
 * A delivery attempt of an account. 0.5 read units, or 1.5.
 *
 * @throws delivery_not_found — unknown, expired, erased, or another account's
 */
export const readDelivery = async (account: string, id: string): Promise<Delivery> => {
  const reference = referenceOf(id);
  const item = await get<AttemptItem>(attemptKey(account, reference));
  if (item === undefined) throw deliveryNotFound();
  return toDelivery(item);
};

/** @throws delivery_not_found — the text is no id of an attempt */
export const referenceOf = (id: string): AttemptReference => {
  const reference = attemptWithId(id);
  if (reference === undefined) throw deliveryNotFound();
  return reference;
};

export const deliveryNotFound = (): Problem =>
  new Problem(
    'delivery_not_found',
    `None of your deliveries has this id. GET /v1/deliveries lists those of ${inDays(HISTORY_DAYS)}.`,
  );
