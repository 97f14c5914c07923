/** Counters of jobs: messages by job, payload type, state and day. */

import { positionOf } from '../campaigns/ids.ts';
import { Problem } from '../core/problems.ts';
import { MAX_BODY_IN_RESPONSE, sizeInResponse } from '../core/response-size.ts';
import { counterRetention } from '../core/settings.ts';
import { UTC } from '../core/time-zones.ts';
import { messageIdOf } from '../outbox/entities.ts';
import { type LogItem, type State, states } from '../outbox/message.ts';
import { type Change, hasExpired, pages } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import type { Mark } from './claims.ts';
import { CounterShards } from './counter-shards.ts';
import { countClaimedOnce } from './counting.ts';
import { countedBy, jobCounterKey, jobCounterRange } from './entities.ts';
import { daysOfQuarters, type Quarters, quarterOf, sumByDay, utcDaysOf } from './quarters.ts';

/** The attributes of a log entry that counting needs. */
export type Countable = Pick<
  LogItem,
  'pk' | 'sk' | 'account' | 'job_id' | 'payload_type' | 'state' | 'created' | 'expires_at'
>;

interface CounterItem extends Key, Quarters {
  count: number;
  expires_at: number;
}

/** The sums of so many entries, with up to ten counters, are one transaction. */
export const CHUNK = 90;

/** The shards that this process adds to. */
const ofThisProcess = new CounterShards();

/**
 * Adds log entries to the counters of their jobs, each one once: `countClaimedOnce`. The entries of a counter are in as few
 * transactions as possible.
 *
 * @returns the number of entries that were not counted before
 */
export const countEntries = (entries: Countable[], shards = ofThisProcess): Promise<number> =>
  countClaimedOnce(
    entries,
    {
      counterOf,
      endOf: (entry) => endOf(dayOf(entry)),
      partOf: ({ created }) => quarterOf(created),
      changeMark,
    },
    shards,
  );

/** Changes the mark of an entry, unless it was replaced by the entry of a later message, which has another time. */
const changeMark = ({ pk, sk, created }: Countable, from: Mark, to: Mark): Change => ({
  Key: { pk, sk },
  UpdateExpression: 'SET counted = :to',
  ConditionExpression: 'created = :created AND counted = :from',
  ExpressionAttributeValues: { ':from': from, ':to': to, ':created': created },
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

/** The number of a job's messages of one type that reached one state in a period, or on a day of it. */
export interface JobStatistic {
  day?: string;
  job_id: string;
  state: string;
  payload_type: string;
  count: number;
}

/** What is listed of a period, and how. */
interface JobFilter {
  /** The jobs that are listed. Default: all. */
  jobs?: ReadonlySet<string> | undefined;
  /** The time zone of the days: its IANA name. Default: UTC. */
  time_zone?: string | undefined;
  /** Counts each day by itself. Default: the period as a whole. */
  by?: 'day' | undefined;
}

/** Least serialised bytes of a row. */
const MIN_ROW = 100;
/** Most pages of counters that a list reads: as many as the time of its function allows, of 1 MB each. */
const MAX_PAGES = 100;

/**
 * An account's messages by job and state, in a period that includes both days (`YYYY-MM-DD`). Sorted by day, newest first,
 * if each is counted by itself; then by the job's last active day, newest first; then by job id, payload type, and the
 * order of states. 0.5 read units for 4 KB of counters: one counter for each UTC day, job, payload type and state, with at
 * most 16 shards. At most 12,900 units.
 *
 * @throws period_too_large — the response would exceed 5 MB, or the counters 100 MB
 */
export const listJobs = async (
  account: string,
  start: string,
  end: string,
  { jobs, time_zone, by }: JobFilter = {},
): Promise<JobStatistic[]> => {
  const rows = new Map<string, JobStatistic>();
  const lastActive = new Map<string, string>();
  let pagesRead = 0;
  for await (const counters of countersOf(account, start, end, time_zone)) {
    pagesRead += 1;
    if (pagesRead > MAX_PAGES) throw periodTooLarge('The period has over 100 MB of counters.');
    for (const { day, job_id, payload_type, state, count } of counters) {
      if (jobs?.has(job_id) === false) continue;
      const name = [by === 'day' ? day : '', job_id, payload_type, state].join('#');
      const row = rows.get(name) ?? { ...(by === 'day' && { day }), job_id, state, payload_type, count: 0 };
      rows.set(name, { ...row, count: row.count + count });
      if (day > (lastActive.get(job_id) ?? '')) lastActive.set(job_id, day);
    }
    if (rows.size * MIN_ROW > MAX_BODY_IN_RESPONSE) throw periodTooLarge();
  }
  const place = ({ job_id, payload_type, state }: JobStatistic) => [job_id, payload_type, rank(state)].join('#');
  const sorted = [...rows.values()].sort(
    (a, b) =>
      compare(b.day ?? '', a.day ?? '') ||
      compare(lastActive.get(b.job_id) ?? '', lastActive.get(a.job_id) ?? '') ||
      compare(place(a), place(b)),
  );
  if (sizeInResponse(sorted) > MAX_BODY_IN_RESPONSE) throw periodTooLarge();
  return sorted;
};

/** Without the quarters of an hour, which are most of a counter. */
const TOTALS = { ProjectionExpression: 'pk, sk, #count, expires_at', ExpressionAttributeNames: { '#count': 'count' } };

/**
 * An account's counts of a period of days in a time zone, by day: yields those of a page of counters at a time. A zone other
 * than UTC costs one more UTC day.
 */
export async function* countersOf(account: string, start: string, end: string, zone = UTC) {
  const { first, last } = zone === UTC ? { first: start, last: end } : utcDaysOf(start, end, zone);
  const { pk, from, to } = jobCounterRange(account, first, last);
  const known = new Map<string, string[]>();
  const daysOf = (day: string): string[] => {
    const days = known.get(day) ?? daysOfQuarters(day, zone);
    known.set(day, days);
    return days;
  };
  const countsOf = (item: CounterItem) => {
    const counted = countedBy(item);
    if (zone === UTC) return [{ ...counted, count: item.count }];
    return [...sumByDay(item, daysOf(counted.day))]
      .filter(([day]) => day >= start && day <= end)
      .map(([day, count]) => ({ ...counted, day, count }));
  };
  for await (const items of pages<CounterItem>({
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
    ExpressionAttributeValues: { ':pk': pk, ':from': from, ':to': to },
    ...(zone === UTC && TOTALS),
  })) {
    yield items.filter((item) => !hasExpired(item)).flatMap(countsOf);
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

const rank = (state: string): number => states.indexOf(state as State);

const periodTooLarge = (why = 'The response would exceed 5 MB.'): Problem =>
  new Problem('period_too_large', `${why} Request fewer days at a time.`);
