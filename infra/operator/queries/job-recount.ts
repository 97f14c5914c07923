/** Job counters, for operators: statistics by day, and the repair of missing counts. */

import { logPartitions } from '../../../shared/outbox/entities.ts';
import { timePartOf } from '../../../shared/outbox/log-positions.ts';
import { type LogItem, type State, states } from '../../../shared/outbox/message.ts';
import { sealedAmong } from '../../../shared/stats/claims.ts';
import { CHUNK, countEntries, countersOf } from '../../../shared/stats/job-counters.ts';
import { getConsistent, pages } from '../../../shared/table/client.ts';
import type { Key } from '../../../shared/table/keys.ts';

/** How many messages reached each state on one day. */
export interface DayCount {
  /** UTC, `YYYY-MM-DD`. */
  day: string;
  states: Record<State, number>;
}

/** Message counts of a period. */
export interface Statistics {
  /** Days with counts, oldest first. */
  days: DayCount[];
  /** How many jobs were active. */
  jobs: number;
}

/**
 * Message counts of an account, or of one job, on each day of a period, both days included (UTC, `YYYY-MM-DD`). Reads
 * the same counters as `listJobs`, at the same cost.
 */
export const countDays = async (
  account: string,
  { start, end, job }: { start: string; end: string; job?: string | undefined },
): Promise<Statistics> => {
  const days = new Map<string, DayCount>();
  const jobs = new Set<string>();
  for await (const counters of countersOf(account, start, end)) {
    for (const { day, job_id, state, count } of counters) {
      const reached = states.find((known) => known === state);
      if (reached === undefined || (job !== undefined && job_id !== job)) continue;
      const found = days.get(day) ?? { day, states: eachState(() => 0) };
      found.states[reached] += count;
      days.set(day, found);
      jobs.add(job_id);
    }
  }
  return { days: [...days.values()], jobs: jobs.size };
};

/** A number for each state. */
export const eachState = (numberOf: (state: State) => number): Record<State, number> =>
  Object.fromEntries(states.map((state) => [state, numberOf(state)])) as Record<State, number>;

/**
 * Counts the log entries of a period that the stream did not deliver to the counters, both days included (UTC,
 * `YYYY-MM-DD`). Repeating it changes nothing. Costs 1 read unit per entry, and per claim in each page of them, plus the
 * reads of the index.
 *
 * @param onProgress - receives how many states are done, and how many entries were read
 * @returns how many entries there are, and how many of them were not counted before
 */
export const recountJobs = async (
  account: string,
  start: string,
  end: string,
  onProgress: (done: number, entries: number) => void = () => undefined,
): Promise<{ entries: number; counted: number }> => {
  const found = { entries: 0, counted: 0 };
  for (const [index, state] of states.entries()) {
    for await (const keys of pages<Key>({
      IndexName: 'gsi1',
      KeyConditionExpression: 'gsi1pk = :logs AND gsi1sk BETWEEN :start AND :end',
      ExpressionAttributeValues: {
        ':logs': logPartitions.gsi1(account, { state }),
        ':start': timePartOf(`${start}T00:00:00.000000`),
        ':end': `${timePartOf(`${end}T23:59:59.999999`)}~`,
      },
      ProjectionExpression: 'pk, sk',
      Limit: CHUNK,
    })) {
      // The index contains neither the attributes to count by nor `counted`.
      const read = await Promise.all(keys.map(({ pk, sk }) => getConsistent<LogItem>({ pk, sk })));
      const entries = read.filter((entry) => entry !== undefined);
      found.entries += entries.length;
      const sealed = await sealedAmong(entries.map(({ counted }) => counted));
      found.counted += await countEntries(entries.filter(({ counted }) => counted !== true && !sealed.has(counted)));
      onProgress(index, found.entries);
    }
    onProgress(index + 1, found.entries);
  }
  return found;
};
