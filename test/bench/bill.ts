/**
 * The bill of requests and messages at list prices, from the units, times and log lines of the functions. Assumptions that
 * are not measured are in this file.
 */
import { logItem, states } from '../../shared/outbox/message.ts';
import { newClaim } from '../../shared/stats/claims.ts';
import { indexes } from '../../shared/table/indexes.ts';
import { allDuePartitions, duePartitions, type Key } from '../../shared/table/keys.ts';
import { lifetime } from '../support/lifetime.ts';
import { listPriceOf, type Priced } from './prices.ts';
import type { Use, Way } from './usage.ts';

export const MONTH = { minutes: 43_200, days: 30 };

export const ASSUMED = {
  /** The share of a processor that a function of 512 MB has. Times of this machine are divided by this share. */
  processor: 512 / 1_769,
  memory: 0.5,
  /** Bytes of log lines: one of the function for each invocation, and one of the gateway for each request. */
  logBytes: { line: 300, request: 260 },
  /** Bytes of the additional log lines of a message: accepted, delivered, and two states. */
  messageLogBytes: 400 + 460 + 2 * 385,
  /** The retention of log lines and messages in days: the defaults of the stack. */
  logDays: 30,
  messageDays: 90,
  /** The number of tokens in use. The authorizer runs once a minute for each token, for any number of requests. */
  tokens: 10,
  /** Empty receives of Lambda's five pollers. Each waits 20 s. */
  emptyReceives: (MONTH.minutes * 60 * 5) / 20,
  /** Queue requests of a wake-up: send, receive, delete. */
  queueRequests: 3,
  /** Read units of the steps that run every minute: a query of each partition of due work, those of conversations also for the backlog, and others. */
  minuteReads: (allDuePartitions.length + duePartitions('conversations').length + 4) / 2,
  /** Metrics of alarms. AWS charges each as an alarm. */
  alarms: 37,
  /** Custom metrics: in a month without traffic, and with values for all dimensions. */
  metrics: { idle: 4, busy: 72 },
};

/** Amounts of billed units. */
export type Bill = Partial<Record<Priced, number>>;

export const add = (...bills: Bill[]): Bill => {
  const total: Bill = {};
  for (const bill of bills) {
    for (const [what, amount] of Object.entries(bill) as [Priced, number][]) total[what] = (total[what] ?? 0) + amount;
  }
  return total;
};

export const times = (count: number, bill: Bill): Bill =>
  Object.fromEntries(Object.entries(bill).map(([what, amount]) => [what, amount * count]));

const gigabytes = (bytes: number): number => bytes / 1e9;

/** The bill of an invocation: units of the table, time, and log lines. */
export const invocationOf = ({ reads, writes, indexes: more, ms }: Use): Bill => ({
  readUnit: reads,
  writeUnit: writes + more,
  invocation: 1,
  gigabyteSecond: (ms / ASSUMED.processor / 1_000) * ASSUMED.memory,
  ...logging(ASSUMED.logBytes.line),
});

const logging = (bytes: number): Bill => ({
  logTaken: gigabytes(bytes),
  logKept: (gigabytes(bytes) * ASSUMED.logDays) / MONTH.days,
});

/** What the log lines of a message's steps cost; `logSampling` leaves most of them out. */
export const stepLines: Bill = logging(ASSUMED.messageLogBytes);

export const requestThroughGateway: Bill = { apiRequest: 1, ...logging(ASSUMED.logBytes.request) };

/** Bytes of items, and of their entries in indexes. */
interface Stored {
  table: number;
  indexes: number;
}

/** Indexes are stored, and restored from the items: AWS bills a backup by the size of the table without them. */
const storing = ({ table, indexes: more }: Stored): Bill => {
  const kept = (bytes: number): number => (gigabytes(bytes) * ASSUMED.messageDays) / MONTH.days;
  return { storage: kept(table + more), backup: kept(table) };
};

/** Bytes of a value: a number has one for two digits, and one more ("Item sizes and formats", DynamoDB Developer Guide). */
const bytesOfValue = (value: unknown): number => {
  if (typeof value === 'boolean') return 1;
  return typeof value === 'number' ? Math.ceil(String(value).length / 2) + 1 : Buffer.byteLength(String(value));
};

/** The billed size of an item, and of its index entries, with 100 bytes of overhead each. */
const bytesOf = (item: Key): Stored => {
  const size = (names: string[]) =>
    Object.entries(item)
      .filter(([name]) => names.includes(name))
      .reduce((total, [name, value]) => total + name.length + bytesOfValue(value), 100);
  // Indexes are sparse: an entry without a reference is not in the one of references.
  const copies = Object.values(indexes)
    .filter(({ keys }) => `${keys}pk` in item)
    .map(({ keys, holds }) => size(['pk', 'sk', `${keys}pk`, `${keys}sk`, ...holds]));
  return { table: size(Object.keys(item)), indexes: copies.reduce((total, one) => total + one, 0) };
};

/** The bytes of a message that stay in the table for the retention period: its log entries. */
export const messageBytes = (): Stored => {
  process.env.MESSAGE_RETENTION = String(ASSUMED.messageDays);
  const id = '0198c0de-0000-7000-8000-000000000000';
  const message = { id, account: 'acme-research', phone: '27821234567', job_id: id, payload_type: 'text', ...lifetime };
  const reached = states.filter((state) =>
    ['sent', 'delivered_to_server', 'delivered_to_user', 'read'].includes(state),
  );
  const entries = reached.map((state) =>
    bytesOf({ ...logItem(message, state, '2026-11-21T12:00:00.000000'), counted: newClaim() } as Key),
  );
  return {
    table: entries.reduce((total, one) => total + one.table, 0),
    indexes: entries.reduce((total, one) => total + one.indexes, 0),
  };
};

export const perMillion = (bill: Bill): number =>
  Object.entries(bill).reduce((total, [what, amount]) => total + listPriceOf(what as Priced) * amount * 1e6, 0);

/** The labels of billed items. */
export const ITEMS: Record<string, Priced[]> = {
  'table, writes': ['writeUnit'],
  'table, reads': ['readUnit'],
  'table, storage and backup': ['storage', 'backup'],
  'API Gateway': ['apiRequest'],
  'Lambda, invocations': ['invocation'],
  'Lambda, time': ['gigabyteSecond'],
  queue: ['queueRequest'],
  'log lines': ['logTaken', 'logKept'],
};

/** The bill of a message on its path through these functions. */
export const billOf = (way: Way): Bill =>
  add(
    ...[...way].map(([name, use]) => {
      const { invocations, reads, writes, indexes: more } = use;
      const isRequest = name === 'sendMessage' || name === 'receiveAppEvents';
      // These units are sums over all invocations for the message.
      return add(
        times(invocations, invocationOf({ ...use, reads: 0, writes: 0, indexes: 0 })),
        { readUnit: reads, writeUnit: writes + more },
        isRequest ? times(invocations, requestThroughGateway) : {},
      );
    }),
    // The endpoint and `relay` both send the wake-up.
    { queueRequest: ASSUMED.queueRequests + (way.has('sendMessage') ? 1 : 0) },
    stepLines,
    storing(messageBytes()),
  );
