/** `operator account stats`: an account's messages by state and day, and its pending messages. */

import type { Command } from 'commander';
import { inDays } from '../../../shared/core/lifetimes.ts';
import { circuitNamesOf } from '../../../shared/destinations/destination.ts';
import { type Direction, directions } from '../../../shared/outbox/event.ts';
import type { State } from '../../../shared/outbox/message.ts';
import { uuid } from '../../../shared/validation/schemas.ts';
import { bar, type Cell, columns, count, fields, minute, printResult, share, tinted } from '../output.ts';
import { addDaysOption, addPeriodOptions, DEFAULT_DAYS, daysOf, type Given, MAX_DAYS, periodIn } from '../period.ts';
import { showAccount } from '../queries/accounts-admin.ts';
import { countDays, type DayCount, eachState } from '../queries/job-recount.ts';
import {
  findOpenCircuit,
  type OpenCircuit,
  type PendingConversation,
  pendingConversations,
} from '../queries/outbox-inspection.ts';
import { examples, readBy } from '../usage.ts';
import { endOf } from './outbox.ts';

export const addStatsCommand = (account: Command): void => {
  const stats = account
    .command('stats')
    .description(
      `Shows an account's messages by state, in total and per day, and its pending messages.

Both days are included (UTC); without them, the last ${inDays(DEFAULT_DAYS)} are shown. A state counts on the day on which it was reached: a message that was sent late may be read on the next day. The figures are those of GET /v1/stats/jobs.`,
    )
    .argument('<account>', "the account's id");
  addDaysOption(addPeriodOptions(stats))
    .option('--job <job>', 'only one job, by its id', readBy(uuid))
    .addHelpText(
      'after',
      examples(
        'account stats acme-research',
        'account stats acme-research --days 30',
        'account stats acme-research --from 2027-01-01 --to 2027-01-31',
      ),
    )
    .action(async (id: string, { job, ...given }: Given & { job?: string }, command: Command) => {
      const period = periodIn(command, given);
      const days = daysOf(period);
      if (days.length > MAX_DAYS)
        command.error(`error: the period has ${count(days.length)} days: at most ${MAX_DAYS}`);
      const { name, platform } = await showAccount(id);
      const [counted, waiting] = await Promise.all([
        countDays(id, { start: period.from, end: period.to, job }),
        pendingOf(id),
      ]);
      const statistics: Statistics = {
        id,
        name,
        platform,
        ...period,
        job,
        ...counted,
        days: wholeDays(days, counted.days),
        waiting,
      };
      printResult(command, inJson(statistics), inWords(statistics));
    });
};

type States = DayCount['states'];

interface Statistics {
  id: string;
  name: string;
  platform: string | undefined;
  from: string;
  to: string;
  /** If set, only this job's messages are counted. */
  job: string | undefined;
  jobs: number;
  days: DayCount[];
  waiting: PendingDirection[];
}

/** The pending messages of one direction, and whether the destination's circuit is open. */
interface PendingDirection {
  direction: Direction;
  conversations: PendingConversation[];
  circuit: OpenCircuit | undefined;
}

const pendingOf = async (account: string): Promise<PendingDirection[]> => {
  const all = await pendingConversations({ account });
  // Ends of consent are rare.
  const shown = directions.filter((one) => one !== 'consent' || all.some(({ direction }) => direction === one));
  return Promise.all(
    shown.map(async (direction) => {
      const conversations = all.filter((conversation) => conversation.direction === direction);
      const names = new Set([{ account, direction }, ...conversations].flatMap(circuitNamesOf));
      const circuits = await Promise.all([...names].map(findOpenCircuit));
      return { direction, conversations, circuit: circuits.find((circuit) => circuit !== undefined) };
    }),
  );
};

/** Every day of the period, including days without counts. */
const wholeDays = (days: string[], counted: DayCount[]): DayCount[] => {
  const known = new Map(counted.map(({ day, states }) => [day, states]));
  return days.map((day) => ({ day, states: known.get(day) ?? eachState(() => 0) }));
};

const sumOf = (numbers: number[]): number => numbers.reduce((sum, number) => sum + number, 0);

const totalsOf = (days: DayCount[]): States => eachState((state) => sumOf(days.map(({ states }) => states[state])));

const inJson = ({ id, from, to, job, jobs, days, waiting }: Statistics) => ({
  account: id,
  from,
  to,
  ...(job !== undefined && { job_id: job }),
  jobs,
  states: totalsOf(days),
  days: days.map(({ day, states }) => ({ day, ...states })),
  waiting: waiting.map(({ direction, conversations, circuit }) => ({
    direction,
    conversations: conversations.length,
    ...entriesOf(conversations),
    since: conversations[0]?.since,
    circuit_open_until: circuit?.open_until,
  })),
});

const entriesOf = (conversations: PendingConversation[]) => ({
  waiting: sumOf(conversations.map(({ entries }) => entries)),
  more_waiting: conversations.some(({ more }) => more),
});

const inWords = ({ id, name, platform, from, to, job, jobs, days, waiting }: Statistics): string => {
  const about = fields({
    Account: id,
    Name: name,
    Period: from === to ? `${from} (UTC)` : `${from} to ${to} (UTC), ${count(days.length)} days`,
    ...(job === undefined ? { Jobs: count(jobs) } : { Job: job }),
  });
  const counted = jobs === 0 ? [NOTHING] : [stateChart(totalsOf(days)), ...(days.length > 1 ? [dayChart(days)] : [])];
  return [about, ...counted, pendingTable(waiting, platform)].join('\n\n');
};

const NOTHING =
  'No messages were counted in this period. Extend it with --days or --from.\nIf the account did send or receive messages, "job recount" adds missing counts.';

/** Width of the longest bar of each chart: with counts of nine characters, a chart fits 80 columns. */
const WIDE = { states: 24, day: 13 };

/** The states in the order of the chart: messages to users, their failures, then messages from users. */
const steps: { state: State; of?: State; colour: 'cyan' | 'red' }[] = [
  { state: 'sent', colour: 'cyan' },
  { state: 'delivered_to_server', of: 'sent', colour: 'cyan' },
  { state: 'delivered_to_user', of: 'sent', colour: 'cyan' },
  { state: 'read', of: 'sent', colour: 'cyan' },
  { state: 'delivery_failed', of: 'sent', colour: 'red' },
  { state: 'sending_failed', of: 'sent', colour: 'red' },
  { state: 'received', colour: 'cyan' },
  { state: 'reception_failed_http', of: 'received', colour: 'red' },
];

const stateChart = (totals: States): string => {
  const max = Math.max(...Object.values(totals));
  return columns(
    ['STATE', '', 'MESSAGES', 'SHARE'],
    steps.map(({ state, of, colour }) => [
      state,
      tinted(colour, bar(totals[state], max, WIDE.states)),
      count(totals[state]),
      of === undefined || totals[of] === 0 ? '' : `${share(totals[state], totals[of]).padStart(5)} of ${of}`,
    ]),
    ['MESSAGES'],
  );
};

/** A row for each day, with a bar for the messages that were sent and received. */
const dayChart = (days: DayCount[]): string => {
  const trafficOf = ({ sent, received }: States) => sent + received;
  const max = Math.max(...days.map(({ states }) => trafficOf(states)));
  return columns(
    ['DAY', 'TRAFFIC', 'SENT', 'DELIVERED', 'READ', 'FAILED', 'RECEIVED'],
    days.map(({ day, states }) => [
      day,
      tinted('cyan', bar(trafficOf(states), max, WIDE.day)),
      count(states.sent),
      count(states.delivered_to_user),
      count(states.read),
      failures(states),
      count(states.received),
    ]),
    ['SENT', 'DELIVERED', 'READ', 'FAILED', 'RECEIVED'],
  );
};

const failures = ({ delivery_failed, sending_failed, reception_failed_http }: States): Cell => {
  const failed = delivery_failed + sending_failed + reception_failed_http;
  return failed === 0 ? '0' : tinted('red', count(failed));
};

const TOWARDS: Record<Direction, string> = {
  app: 'to users (app)',
  platform: 'to the platform',
  consent: 'ends of consent',
};

const pendingTable = (waiting: PendingDirection[], platform: string | undefined): string =>
  columns(
    ['PENDING NOW', 'USERS', 'ENTRIES', 'SINCE', 'CIRCUIT OPEN UNTIL'],
    waiting.map(({ direction, conversations, circuit }) => {
      const { waiting: entries, more_waiting } = entriesOf(conversations);
      const [oldest] = conversations;
      const inUse = direction === 'platform' && platform === undefined ? 'no platform' : 'in use';
      return [
        TOWARDS[direction],
        count(conversations.length),
        `${count(entries)}${more_waiting ? '+' : ''}`,
        oldest ? minute(oldest.since) : '',
        circuit ? tinted('red', endOf(circuit)) : inUse,
      ];
    }),
    ['USERS', 'ENTRIES'],
  );
