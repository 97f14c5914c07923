/**
 * The token bucket of an account, which all functions share. Its item has one number: the time at which the bucket was empty,
 * in microseconds. Since then it has been filling. Taking tokens moves that time forward:
 *
 *     full (now - burst / rate)            now
 *      |------------------------------------|
 *      |      ^ empty_at                    |      tokens in the bucket = (now - empty_at) * rate
 *      |      |----> empty_at + 3 / rate    |      3 tokens are taken
 *
 * A time before `full` means that the bucket has been full for a while: it is moved to `full` first, or an idle account
 * would save up any number of tokens. DynamoDB has no maximum of two numbers, so that is another write.
 *
 * No process can lose a race. Both writes add to what the table has, whatever that is meanwhile. A `refill` fails only if
 * somebody else has just refilled the bucket, and a `spend` only if the bucket has fewer tokens than it takes.
 */

import { tableTimeoutMs } from '#runtime';
import { secondsFromNow } from '../../core/clock.ts';
import { tryUpdate } from '../../table/client.ts';
import type { Key } from '../../table/keys.ts';
import { rateKey } from '../entities.ts';
import type { RequestLimit } from '../request-limit.ts';

const SECOND = 1_000_000;

/**
 * How far the clock of another process may be ahead, in microseconds. AWS keeps clocks within milliseconds. An item beyond
 * that counts as a full bucket, so that one wrong clock does not shut out an account.
 */
const MAX_AHEAD = SECOND;

/** The part of the bucket that a process takes at most, but one token in any case: others need some, too. */
const SHARE = 4;

/** How long the item stays: then its bucket has long been full, and it is the same as none. In seconds. */
const TTL_S = 86_400;

/** How long the limit may delay a request if the table does not respond, in milliseconds: 1,000 when deployed. */
const TIMEOUT_MS = tableTimeoutMs / 2;

/** What a write of a bucket left, whether its condition held or not. `emptyAt` is missing if there is no item. */
interface Written {
  isDone: boolean;
  emptyAt: number | undefined;
}

/** The two writes of a bucket; times and durations are in microseconds. Each costs 1 write unit, even if its condition fails. */
export interface BucketTable {
  /** Sets `empty_at`, if the bucket is full: there is no item, or its time is before `full`, or too far `ahead`. */
  refill: (account: string, times: { to: number; full: number; ahead: number }) => Promise<Written>;
  /** Moves `empty_at` forward, if the bucket has as much: its time is at most `latest`. */
  spend: (account: string, times: { by: number; latest: number }) => Promise<Written>;
}

/** The tokens that were taken, none if the bucket is empty; and when it was or will be empty. */
export interface Taken {
  tokens: number;
  emptyAt: number | undefined;
}

/**
 * Takes up to `wanted` tokens, for a process that last saw this `emptyAt`. If that shows an empty bucket, the table is not
 * asked, because other processes can only have taken more. 1 write unit; 2 if the process did not know that the bucket is
 * not full; one more if it wanted several tokens, and others took them first.
 *
 * After a failed `refill`, the bucket was full a moment ago at most. So `spend` has no lower limit: what the bucket exceeds
 * its burst by is what came during one call.
 *
 * @param clock - returns the time in milliseconds since 1970. It is read before each write: the writes of other processes
 * go by later times than the first one.
 */
export const takeTokens = async (
  table: BucketTable,
  account: string,
  { rate, burst }: RequestLimit,
  { wanted, emptyAt: known, clock }: { wanted: number; emptyAt: number | undefined; clock: () => number },
): Promise<Taken> => {
  let emptyAt = known;
  let isRefilled = false;
  for (let max = wanted; ; ) {
    const at = clock();
    const now = at * 1_000;
    const full = now - Math.ceil((burst * SECOND) / rate);
    const ahead = now + MAX_AHEAD;
    const isFull = emptyAt === undefined || emptyAt < full || emptyAt > ahead;
    const available = isFull ? burst : tokensIn(emptyAt, { rate, burst }, at);
    if (available < 1) return { tokens: 0, emptyAt };
    const tokens = Math.min(max, Math.max(1, Math.floor(available / SHARE)));
    const by = timeOf(tokens, rate);
    const refills = isFull && !isRefilled;
    const written = refills
      ? await table.refill(account, { to: full + by, full, ahead })
      : await table.spend(account, { by, latest: now - by });
    emptyAt = written.emptyAt;
    if (written.isDone) return { tokens, emptyAt };
    if (refills) isRefilled = true;
    else if (tokens === 1) return { tokens: 0, emptyAt };
    else max = 1;
  }
};

/** The time in which tokens come, in whole microseconds. */
const timeOf = (tokens: number, rate: number): number => Math.floor((tokens * SECOND) / rate);

/** The whole tokens in a bucket at a time in milliseconds: as many as have come since it was empty, by `timeOf`. */
export const tokensIn = (emptyAt: number | undefined, { rate, burst }: RequestLimit, at: number): number => {
  if (emptyAt === undefined) return burst;
  return Math.max(0, Math.min(burst, Math.ceil(((at * 1_000 - emptyAt + 1) * rate) / SECOND) - 1));
};

/** Milliseconds from a time until the bucket has a token. */
export const untilNextToken = (emptyAt: number | undefined, { rate }: RequestLimit, at: number): number =>
  emptyAt === undefined ? 0 : Math.max(0, Math.ceil((emptyAt + timeOf(1, rate)) / 1_000) - at);

interface BucketItem extends Key {
  empty_at: number;
  expires_at: number;
}

/** The buckets in the table. */
export const bucketTable: BucketTable = {
  refill: (account, { to, full, ahead }) =>
    write(account, {
      SET: 'empty_at = :to',
      ConditionExpression: 'attribute_not_exists(pk) OR empty_at < :full OR empty_at > :ahead',
      values: { ':to': to, ':full': full, ':ahead': ahead },
    }),
  spend: (account, { by, latest }) =>
    write(account, {
      SET: 'empty_at = empty_at + :by',
      ConditionExpression: 'empty_at <= :latest',
      values: { ':by': by, ':latest': latest },
    }),
};

const write = async (
  account: string,
  { SET, ConditionExpression, values }: { SET: string; ConditionExpression: string; values: Record<string, number> },
): Promise<Written> => {
  const { isDone, item } = await tryUpdate<BucketItem>(
    {
      Key: rateKey(account),
      UpdateExpression: `SET ${SET}, expires_at = :expires`,
      ConditionExpression,
      ExpressionAttributeValues: { ...values, ':expires': secondsFromNow(TTL_S) },
    },
    { abortSignal: AbortSignal.timeout(TIMEOUT_MS) },
  );
  return { isDone, emptyAt: item?.empty_at };
};
