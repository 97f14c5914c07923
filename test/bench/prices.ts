/** List prices of AWS in us-east-1, November 2026, in US dollars per unit. */

/** Prices per unit, up to an amount per month. A first tier with price 0 is the free amount of each account. */
type Tiers = readonly { upTo: number; price: number }[];

const MILLION = 1e6;
const BILLION = 1e9;
const NO_END = Number.POSITIVE_INFINITY;

const prices = {
  /** DynamoDB on demand: a write unit and a read unit. */
  writeUnit: [{ upTo: NO_END, price: 0.625 / MILLION }],
  readUnit: [{ upTo: NO_END, price: 0.125 / MILLION }],
  /**
   * A GB of storage for a month, including indexes, and a GB of continuous backup. AWS bills a backup by the size of the
   * table with its local indexes; the table's indexes are global ones.
   * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/PointInTimeRecovery_Howitworks.html
   */
  storage: [
    { upTo: 25, price: 0 },
    { upTo: NO_END, price: 0.25 },
  ],
  backup: [{ upTo: NO_END, price: 0.2 }],
  /** HTTP APIs: a request of up to 512 KB. */
  apiRequest: [
    { upTo: 300 * MILLION, price: 1 / MILLION },
    { upTo: NO_END, price: 0.9 / MILLION },
  ],
  /** Lambda on arm64: an invocation, a GB second. */
  invocation: [
    { upTo: MILLION, price: 0 },
    { upTo: NO_END, price: 0.2 / MILLION },
  ],
  gigabyteSecond: [
    { upTo: 400_000, price: 0 },
    { upTo: 7.5 * BILLION, price: 0.0000133334 },
    { upTo: 18.75 * BILLION, price: 0.0000120001 },
    { upTo: NO_END, price: 0.0000106667 },
  ],
  /** A request to a FIFO queue. */
  queueRequest: [
    { upTo: MILLION, price: 0 },
    { upTo: 100 * BILLION, price: 0.5 / MILLION },
    { upTo: 200 * BILLION, price: 0.4 / MILLION },
    { upTo: NO_END, price: 0.35 / MILLION },
  ],
  /** S3: an object put, an object read. */
  objectPut: [{ upTo: NO_END, price: 5 / MILLION }],
  objectGet: [{ upTo: NO_END, price: 0.4 / MILLION }],
  /** CloudWatch: a GB of ingested log lines, and a GB of log lines stored for a month. */
  logTaken: [
    { upTo: 5, price: 0 },
    { upTo: NO_END, price: 0.5 },
  ],
  logKept: [{ upTo: NO_END, price: 0.03 }],
  /** An alarm, a metric from log lines, and a secret, each for a month. */
  alarm: [{ upTo: NO_END, price: 0.1 }],
  metric: [{ upTo: NO_END, price: 0.3 }],
  secret: [{ upTo: NO_END, price: 0.4 }],
} as const satisfies Record<string, Tiers>;

export type Priced = keyof typeof prices;

/** The cost of an amount used in a month. */
export const costOf = (what: Priced, amount: number): number => {
  let [cost, from] = [0, 0];
  for (const { upTo, price } of prices[what]) {
    cost += Math.max(Math.min(amount, upTo) - from, 0) * price;
    from = upTo;
  }
  return cost;
};

/** The price of a unit in the first tier that is not free. */
export const listPriceOf = (what: Priced): number => prices[what].find(({ price }) => price > 0)?.price ?? 0;
