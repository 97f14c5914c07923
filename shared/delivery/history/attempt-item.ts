/**
 * The item of a delivery attempt. What varies in size is compressed together. The last attempt of an event keeps the whole
 * event; before that, the event is in the outbox. An attempt without an event, or with a short one, has at most 1 KB, so that
 * it costs one write unit, and one on an index. A user's longest text, 65,536 characters, has at most 200 KB, and an item may have 400 KB.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Exchange } from '../../destinations/destination.ts';
import { conversationOf, endpointOf, hasReports } from '../../outbox/entities.ts';
import type { Entry, OutboxEvent } from '../../outbox/event.ts';
import { eventIdOf, referenceOf, sinceOf, subjectOf } from '../../outbox/event.ts';
import type { Key } from '../../table/keys.ts';
import { attemptKey, deliveriesAbout, deliverySlotOf } from '../entities.ts';

/** A delivery attempt in the table. */
export interface AttemptItem extends Key {
  /** The user, whose erasure removes the attempt. */
  phone: string;
  /** When the event was accepted, or the message that it is about. */
  created: string;
  /** The business's own name for the message or the request. */
  reference?: string;
  /** Id of the outbox entry that was attempted. */
  entry: string;
  /** Set for events about consent: their conversation is another one. */
  consent?: true;
  /** Set for reports that are sent with pauses: their conversation is another one, too. */
  reports?: true;
  /** The id of the endpoint, in an account with endpoints. The key has its number, which another one may get. */
  endpoint?: string;
  /** Set if no further attempt of the entry follows. */
  ended?: true;
  /** Id of the outbox entry that sends the event again. */
  replayed?: string;
  /** The details, compressed. */
  packed: Uint8Array;
  /** The place in the index of the user's attempts, by `created`. */
  gsi2pk: string;
  gsi2sk: string;
  expires_at: number;
}

/** What an attempt keeps in compressed form, in this order. */
type Packed = [
  type: OutboxEvent['type'],
  number: number,
  durationMs: number | null,
  /** The status of the response, or why there was none. */
  result: number | string,
  next: number | null,
  url: string | null,
  /** The id of the message that the event is about. */
  message: string | null,
  /** The event, in the last attempt. */
  outgoing: OutboxEvent | null,
  response: string | null,
  /** The number of the account's bot, in a copy for an endpoint. */
  bot: string | null,
];

/** A delivery attempt. */
export interface Attempt {
  entry: Entry;
  /** The number of requests with its entry so far. */
  number: number;
  hasSucceeded: boolean;
  /** Missing if the event failed permanently without this attempt. */
  exchange?: Exchange;
  /** Why it failed, if no request was made. */
  cause?: string;
  /** When the event failed, if no request was made, in milliseconds since 1970. */
  at: number;
  isFinal: boolean;
  /** When the next attempt is due, in milliseconds since 1970. */
  next?: number;
}

/** Bytes of an item that costs one write unit. Less than 1,024, in case DynamoDB counts a number differently. */
const MOST_BYTES = 1_008;
/** Bytes of a response that are kept. */
const RESPONSE_BYTES = 1_024;

/** The item of an attempt of an account. */
export const attemptItem = (attempt: Attempt, expires_at: number): AttemptItem => {
  const { entry, hasSucceeded, exchange, isFinal } = attempt;
  const { account, phone } = subjectOf(entry.outgoing);
  const reference = referenceOf(entry.outgoing);
  const item = {
    ...attemptKey(account, {
      slot: deliverySlotOf(phone),
      outcome: hasSucceeded ? 'succeeded' : 'failed',
      event: eventIdOf(entry),
      started: exchange?.started ?? attempt.at,
      endpoint: endpointOf(conversationOf(entry)),
    }),
    phone,
    ...(reference !== undefined && { reference }),
    created: sinceOf(entry),
    entry: entry.id,
    gsi2pk: deliveriesAbout(phone),
    gsi2sk: sinceOf(entry),
    ...(conversationOf(entry).direction === 'consent' && { consent: true as const }),
    ...(hasReports(conversationOf(entry)) && { reports: true as const }),
    ...(entry.copy && { endpoint: entry.copy.endpoint }),
    ...(isFinal && { ended: true as const }),
    expires_at,
  };
  return { ...item, packed: pack(attempt, MOST_BYTES - bytesOf(item) - 'packed'.length) };
};

/**
 * The details of an attempt in compressed form, with as much of the response as fits into so many bytes. The event is always
 * whole: if it does not fit, the response is whole, too.
 */
const pack = (attempt: Attempt, max: number): Uint8Array => {
  const response = beginningOf(attempt.exchange?.response?.body ?? '');
  const whole = compress(attempt, response);
  if (whole.length <= max || compress(attempt, '').length > max) return whole;
  // The longest beginning of the response that fits.
  let [min, tooMany] = [0, response.length + 1];
  while (tooMany - min > 1) {
    const middle = Math.floor((min + tooMany) / 2);
    if (compress(attempt, response.slice(0, middle)).length <= max) min = middle;
    else tooMany = middle;
  }
  return compress(attempt, response.slice(0, min));
};

const compress = ({ entry, number, exchange, cause, next, isFinal }: Attempt, response: string): Uint8Array => {
  const { outgoing } = entry;
  const packed: Packed = [
    outgoing.type,
    number,
    exchange ? exchange.ended - exchange.started : null,
    exchange?.response?.status ?? exchange?.error ?? cause ?? '',
    next ?? null,
    exchange?.url === undefined ? null : withoutCredentials(exchange.url),
    'message' in outgoing ? outgoing.message.id : null,
    isFinal ? outgoing : null,
    response === '' ? null : response,
    entry.copy?.bot ?? null,
  ];
  return deflateRawSync(JSON.stringify(packed));
};

/** The details of an attempt. */
export const unpack = ({ packed }: Pick<AttemptItem, 'packed'>): Packed =>
  JSON.parse(inflateRawSync(packed).toString()) as Packed;

/** A URL without user, password, query and fragment, which may contain secrets. */
const withoutCredentials = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
};

/** The first kilobyte of a response, without a character that is cut. */
const beginningOf = (body: string): string =>
  new TextDecoder().decode(Buffer.from(body).subarray(0, RESPONSE_BYTES), { stream: true });

/** The size of an item as DynamoDB counts it: names and values in UTF-8; a number has about half a byte per digit. */
const bytesOf = (item: object): number =>
  Object.entries(item).reduce((sum, [name, value]) => sum + name.length + bytesOfValue(value), 0);

const bytesOfValue = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(value);
  return typeof value === 'number' ? Math.ceil(String(value).length / 2) + 2 : 1;
};
