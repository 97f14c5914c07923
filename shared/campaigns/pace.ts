/**
 * The pace of an expansion: at most the rate of the setting, less while wake-ups wait in the queue of `deliver`, and less while
 * the table throttles writes. So a campaign takes the workers of `deliver` that are free, and the throughput of the table that
 * is left. Other messages find a free worker, or wait for one for a moment.
 *
 * The rate begins low, grows while the queue is short, and is halved when it is long. By the queue, it never falls below a least
 * rate, because the queue may be long for another reason: a chat platform that is slow. It is also halved when the table
 * throttles more than a few of this worker's writes: all campaigns together then find what the table can take, and messages of
 * other customers find throughput, too (additive increase and multiplicative decrease, as in TCP). A few are throttled whenever
 * one of many partitions is hot, which a lower rate would not change.
 *
 * Messages that are only logged as failed have a pace of their own, whatever the length of the queue.
 *
 * The rate counts messages of 1 KB. A larger message takes the time of as many as it has kilobytes, because each kilobyte is a
 * unit of the table's throughput, which all customers share.
 */
import { now, pause } from '../core/clock.ts';
import { throttledAttempts } from '../table/conflicts.ts';
import { describeError, log } from '../telemetry/log.ts';

/** Rates in messages per second, and the length of the queue from which the rate is halved. */
export interface PaceLimits {
  max: number;
  longest: number;
}

/** Milliseconds between two looks at the queue. */
const LOOK_MS = 250;
/**
 * The part of the most rate by which the rate grows with each look: in 25 s from the least to the most. With a faster growth,
 * the queue would become long before its length is seen, because SQS reports it late.
 */
const GROWTH = 0.01;
/** The part of the present rate by which it grows at most, so that a rate that throttling has lowered is exceeded by little. */
const RELATIVE_GROWTH = 0.1;

/**
 * How many attempts may be throttled before the rate is halved, as a part of the last messages, and of ten at least; how much
 * of both counts is left after a look; and the least rate.
 */
const THROTTLED = { part: 0.05, messages: 10, memory: 0.9, leastRate: 1 };

/**
 * The least rate, which is also the first one: a quarter of the workers of `deliver`, of which `longest` is an eighth. They
 * make so many calls of four seconds.
 *
 * @internal Tests use it, too.
 */
export const leastRate = ({ max, longest }: PaceLimits): number => Math.min(2 * longest, max);

/** What a look finds. */
interface Seen {
  /** Wake-ups that wait in the queue. Undefined if it cannot be read, which must not stop a campaign. */
  queued: number | undefined;
  isThrottled: boolean;
}

/**
 * Whether the table throttles more than a few of a worker's writes, lately.
 *
 * @internal Tests and the simulation of growth use it, too.
 */
export class Throttling {
  #admitted = 0;
  #throttled = 0;

  /**
   * After a look.
   *
   * @param admitted - messages since the last one, and `throttled` attempts of their writes
   */
  isHigh(admitted: number, throttled: number): boolean {
    this.#admitted = THROTTLED.memory * this.#admitted + admitted;
    this.#throttled = THROTTLED.memory * this.#throttled + throttled;
    if (this.#throttled <= THROTTLED.part * Math.max(this.#admitted, THROTTLED.messages)) return false;
    // The next rate is another one.
    [this.#admitted, this.#throttled] = [0, 0];
    return true;
  }
}

/**
 * The next rate, after a look at the queue and the table.
 *
 * @internal Tests and the simulation of growth use it, too.
 */
export const nextRate = (rate: number, { queued, isThrottled }: Seen, limits: PaceLimits): number => {
  if (isThrottled) return Math.max(rate / 2, Math.min(THROTTLED.leastRate, limits.max));
  const least = leastRate(limits);
  const grown = Math.min(rate + Math.min(GROWTH * limits.max, RELATIVE_GROWTH * rate), limits.max);
  // Only throttling has lowered it so far, and that is over.
  if (rate < least) return Math.min(grown, least);
  if (queued === undefined) return rate;
  return queued > limits.longest ? Math.max(rate / 2, least) : grown;
};

/** Messages per second that are logged as failed: a key of an index takes 1,000 writes per second, for all that is logged. */
const ENDED_RATE = 800;

/** Milliseconds that follow a message at most, however large it is: less than a run has left when it ends. */
const MAX_TURN_MS = 4_000;

/** Milliseconds by which messages may be behind their time, and catch up: while the progress is written. */
const LAG_MS = 100;

/** The size of a message's content in whole kilobytes: at least one. */
export const kilobytesOf = (content: object): number => Math.ceil(Buffer.byteLength(JSON.stringify(content)) / 1_024);

export class Pace {
  readonly #limits: PaceLimits;
  readonly #queued: () => Promise<number>;
  /** Messages that were admitted since the last look, and attempts of writes that the table had throttled by then. */
  #admitted = 0;
  #throttled = throttledAttempts();
  readonly #throttling = new Throttling();
  /** The present rate, in messages per second. */
  rate: number;
  /** When the next message is due, and when the queue was last looked at, in milliseconds since 1970. */
  #next = now();
  #looked = now();
  /** The last message that waits for its turn. */
  #last: Promise<void> = Promise.resolve();

  /**
   * @param queued - returns the number of wake-ups that wait in the queue
   * @param rate - the rate of the run that this one continues
   */
  constructor(limits: PaceLimits, queued: () => Promise<number>, rate = leastRate(limits)) {
    this.#limits = limits;
    this.#queued = queued;
    this.rate = Math.min(rate, limits.max);
  }

  /**
   * Waits until one more message may be accepted. They follow each other evenly, so that other messages find free workers.
   *
   * @param kilobytes - the size of the message, as `kilobytesOf` returns it
   */
  admit(kilobytes = 1): Promise<void> {
    return this.#afterLast(async () => {
      if (now() - this.#looked >= LOOK_MS) await this.#look();
      this.#admitted += 1;
      await this.#takeTurn(this.rate / kilobytes);
    });
  }

  /** Waits until one more message may be logged as failed. */
  admitEnded(): Promise<void> {
    return this.#afterLast(() => this.#takeTurn(ENDED_RATE));
  }

  /** One after the other, so that each message has the rate that the last look has found. */
  #afterLast(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work);
    return this.#last;
  }

  async #takeTurn(perSecond: number): Promise<void> {
    const due = Math.max(this.#next, now() - LAG_MS);
    this.#next = due + Math.min(1_000 / perSecond, MAX_TURN_MS);
    if (due > now()) await pause(due - now());
  }

  async #look(): Promise<void> {
    this.#looked = now();
    const [admitted, throttled] = [this.#admitted, throttledAttempts() - this.#throttled];
    this.#admitted = 0;
    this.#throttled += throttled;
    const isThrottled = this.#throttling.isHigh(admitted, throttled);
    this.rate = nextRate(this.rate, { queued: await this.#length(), isThrottled }, this.#limits);
  }

  async #length(): Promise<number | undefined> {
    try {
      return await this.#queued();
    } catch (error) {
      log('warn', 'queue not read', describeError(error));
      return undefined;
    }
  }
}
