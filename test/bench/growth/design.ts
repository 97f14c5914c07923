/** What a message does to the table, its stream and its queue: the keys that its steps write and read, and their units. */
import { CHUNK } from '../../../shared/stats/job-counters.ts';
import { duePartitions } from '../../../shared/table/keys.ts';
import type { Way } from '../usage.ts';

/** The parts of the design that the simulation compares. */
export interface Design {
  /** Items of a job counter: `shared/stats/counter-shards.ts`. */
  counterShards: number;
  /** Keys of an account's log in the indexes, by state, and by job and state. */
  indexShards: number;
  /** Records of a batch, by worker. */
  batches: { relay: number; count: number; deliver: number };
  /** Seconds that `count` waits for a full batch. */
  countWindow: number;
  /** Whether campaigns become slower while the table throttles them, and not only while the queue of `deliver` is long. */
  yieldsToThrottling: boolean;
}

/** As it is deployed. A test compares the batches with the template. */
export const present: Design = {
  counterShards: 16,
  indexShards: 1,
  batches: { relay: 100, count: CHUNK, deliver: 10 },
  countWindow: 1,
  yieldsToThrottling: true,
};

/** Keys of due work, in the same index as the logs by state. */
export const DUE_KEYS = duePartitions('conversations').length;

/** Groups of the queue for an account's deliveries to the app: `shared/outbox/wake-ups/conversations.ts`. */
export const GROUPS = 256;

/** States that a message reaches, in the order of its steps: accepted, delivered, and reported twice. */
export const STATES = 4;
export const REPORTS = 2;

/**
 * Units of a step of one message. Spread: keys of which each belongs to one message or user. Log: the key of the account and
 * state, and the one of the job and state, each in its index. Due: one of the keys of due work. Contact: the user's log.
 */
export interface StepUnits {
  table: number;
  log: number;
  due: number;
  contact: number;
  /** Reads of keys that belong to the message or user, of the account's item, and of the app network's circuit. */
  reads: number;
  accountReads: number;
  circuitReads: number;
}

/**
 * The sum over a message is what `npm run bench -- capacity` measures for each function, which compares them. `accept`: a
 * transaction of the message, its entry, and the head. `deliver`: the state, the removal of the entry, and
 * that of the head. `report`, twice: a state. `count` depends on the batch: `countWrites`.
 */
export const steps = {
  accept: { table: 6, log: 1, due: 1, contact: 1, reads: 0, accountReads: 1, circuitReads: 0 },
  // An account's circuit counts as a key of the message, because the account's item is read more.
  deliver: { table: 3, log: 1, due: 1, contact: 1, reads: 5.5, accountReads: 1, circuitReads: 0.5 },
  report: { table: 1, log: 1, due: 0, contact: 1, reads: 1, accountReads: 0, circuitReads: 0 },
} satisfies Record<string, StepUnits>;

/** Write units of a batch of `entries` log entries: their marks and their claim, or marks in a transaction, and the counters. */
export const countWrites = (entries: number, counters: number): number =>
  (entries > 2 ? entries + 2 : 2 * entries) + 2 * counters;

/** How many of `all` counters a batch of entries meets, if each entry belongs to any of them. */
export const countersOf = (entries: number, all: number): number => all * (1 - (1 - 1 / all) ** entries);

/**
 * Log entries of one job that are counted in a second if each counter is one item, however many workers count: the mean of
 * `npm run bench -- count` (performance.md, "Growth").
 */
export const ONE_ITEM_RATE = 2_400;

/** Seconds from the start of a batch of `count` to the next one: the marks, the transaction, and the pause (decisions.md). */
export const COUNT_SECONDS = 0.07;

/** Seconds that the app network takes to respond. Not measured: it is not ours. */
export const APP_NETWORK_SECONDS = 0.1;

const use = (ms: number, invocations: number, reads: number, writes: number, indexes: number) => ({
  calls: 0,
  reads,
  writes,
  indexes,
  invocations,
  ms,
});

/**
 * A message as `measureUsage` found it in November 2026, on two cores: units for the message, milliseconds for an
 * invocation. `npm run bench -- capacity` compares the units.
 */
export const measured: Way = new Map([
  ['sendMessage', use(8, 1, 1, 6, 4)],
  ['relay', use(2.2, 1, 0, 0, 0)],
  ['deliver', use(18.5, 1, 7, 3, 4)],
  ['receiveAppEvents', use(6.2, 2, 2, 2, 6)],
  ['count', use(4.1, 2.66, 0, 16, 0)],
]);
