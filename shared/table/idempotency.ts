/**
 * Requests with an `Idempotency-Key`. One record for each key of an endpoint says what the first request with the key was,
 * and what it accepted. The transaction that accepts a request also writes the record, whatever kind of request it is:
 *
 *     request 1                 request 2, with the same key, at the same time
 *     finds no record           finds no record
 *     checks, writes            checks
 *     message and record        its transaction fails: the record exists
 *     returns its response      finds the record: returns the response of request 1, or 422 if its own content is another
 *
 * What a request creates has new ids, so that a key that is used again after its record has expired creates new things.
 */
import { timestamp } from '../core/clock.ts';
import { idempotencyKeyReused } from '../core/idempotency.ts';
import { keyedHash } from '../core/keyed-hashes.ts';
import { Problem } from '../core/problems.ts';
import { getConsistent } from './client.ts';
import { idempotencyRecordKey, type Key } from './keys.ts';
import { putIfAbsentWrite, type Write } from './transactions.ts';

/** A request that may be repeated. */
export interface Repeatable {
  account: string;
  endpoint: 'sendMessage' | 'sendMessages' | 'startUserDataRequest';
  /** The header `Idempotency-Key`. Without it, each request is another one. */
  idempotencyKey: string | undefined;
  /** Everything that distinguishes the request from others. */
  request: unknown;
  /** The kind of thing that it creates, for the problem. */
  what: 'message' | 'request';
}

/** The record of a key. */
interface RecordItem<Accepted> extends Key {
  /** The hash of the first request, which contains numbers and texts. */
  request: string;
  /** What the response to a repeat is made of: no personal data. */
  accepted: Accepted;
  /** When it was accepted: a restore of what is newer brings back the record with what it accepted. */
  created: string;
  expires_at: number;
}

/**
 * The writes by which a transaction records what it accepts: one with a key, and none without. Within the transaction, its
 * condition fails if another request with the key was accepted in the meantime.
 *
 * @param expires_at - when the key may be used again, in seconds since 1970
 */
export type RecordWrites<Accepted> = (accepted: Accepted, expires_at: number) => Write[];

/**
 * Accepts a request, unless it is a repeat: a repeat returns what the first request accepted, before anything else is
 * checked. So the result of a repeat never depends on what has changed since. With a key, 1 read unit before, 1 more after
 * a failure, and 2 write units in the transaction of `accept`.
 *
 * @param accept - checks and accepts the request, with the record's writes in its transaction. Whatever it throws, the
 * request counts as accepted if the record exists then: a concurrent one was faster, or a response of the table was lost.
 * @throws idempotency_key_reused — the key belongs to another request
 */
export const acceptOnce = async <Accepted>(
  repeatable: Repeatable,
  accept: (recordWrites: RecordWrites<Accepted>) => Promise<Accepted>,
): Promise<Accepted> => {
  const { account, endpoint, idempotencyKey } = repeatable;
  if (idempotencyKey === undefined) return accept(() => []);
  const key = idempotencyRecordKey(account, endpoint, idempotencyKey);
  const request = keyedHash('request', JSON.stringify(repeatable.request));
  const find = async (): Promise<Accepted | undefined> => {
    const found = await getConsistent<RecordItem<Accepted>>(key);
    if (found !== undefined && found.request !== request) throw idempotencyKeyReused(repeatable.what);
    return found?.accepted;
  };

  const before = await find();
  if (before !== undefined) return before;
  try {
    return await accept((accepted, expires_at) => [
      putIfAbsentWrite<RecordItem<Accepted>>({ ...key, request, accepted, created: timestamp(), expires_at }),
    ]);
  } catch (error) {
    const meanwhile = await find();
    if (meanwhile !== undefined) return meanwhile;
    throw error;
  }
};

/** The problem of a request whose transaction failed without a reason that a client could change. */
export const notAccepted = (): Problem =>
  new Problem('unavailable', 'The request took too long. Retry it.', { retryAfter: 1 });
