/**
 * Leases: tokens of an account's bucket that this process holds, so that most requests need no call of the table. A process
 * leases as many as it has lately needed in half a second, and takes the next lease while the last request of the present
 * one is handled. A process that starts takes one token, because most processes that start do not see many requests.
 */
import type { RequestLimit } from '../accounts/request-limit.ts';
import { now } from '../core/clock.ts';
import { describeError, log } from '../telemetry/log.ts';
import { type BucketTable, bucketTable, takeTokens, tokensIn, untilNextToken } from './bucket.ts';

/** What may differ in measurements; durations are in milliseconds. */
interface Terms {
  /** A lease is for the requests that the process expects in this time. */
  horizon: number;
  /** Tokens of the smallest lease. */
  least: number;
  /** Unused tokens expire, because they are not part of the bucket's present. */
  lifetime: number;
  /** Pause of a process that found the bucket empty. The bucket fills meanwhile, so that a lease is worth its write. */
  pause: number;
  /** Whether the last token of a lease renews it, or the request after. */
  isEarly: boolean;
}

const TERMS: Terms = { horizon: 500, least: 1, lifetime: 10_000, pause: 100, isEarly: true };

/** How long requests pass unlimited after the table could not be asked, in milliseconds. */
const OPEN_FOR = 1_000;

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
  /** Until then the bucket is not asked: it was empty, or the table failed. */
  pausedUntil: number;
  openUntil: number;
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
   * service, and the limit of the host still applies.
   */
  async admit(account: string, limit: RequestLimit): Promise<Admission> {
    const lease = this.#leaseOf(account);
    const wasActive = lease.seen > this.#now() - this.#terms.lifetime;
    this.#count(lease);
    while (!this.#holdsToken(lease) && !this.#isDecided(lease)) {
      lease.renewal ??= this.#renew(account, lease, limit);
      await lease.renewal;
    }
    if (!this.#holdsToken(lease)) {
      if (lease.openUntil > this.#now()) return { isAdmitted: true };
      return { isAdmitted: false, wait: lease.pausedUntil - this.#now() };
    }
    lease.tokens -= 1;
    if (lease.tokens === 0 && wasActive && this.#terms.isEarly && !this.#isDecided(lease)) {
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
      pausedUntil: 0,
      openUntil: 0,
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

  async #renew(account: string, lease: Lease, limit: RequestLimit): Promise<void> {
    const wanted = Math.max(this.#terms.least, Math.floor((lease.rate * this.#terms.horizon) / 1_000));
    try {
      const { tokens, emptyAt } = await takeTokens(this.#table, account, limit, {
        wanted,
        emptyAt: lease.emptyAt,
        clock: this.#now,
      });
      lease.emptyAt = emptyAt;
      lease.tokens += tokens;
      lease.expires = this.#now() + this.#terms.lifetime;
      if (tokens === 0) lease.pausedUntil = this.#now() + this.#pauseFor(lease, limit);
    } catch (error) {
      lease.openUntil = this.#now() + OPEN_FOR;
      log('error', 'rate limit not applied', { account, ...describeError(error) });
    } finally {
      lease.renewal = undefined;
    }
  }

  /** At least until the bucket has a token, and at least a millisecond, so that a request is never decided twice. */
  #pauseFor(lease: Lease, limit: RequestLimit): number {
    return Math.max(1, this.#terms.pause, untilNextToken(lease.emptyAt, limit, this.#now()));
  }
}
