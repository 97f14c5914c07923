/** List prices of AWS in us-east-1, November 2026, in US dollars; each per the unit that is named. */

/** What each unit costs, up to how many a month; what every account has free of charge is a first tier of price 0. */
type Tiers = readonly { upTo: number; price: number }[];

const MILLION = 1e6;
const BILLION = 1e9;
const NO_END = Number.POSITIVE_INFINITY;

const prices = {
  /** DynamoDB on demand: a write unit, a read unit. */
  writeUnit: [{ upTo: NO_END, price: 0.625 / MILLION }],
  readUnit: [{ upTo: NO_END, price: 0.125 / MILLION }],
  /** A GB that is stored for a month, indexes included, and its continuous backup. */
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
  /** CloudWatch: a GB of log lines taken, a GB of them kept for a month. */
  logTaken: [
    { upTo: 5, price: 0 },
    { upTo: NO_END, price: 0.5 },
  ],
  logKept: [{ upTo: NO_END, price: 0.03 }],
  /** An alarm, a metric made of log lines, a secret: each a month. */
  alarm: [{ upTo: NO_END, price: 0.1 }],
  metric: [{ upTo: NO_END, price: 0.3 }],
  secret: [{ upTo: NO_END, price: 0.4 }],
} as const satisfies Record<string, Tiers>;

export type Priced = keyof typeof prices;

/** What a month's use of something costs. */
export const costOf = (what: Priced, amount: number): number => {
  let [cost, from] = [0, 0];
  for (const { upTo, price } of prices[what]) {
    cost += Math.max(Math.min(amount, upTo) - from, 0) * price;
    from = upTo;
  }
  return cost;
};

/** What one more costs, where nothing is free of charge any more. */
export const listPriceOf = (what: Priced): number => prices[what].find(({ price }) => price > 0)?.price ?? 0;
