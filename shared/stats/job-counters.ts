/** Counters of jobs: messages by job, payload type, state and day. */

import { positionOf } from '../campaigns/ids.ts';
import { Problem } from '../core/problems.ts';
import { MAX_BODY_IN_RESPONSE, sizeInResponse } from '../core/response-size.ts';
import { counterRetention } from '../core/settings.ts';
import { messageIdOf } from '../outbox/entities.ts';
import { type LogItem, type State, states } from '../outbox/message.ts';
import { hasExpired, pages } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { updateWrite, type Write } from '../table/transactions.ts';
import { CounterShards } from './counter-shards.ts';
import { countOnce } from './counting.ts';
import { countedBy, jobCounterKey, jobCounterRange } from './entities.ts';

/** The attributes of a log entry that counting needs. */
export type Countable = Pick<LogItem, 'pk' | 'sk' | 'account' | 'job_id' | 'payload_type' | 'state' | 'created'>;

interface CounterItem extends Key {
  count: number;
  expires_at: number;
}

/** So many entries with up to ten counters are one transaction. */
export const CHUNK = 90;

/** The shards that this process adds to. */
const ofThisProcess = new CounterShards();

/**
 * Adds log entries to the counters of their jobs. An entry that is given again is not counted again: one transaction
 * marks entries as counted, if they are not yet, and adds their sums. 2 write units for an entry, and 2 for a counter.
 * The entries of a counter are in as few transactions as possible.
 *
 * @returns the number of entries that were not counted before
 */
export const countEntries = (entries: Countable[], shards = ofThisProcess): Promise<number> =>
  countOnce(entries, { counterOf, endOf: (entry) => endOf(dayOf(entry)), markWrite: markCountedWrite }, shards);

/**
 * Marks an entry as counted; fails if it is counted, removed, or replaced by the entry of a later message, which has
 * another time.
 */
const markCountedWrite = ({ pk, sk, created }: Countable): Write =>
  updateWrite({
    Key: { pk, sk },
    UpdateExpression: 'SET counted = :true',
    ConditionExpression: 'created = :created AND counted = :false',
    ExpressionAttributeValues: { ':true': true, ':false': false, ':created': created },
  });

/** The counter of an entry. The beginnings of messages of batches have a counter of their own: see `figuresOf`. */
const counterOf = (entry: Countable, shard: number): Key => {
  const { account, job_id, payload_type, state } = entry;
  const inBatch = state === 'sent' && positionOf(messageIdOf(entry)) !== undefined;
  return jobCounterKey(account, { day: dayOf(entry), job_id, payload_type, state, ...(inBatch && { inBatch }) }, shard);
};

const dayOf = ({ created }: Countable): string => created.slice(0, 10);

/**
 * When the counters of a day expire, in seconds since 1970. The retention begins at the end of the day, so that all
 * states of a job expire together.
 */
const endOf = (day: string): number => Date.parse(day) / 1000 + (1 + counterRetention()) * 86_400;

/** The number of a job's messages of one type that reached one state in a period. */
export interface JobStatistic {
  job_id: string;
  state: string;
  payload_type: string;
  count: number;
}

/** Least serialised bytes of a row. */
const MIN_ROW = 100;
/** Most pages of counters that a list reads: as many as the time of its function allows, of 1 MB each. */
const MAX_PAGES = 100;

/**
 * An account's messages by job and state, in a period that includes both days (UTC, `YYYY-MM-DD`). Sorted by the job's
 * last active day, newest first; then by job id, payload type, and the order of states. 0.5 read units for 4 KB of
 * counters: one counter for each day, job, payload type and state, with at most 16 shards. At most 12,900 units.
 *
 * @param jobs - the jobs that are listed. Default: all
 * @throws period_too_large — the response would exceed 5 MB, or the counters 100 MB
 */
export const listJobs = async (
  account: string,
  start: string,
  end: string,
  jobs?: ReadonlySet<string>,
): Promise<JobStatistic[]> => {
  const rows = new Map<string, JobStatistic>();
  const lastActive = new Map<string, string>();
  let pagesRead = 0;
  for await (const counters of countersOf(account, start, end)) {
    pagesRead += 1;
    if (pagesRead > MAX_PAGES) throw periodTooLarge('The period has over 100 MB of counters.');
    for (const { day, job_id, payload_type, state, count } of counters) {
      if (jobs?.has(job_id) === false) continue;
      const name = `${job_id}#${payload_type}#${state}`;
      const row = rows.get(name) ?? { job_id, state, payload_type, count: 0 };
      rows.set(name, { ...row, count: row.count + count });
      // Counters are sorted by day.
      lastActive.set(job_id, day);
    }
    if (rows.size * MIN_ROW > MAX_BODY_IN_RESPONSE) throw periodTooLarge();
  }
  const place = ({ job_id, payload_type, state }: JobStatistic) => [job_id, payload_type, rank(state)].join('#');
  const sorted = [...rows.values()].sort(
    (a, b) => compare(lastActive.get(b.job_id) ?? '', lastActive.get(a.job_id) ?? '') || compare(place(a), place(b)),
  );
  if (sizeInResponse(sorted) > MAX_BODY_IN_RESPONSE) throw periodTooLarge();
  return sorted;
};

/** An account's counters of a period, by day: yields a page at a time. */
export async function* countersOf(account: string, start: string, end: string) {
  const { pk, from, to } = jobCounterRange(account, start, end);
  for await (const items of pages<CounterItem>({
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
    ExpressionAttributeValues: { ':pk': pk, ':from': from, ':to': to },
  })) {
    yield items.filter((item) => !hasExpired(item)).map((item) => ({ ...countedBy(item), count: item.count }));
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

const rank = (state: string): number => states.indexOf(state as State);

const periodTooLarge = (why = 'The response would exceed 5 MB.'): Problem =>
  new Problem('period_too_large', `${why} Request fewer days at a time.`);
