/** Jobs (spec §2, §4.7): how many messages of each reached which state. */

import { Problem } from '../core/problems.ts';
import { MAX_BODY_IN_RESPONSE, sizeInResponse } from '../core/response-size.ts';
import { counterRetention } from '../core/settings.ts';
import { type LogItem, type State, states } from '../messaging/message.ts';
import { pages } from '../table/client.ts';
import { hasExpired } from '../table/expiry.ts';
import { countedBy, jobCounterKey, jobCounterRange, type Key } from '../table/keys.ts';
import { transact, updateWrite, type Write } from '../table/transactions.ts';

/** What counting needs of a log entry. */
export type Countable = Pick<LogItem, 'pk' | 'sk' | 'account' | 'job_id' | 'payload_type' | 'state' | 'created'>;

interface CounterItem extends Key {
  count: number;
  expires_at: number;
}

/** A transaction takes 100 writes: so many entries, and a counter for each at the worst. */
export const CHUNK = 50;

/**
 * Adds log entries to the counters of their jobs, each entry once, however often it is given: one transaction marks
 * entries as counted, on condition that they are not, and adds their sums. 2 write units an entry, and 2 a counter.
 *
 * @returns how many were not counted before
 */
export const countEntries = async (entries: Countable[]): Promise<number> => {
  const each = [...new Map(entries.map((entry) => [`${entry.pk} ${entry.sk}`, entry])).values()];
  let counted = 0;
  for (let start = 0; start < each.length; start += CHUNK)
    counted += await countChunk(each.slice(start, start + CHUNK));
  return counted;
};

const countChunk = async (entries: Countable[]): Promise<number> => {
  for (let left = entries; left.length > 0; ) {
    const failed = new Set(await transact([...left.map(markCountedWrite), ...addToCountersWrites(left)]));
    if (failed.size === 0) return left.length;
    left = left.filter((_, place) => !failed.has(place));
  }
  return 0;
};

/** Marks an entry as counted; fails if it is counted already, or gone. Entries of earlier versions lack the mark. */
const markCountedWrite = ({ pk, sk }: Countable): Write =>
  updateWrite({
    Key: { pk, sk },
    UpdateExpression: 'SET counted = :true',
    ConditionExpression: 'attribute_exists(pk) AND (counted = :false OR attribute_not_exists(counted))',
    ExpressionAttributeValues: { ':true': true, ':false': false },
  });

/** Adds up entries, a write for each counter. */
const addToCountersWrites = (entries: Countable[]): Write[] => {
  const sums = Map.groupBy(entries, (entry) => JSON.stringify(counterOf(entry)));
  return [...sums.values()].flatMap((group) =>
    group.slice(0, 1).map((entry) =>
      updateWrite({
        Key: counterOf(entry),
        UpdateExpression: 'ADD #count :count SET expires_at = :end',
        ExpressionAttributeNames: { '#count': 'count' },
        ExpressionAttributeValues: { ':count': group.length, ':end': endOf(dayOf(entry)) },
      }),
    ),
  );
};

const counterOf = (entry: Countable): Key => jobCounterKey(entry.account, { ...entry, day: dayOf(entry) });

const dayOf = ({ created }: Countable): string => created.slice(0, 10);

/**
 * When the counters of a day expire, in seconds since 1970. Counted from the end of that day, and not from when one was
 * begun: a job's states would vanish one after the other.
 */
const endOf = (day: string): number => Date.parse(day) / 1000 + (1 + counterRetention()) * 86_400;

/** A job's messages of one type that reached one state in a period. */
export interface JobStatistic {
  job_id: string;
  state: string;
  payload_type: string;
  count: number;
}

/** Serialised bytes of a row, at the least. */
const MIN_ROW = 100;

/**
 * What became of an account's messages in a period, both days included (UTC, `YYYY-MM-DD`): the job that was active last
 * first, then by job id; within a job by payload type, then as messages go through their states.
 * Half a read unit for 4 KB of counters, one for each day, job, payload type and state.
 *
 * @throws period_too_large — the answer would have more than 5 MB
 */
export const listJobs = async (account: string, start: string, end: string): Promise<JobStatistic[]> => {
  const rows = new Map<string, JobStatistic>();
  const lastActive = new Map<string, string>();
  for await (const counters of countersOf(account, start, end)) {
    for (const { day, job_id, payload_type, state, count } of counters) {
      const name = `${job_id}#${payload_type}#${state}`;
      const row = rows.get(name) ?? { job_id, state, payload_type, count: 0 };
      rows.set(name, { ...row, count: row.count + count });
      // Counters come day by day.
      lastActive.set(job_id, day);
    }
    if (rows.size * MIN_ROW > MAX_BODY_IN_RESPONSE) throw periodTooLarge();
  }
  // Stryker disable next-line StringLiteral: The parts sort alike without a separator.
  const place = ({ job_id, payload_type, state }: JobStatistic) => [job_id, payload_type, rank(state)].join('#');
  const sorted = [...rows.values()].sort(
    // Stryker disable next-line StringLiteral: It never happens; only the compiler asks for it.
    (a, b) => compare(lastActive.get(b.job_id) ?? '', lastActive.get(a.job_id) ?? '') || compare(place(a), place(b)),
  );
  if (sizeInResponse(sorted) > MAX_BODY_IN_RESPONSE) throw periodTooLarge();
  return sorted;
};

/** An account's counters of a period, day by day, a page at a time. */
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

const periodTooLarge = (): Problem =>
  new Problem('period_too_large', 'The response would exceed 5 MB. Request fewer days at a time.');
