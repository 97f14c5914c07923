/** Counters of jobs, for operators: statistics by day, and repair of what was not counted. */
import { type LogItem, type State, states } from '../../../shared/messaging/message.ts';
import { CHUNK, countEntries, countersOf } from '../../../shared/stats/job-counters.ts';
import { getConsistent, pages } from '../../../shared/table/client.ts';
import { type Key, logPartitions } from '../../../shared/table/keys.ts';

/** What became of messages on one day: of each state, how many reached it. */
export interface DayCount {
  /** UTC, `YYYY-MM-DD`. */
  day: string;
  states: Record<State, number>;
}

/** What became of messages in a period. */
export interface Statistics {
  /** The days on which anything was counted, the first one first. */
  days: DayCount[];
  /** How many jobs were active. */
  jobs: number;
}

/**
 * What became of an account's messages, or of one job's, on each day of a period, both days included (UTC,
 * `YYYY-MM-DD`): the same counters as `listJobs` adds up, read at the same price.
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
      // Stryker disable next-line ConditionalExpression: It never happens; only the compiler asks for it.
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
 * Counts what the counters of an account's jobs lack: log entries of a period, both days included (UTC, `YYYY-MM-DD`),
 * that the stream brought to nobody. Repeating it changes nothing. Reads each entry: 1 read unit each, beside its index.
 *
 * @param tell - receives the progress: how many of the states are done, and how many entries were read
 * @returns how many entries there are, and how many of them were not counted before
 */
export const recountJobs = async (
  account: string,
  start: string,
  end: string,
  tell: (done: number, entries: number) => void = () => undefined,
): Promise<{ entries: number; counted: number }> => {
  const found = { entries: 0, counted: 0 };
  for (const [place, state] of states.entries()) {
    for await (const keys of pages<Key>({
      IndexName: 'gsi1',
      KeyConditionExpression: 'gsi1pk = :logs AND gsi1sk BETWEEN :start AND :end',
      ExpressionAttributeValues: {
        ':logs': logPartitions.gsi1(account, { state }),
        ':start': start,
        ':end': `${end}~`,
      },
      ProjectionExpression: 'pk, sk',
      Limit: CHUNK,
    })) {
      // The index does not hold what is counted, nor what tells whether it was.
      const read = await Promise.all(keys.map(({ pk, sk }) => getConsistent<LogItem>({ pk, sk })));
      const entries = read.filter((entry) => entry !== undefined);
      found.entries += entries.length;
      // Stryker disable next-line MethodExpression,ConditionalExpression: Only the number of calls differs; the capacity tests count them.
      found.counted += await countEntries(entries.filter(({ counted }) => counted === undefined));
      tell(place, found.entries);
    }
    tell(place + 1, found.entries);
  }
  return found;
};
