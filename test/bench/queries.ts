/**
 * The cost of lists for accounts with 1,000, 100,000 and 1,000,000 log entries: capacity units and latency, compared
 * with the account with 1,000. They should be equal. `BENCH_ENTRIES` limits the number of entries.
 */
import { randomUUID } from 'node:crypto';
import { messageHistory } from '../../infra/operator/queries/message-history.ts';
import { jobOf } from '../../shared/messaging/jobs/default-jobs.ts';
import { type LogItem, logItem, type State } from '../../shared/outbox/message.ts';
import { type LogFilter, listLogs } from '../../shared/stats/delivery-log.ts';
import { jobCounterKey } from '../../shared/stats/entities.ts';
import { listJobs } from '../../shared/stats/job-counters.ts';
import type { Key } from '../../shared/table/keys.ts';
import { consumedBy } from '../stack/support/consumed.ts';
import { putAll, serveItems } from '../stack/support/many-items.ts';
import { lifetime } from '../support/lifetime.ts';
import { openParts } from './parts.ts';
import { type Figure, median, quantile, ratios, report, say } from './report.ts';

/** An external database is filled with ordinary writes, which are slow, so it gets fewer entries. */
const MOST = Number(process.env.BENCH_ENTRIES ?? (process.env.DYNAMODB_ENDPOINT ? 10_000 : 1_000_000));
const SIZES = [1_000, 100_000, 1_000_000].filter((size) => size <= Math.max(MOST, 1_000));
const ROUNDS = 60;
/** Goals for larger accounts: the same units, and a tolerance for noise in the time. */
const GOAL = { units: { goal: { atMost: 1 } }, time: { goal: { atMost: 1.5 } } } as const;

const STATES: State[] = ['sent', 'delivered_to_server', 'delivered_to_user', 'read'];
const PHONES = ['27820000001', '27820000002'];

interface Account {
  id: string;
  entries: number;
  jobs: string[];
  /** The id of one of the account's messages. */
  message: string;
}

const accounts = SIZES.map((entries): Account => {
  const id = `bench-${entries}`;
  return { id, entries, jobs: PHONES.map((phone) => jobOf(`${id}-${phone}`, 'api', '2026')), message: randomUUID() };
});

const timestampAt = (milliseconds: number): string => new Date(milliseconds).toISOString().replace('Z', '000');

/** Log entries of messages with all states, one per second, alternating between 2 contacts and jobs. */
function* logOf({ id: account, entries, jobs, message }: Account): Generator<LogItem> {
  const start = Date.now() - 60_000 - entries * 1_000;
  for (let place = 0; place < entries / STATES.length; place += 1) {
    const isLast = place === entries / STATES.length - 1;
    const one = {
      id: isLast ? message : randomUUID(),
      account,
      phone: PHONES[place % 2] ?? '',
      job_id: jobs[place % 2] ?? '',
      payload_type: 'text',
      ...lifetime,
    };
    for (const [step, state] of STATES.entries()) {
      yield logItem(one, state, timestampAt(start + (place * STATES.length + step) * 1_000));
    }
  }
}

const today = new Date().toISOString().slice(0, 10);

/** Counters for all days of the entries. */
function* countersOf({ id, entries, jobs }: Account): Generator<Key & { count: number }> {
  const days = Math.ceil(entries / 86_400) + 1;
  for (let back = 0; back < days; back += 1) {
    const day = new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10);
    for (const job_id of jobs) {
      for (const state of STATES) {
        yield { ...jobCounterKey(id, { day, job_id, payload_type: 'text', state }), count: 1_000 };
      }
    }
  }
}

function* everything(): Generator<Key> {
  for (const account of accounts) {
    yield* logOf(account);
    yield* countersOf(account);
  }
}

const listing =
  (filterOf: (account: Account) => LogFilter) =>
  async (account: Account): Promise<void> => {
    const { entries } = await listLogs(account.id, filterOf(account), 100);
    if (entries.length !== 100) throw new Error(`${account.entries} entries: only ${entries.length} were listed.`);
  };

const queries: Record<string, (account: Account) => Promise<void>> = {
  'the newest 100 log entries': listing(() => ({})),
  'those of a state': listing(() => ({ state: 'read' })),
  'those of a contact': listing(() => ({ phone: PHONES[0] })),
  'those of a contact and state': listing(() => ({ phone: PHONES[0], state: 'read' })),
  'those of a job': listing(({ jobs }) => ({ job_id: jobs[0] })),
  'those of a job and state': listing(({ jobs }) => ({ job_id: jobs[0], state: 'read' })),
  'the jobs of a day': async ({ id }) => {
    if ((await listJobs(id, today, today)).length === 0) throw new Error('No jobs were listed.');
  },
  "a message's story": async ({ message }) => {
    if ((await messageHistory(message))?.states.length !== STATES.length) throw new Error('A story lacks a state.');
  },
};

const millisecondsOf = async (work: () => Promise<void>): Promise<number> => {
  const start = performance.now();
  await work();
  return performance.now() - start;
};

/** Measures a query for each account, alternating between accounts. */
const timesOf = async (query: (account: Account) => Promise<void>): Promise<number[][]> => {
  const found: number[][] = accounts.map(() => []);
  for (let round = -5; round < ROUNDS; round += 1) {
    for (const [place, account] of accounts.entries()) {
      const time = await millisecondsOf(() => query(account));
      if (round >= 0) found[place]?.push(time);
    }
  }
  return found;
};

const figuresOf = async (what: string, query: (account: Account) => Promise<void>): Promise<Figure[]> => {
  const units: number[] = [];
  for (const account of accounts) {
    const { table, indexes } = await consumedBy(() => query(account));
    units.push(table + indexes);
  }
  const [first = [], ...others] = await timesOf(query);
  const [min = 0] = units;
  return [
    { what: `${what}, of ${SIZES[0]}`, value: min, unit: 'read units' },
    { what: `${what}, of ${SIZES[0]}`, value: quantile(first, 0.5), p99: quantile(first, 0.99), unit: 'ms' },
    ...others.flatMap((values, place): Figure[] => [
      { what: `of ${SIZES[place + 1]}: units`, value: (units[place + 1] ?? 0) / min, unit: '×', ...GOAL.units },
      { what: `of ${SIZES[place + 1]}: time`, unit: '×', ...median(ratios(values, first)), ...GOAL.time },
    ]),
  ];
};

const parts = await openParts('queries');
let end: (() => Promise<void>) | undefined;
try {
  const seconds = await millisecondsOf(async () => {
    say(`queries: filling a table with ${accounts.map(({ entries }) => entries).join(' and ')} entries`);
    if (process.env.DYNAMODB_ENDPOINT) await putAll([...everything()]);
    else ({ end } = await serveItems(everything()));
  });
  const figures: Figure[] = [{ what: 'filling the table', value: seconds / 1_000, unit: 's' }];
  for (const [what, query] of Object.entries(queries)) figures.push(...(await figuresOf(what, query)));
  report('queries', figures);
} finally {
  await end?.();
  await parts.close();
}
