/**
 * Leases: tokens of an account's bucket that this process holds, so that most requests need no call of the table. A process
 * leases as many as it has lately needed in half a second, and takes the next lease while the last request of the present
 * one is handled. A process that starts, or has less than two requests a second, takes one token when it needs it.
 *
 * In any period, all processes of an account together admit at most the burst, the rate times the period, and the rate
 * times the lifetime of a lease: what leaves the bucket in the period, or up to a second before.
 */

import { between, now } from '../../core/clock.ts';
import { isThrottling } from '../../core/retryable-errors.ts';
import { describeError, log } from '../../telemetry/log.ts';
import type { RequestLimit } from '../request-limit.ts';
import { type BucketTable, bucketTable, takeTokens, tokensIn, untilNextToken } from './bucket.ts';

/** What may differ in measurements; durations are in milliseconds. */
interface Terms {
  /** A lease is for the requests that the process expects in this time. */
  horizon: number;
  /** Tokens of the smallest lease. */
  min: number;
  /** Unused tokens expire: those of all processes together are what requests can be ahead of the limit. */
  lifetime: number;
  /** Pause of a process that found the bucket empty. The bucket fills meanwhile, so that a lease is worth its write. */
  pause: number;
  /** Whether the last token of a lease renews it, or the request after. */
  isEarly: boolean;
}

const TERMS: Terms = { horizon: 500, min: 1, lifetime: 1_000, pause: 100, isEarly: true };

/**
 * The longest pause, in milliseconds. Pauses double while a process finds the bucket empty. A thousand processes of an
 * account over its limit then make some 700 writes a second of the bucket, which is one key: DynamoDB throttles it at 1,000.
 */
const MAX_PAUSE = 2_000;

/** How long a process decides by itself after the table could not be asked, in milliseconds. */
const OPEN_FOR = 1_000;

/** Requests that a process without a lease admits in that time, if the table throttles its first one. */
const FIRST_OPEN = 2;

/** A process that finds the bucket empty after this time begins with a short pause again, in milliseconds. */
const FORGET = 10_000;

/** The time over which the rate of this process is averaged, in milliseconds. */
const MEMORY = 1_000;

/** What this process knows about an account. Times are in milliseconds since 1970. */
interface Lease {
  tokens: number;
  expires: number;
  /** When the bucket was empty, in microseconds, as the table last said. */
  emptyAt: number | undefined;
  /** Requests per second that this process has seen lately, and the last one of them. */
  rate: number;
  seen: number;
  /** Tokens of the last lease. */
  granted: number;
  /** Until then the bucket is not asked: it was empty, so many times more often than not, or the table failed. */
  pausedUntil: number;
  misses: number;
  openUntil: number;
  /** The requests that pass meanwhile. */
  open: number;
  renewal: Promise<void> | undefined;
}

/** The decision about a request. */
export type Admission =
  | {
      isAdmitted: true;
      /** The tokens in the bucket; missing if the limit could not be applied. */
      left?: number;
      /** Ends when the next lease is taken. The process must not be frozen before. Never rejects. */
      renewal?: Promise<void> | undefined;
    }
  | {
      isAdmitted: false;
      /** Milliseconds until the process asks again: the bucket has a token then. */
      wait: number;
    };

export class Leases {
  readonly #leases = new Map<string, Lease>();
  readonly #table: BucketTable;
  readonly #terms: Terms;
  readonly #now: () => number;

  constructor(table = bucketTable, terms: Partial<Terms> = {}, clock = now) {
    this.#table = table;
    this.#terms = { ...TERMS, ...terms };
    this.#now = clock;
  }

  /**
   * Decides about a request. If the table fails, the request is admitted: a failure of the limit must not become one of the
   * service, and the limit of the host still applies. If the table throttles the lease, the cause may be this account, whose
   * bucket is one key. Then the process admits twice its last lease, and nothing if it found the bucket empty lately.
   */
  async admit(account: string, limit: RequestLimit): Promise<Admission> {
    const lease = this.#leaseOf(account);
    this.#count(lease);
    while (!this.#holdsToken(lease) && !this.#isDecided(lease)) {
      lease.renewal ??= this.#renew(account, lease, limit);
      await lease.renewal;
    }
    if (!this.#holdsToken(lease)) {
      const { openUntil, pausedUntil } = lease;
      if (openUntil <= this.#now()) return { isAdmitted: false, wait: pausedUntil - this.#now() };
      if (lease.open < 1) return { isAdmitted: false, wait: openUntil - this.#now() };
      lease.open -= 1;
      return { isAdmitted: true };
    }
    lease.tokens -= 1;
    if (lease.tokens === 0 && this.#terms.isEarly && this.#expected(lease) >= 1 && !this.#isDecided(lease)) {
      lease.renewal ??= this.#renew(account, lease, limit);
    }
    return { isAdmitted: true, left: tokensIn(lease.emptyAt, limit, this.#now()), renewal: lease.renewal };
  }

  #leaseOf(account: string): Lease {
    const known = this.#leases.get(account);
    if (known !== undefined) return known;
    const lease: Lease = {
      tokens: 0,
      expires: 0,
      emptyAt: undefined,
      rate: 0,
      seen: Number.NEGATIVE_INFINITY,
      granted: 0,
      pausedUntil: 0,
      misses: 0,
      openUntil: 0,
      open: 0,
      renewal: undefined,
    };
    this.#leases.set(account, lease);
    return lease;
  }

  /** Counts a request in the rate of this process: an average in which older requests weigh exponentially less. */
  #count(lease: Lease): void {
    const at = this.#now();
    const age = Math.max(0, at - lease.seen);
    lease.rate = lease.rate * Math.exp(-age / MEMORY) + 1_000 / MEMORY;
    lease.seen = at;
  }

  #holdsToken(lease: Lease): boolean {
    if (lease.expires <= this.#now()) lease.tokens = 0;
    return lease.tokens > 0;
  }

  /** Whether the table need not be asked: it was asked a moment ago. */
  #isDecided({ pausedUntil, openUntil }: Lease): boolean {
    return Math.max(pausedUntil, openUntil) > this.#now();
  }

  /** The requests that a lease is for. */
  #expected({ rate }: Lease): number {
    return (rate * this.#terms.horizon) / 1_000;
  }

  async #renew(account: string, lease: Lease, limit: RequestLimit): Promise<void> {
    const wanted = Math.max(this.#terms.min, Math.floor(this.#expected(lease)));
    try {
      const { tokens, emptyAt } = await takeTokens(this.#table, account, limit, {
        wanted,
        emptyAt: lease.emptyAt,
        clock: this.#now,
      });
      lease.emptyAt = emptyAt;
      lease.tokens += tokens;
      lease.expires = this.#now() + this.#terms.lifetime;
      if (tokens > 0) {
        lease.granted = tokens;
        lease.misses = Math.max(0, lease.misses - 1);
      } else this.#pause(lease, limit);
    } catch (error) {
      const isThrottled = isThrottling(error);
      if (isThrottled && lease.misses > 0) this.#pause(lease, limit);
      else {
        lease.openUntil = this.#now() + OPEN_FOR;
        lease.open = isThrottled ? Math.max(FIRST_OPEN, 2 * lease.granted) : Number.POSITIVE_INFINITY;
      }
      log('error', 'rate limit not applied', { account, ...describeError(error) });
    } finally {
      lease.renewal = undefined;
    }
  }

  /**
   * At least until the bucket has a token, and at least a millisecond, so that a request is never decided twice. Longer with
   * each pause, and later ones at random, so that many processes do not ask at once.
   */
  #pause(lease: Lease, limit: RequestLimit): void {
    if (lease.pausedUntil < this.#now() - FORGET) lease.misses = 0;
    const longest = Math.min(this.#terms.pause * 2 ** lease.misses, MAX_PAUSE);
    const pause = lease.misses === 0 ? longest : Math.ceil(between(longest / 2, longest));
    lease.misses += 1;
    lease.pausedUntil = this.#now() + Math.max(1, pause, untilNextToken(lease.emptyAt, limit, this.#now()));
  }
}
