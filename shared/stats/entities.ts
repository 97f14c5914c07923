/** The rows about statistics. */
import type { Entity } from '../table/entity.ts';
import { type Key, key } from '../table/keys.ts';

/** The dimensions of a job counter: messages of a job and payload type that reached a state on a day (`YYYY-MM-DD`). */
interface Counted {
  day: string;
  job_id: string;
  payload_type: string;
  state: string;
  /** Set if it counts only messages of batches: `JobItem.recipients` contains them since their acceptance. */
  inBatch?: true;
}

/** What follows the state in the key of a counter of messages of batches. */
const IN_BATCH = '+';

const JOB_COUNTERS = 'JOBS#';
const DAY = 'DAY#';

/** The partition of an account's job counters. */
export const jobCountersOf = (account: string): string => `${JOB_COUNTERS}${account}`;

/** A job counter, or one of its shards. An account's counters are in one partition, sorted by day. */
export const jobCounterKey = (account: string, counted: Counted, shard = 0): Key => {
  const { day, job_id, payload_type, state, inBatch } = counted;
  const name = [day, job_id, payload_type, inBatch ? `${state}${IN_BATCH}` : state].join('#');
  return key(jobCountersOf(account), `${DAY}${name}${shard > 0 ? `#${shard}` : ''}`);
};

/** The dimensions of a job counter, by its key or that of a shard. */
export const countedBy = ({ sk }: Key): Counted => {
  const [day = '', job_id = '', payload_type = '', state = ''] = sk.slice(DAY.length).split('#');
  if (!state.endsWith(IN_BATCH)) return { day, job_id, payload_type, state };
  return { day, job_id, payload_type, state: state.slice(0, -IN_BATCH.length), inBatch: true };
};

/**
 * The partition and the range of sort keys of an account's counters, from one day to another. Both days are included.
 */
export const jobCounterRange = (account: string, start: string, end: string) => ({
  pk: jobCountersOf(account),
  from: `${DAY}${start}#`,
  to: `${DAY}${end}#~`,
});

/** The partition and the range of sort keys of the counters of one job and day. */
export const jobCounterRangeOfDay = (account: string, day: string, job_id: string) => ({
  pk: jobCountersOf(account),
  from: `${DAY}${day}#${job_id}#`,
  to: `${DAY}${day}#${job_id}#~`,
});

const CLAIM = 'COUNT_CLAIM#';

/** A claim of log entries that are counted together. */
export const claimKey = (claim: string): Key => key(`${CLAIM}${claim}`, 'CLAIM');

const claim = {
  name: 'claim of log entries to count',
  pk: CLAIM,
  sk: 'CLAIM',
  restore: 'never',
  expires: true,
  person: 'none',
  access: { endClaim: 'UpdateItem', lookAtClaim: 'GetItem' },
} as const satisfies Entity;

const jobCounter = {
  name: 'job counter',
  pk: JOB_COUNTERS,
  sk: DAY,
  account: ({ pk }) => pk.slice(JOB_COUNTERS.length),
  restore: 'missing',
  expires: 'some',
  person: 'none',
  access: { addToJob: 'UpdateItem', listJobs: 'Query' },
} as const satisfies Entity;

export const statsEntities = [jobCounter, claim] as const;
