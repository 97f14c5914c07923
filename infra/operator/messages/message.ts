/** `operator message …`: messages and their states. */
import { type Command, Option } from 'commander';
import { findScheduled, type ScheduledMessage } from '../../../shared/campaigns/stored-batch.ts';
import type { State } from '../../../shared/outbox/message.ts';
import { uuid, wholeNumber } from '../../../shared/validation/schemas.ts';
import { type Cell, columns, count, due, fields, masked, minute, printResult, second, tinted } from '../output.ts';
import { showAccount, UserError } from '../queries/accounts-admin.ts';
import { type MessageHistory, messageHistory } from '../queries/message-history.ts';
import type { DeliveryAttempts } from '../queries/outbox-inspection.ts';
import { logAbout, type PersonalData } from '../queries/personal-data-export.ts';
import { examples, readBy, readPhoneNumber } from '../usage.ts';

export const addMessageCommands = (program: Command): void => {
  const message = program
    .command('message')
    .description('Messages between accounts and users of the app.')
    .addHelpText('after', examples('message list 27820000001'));

  message
    .command('list')
    .description(
      "Lists a user's messages in both directions, newest first, each with its last state. The content is not shown.",
    )
    .argument('<phone>', "the user's number, 7 to 15 digits without +", readPhoneNumber)
    .option('--account <id>', "only one account's messages")
    .addOption(
      new Option('--limit <n>', 'maximum number of messages').argParser(readBy(wholeNumber(1, 100_000))).default(20),
    )
    .addHelpText('after', examples('message list 27820000001', 'message list 27820000001 --account acme-research'))
    .action(async (phone: string, { account, limit }: { account?: string; limit: number }, command: Command) => {
      if (account !== undefined) await showAccount(account);
      const log = await logAbout(phone);
      const found = messagesIn(log.filter((entry) => account === undefined || entry.account === account));
      const listed = found.slice(0, limit);
      printResult(
        command,
        listed,
        found.length === 0 ? `There are no messages of ${masked(phone)}.` : list(listed, found),
      );
    });

  message
    .command('show')
    .description(
      `Shows a message's states, and whether it is pending. The content is not shown.

The user's number is masked; --json prints it in full.`,
    )
    .argument('<id>', "the message's id", readBy(uuid))
    .option('--account <id>', 'the account of the message; needed while the message is scheduled')
    .addHelpText(
      'after',
      examples(
        'message show 0199a3f2-7c4e-7d10-9b1a-5f0c2e8d4b6a',
        'message show 0199a3f2-7c4e-8d10-9b1a-5f0c2e8d4b6a --account acme-research',
      ),
    )
    .action(async (id: string, { account }: { account?: string }, command: Command) => {
      if (account !== undefined) await showAccount(account);
      const history = await messageHistory(id);
      if (history !== undefined && history.account === (account ?? history.account)) {
        printResult(command, inJson(history), inWords(history));
        return;
      }
      const scheduled = account === undefined ? undefined : await findScheduled(account, id);
      if (account === undefined || scheduled === undefined) throw new UserError(notFound(id, account));
      printResult(
        command,
        scheduledInJson({ id, account, ...scheduled }),
        scheduledInWords({ id, account, ...scheduled }),
      );
    });
};

const notFound = (id: string, account: string | undefined): string =>
  account === undefined
    ? `There is no message ${id}. Messages are kept for as long as the logs. One that is scheduled is found with --account.`
    : `The account ${account} has no message ${id}. Messages are kept for as long as the logs.`;

/** A message that is scheduled, and its account. */
type Scheduled = ScheduledMessage & { id: string; account: string };

const scheduledInJson = ({ id, account, phone, job_id, payload_type, reference, created, due: at }: Scheduled) => ({
  id,
  account,
  phone_number: phone,
  direction: 'app',
  job_id,
  payload_type,
  reference,
  states: [{ state: 'scheduled', created }],
  scheduled_for: at,
});

const scheduledInWords = ({ id, account, phone, job_id, payload_type, created, due: at }: Scheduled): string =>
  fields({
    Message: id,
    Account: account,
    Direction: 'to the user (app)',
    User: masked(phone),
    Job: job_id,
    Type: payload_type,
    Accepted: second(created),
    Scheduled: `for ${second(at)}`,
  });

/** A message in a list. `state` is its last state. */
interface Listed {
  id: string;
  account: string;
  direction: MessageHistory['direction'];
  job_id: string;
  created: string;
  state: State;
}

/** The messages of these log entries, newest first. */
const messagesIn = (log: PersonalData['log']): Listed[] =>
  [...Map.groupBy(log, ({ message_id }) => message_id).values()]
    .flatMap((entries): Listed[] => {
      const sorted = entries.toSorted((a, b) => (a.created < b.created ? -1 : 1));
      const first = sorted.find(({ state }) => state === 'sent' || state === 'received');
      const last = sorted.at(-1);
      // The first entry has expired, so "message show" does not find the message either.
      if (first === undefined || last === undefined) return [];
      const { message_id: id, account, job_id, created } = first;
      return [
        { id, account, direction: first.state === 'sent' ? 'app' : 'platform', job_id, created, state: last.state },
      ];
    })
    .sort((a, b) => (a.created > b.created ? -1 : 1));

const list = (listed: Listed[], found: Listed[]): string => {
  const table = columns(
    ['MESSAGE', 'ACCOUNT', 'DIRECTION', 'CREATED', 'LAST STATE'],
    listed.map(({ id, account, direction, created, state }) => [
      id,
      account,
      direction,
      minute(created),
      stateCell(state),
    ]),
  );
  const more = found.length - listed.length;
  return more === 0 ? table : `${table}\n\n… and ${count(more)} older; --limit shows more.`;
};

/** A state. Failures are red. */
const stateCell = (state: State): Cell => (/_failed/.test(state) ? tinted('red', state) : state);

const inJson = ({
  id,
  account,
  phone,
  job_id,
  payload_type,
  reference,
  reported,
  direction,
  states,
  waiting,
  reports,
}: MessageHistory) => ({
  id,
  account,
  phone_number: phone,
  direction,
  job_id,
  payload_type,
  reference,
  states,
  waiting: waiting && attemptsInJson(waiting),
  reported: reported ?? false,
  waiting_reports: reports && { states: reports.states, ...attemptsInJson(reports) },
});

const attemptsInJson = ({ failed, cause, next }: DeliveryAttempts) => ({
  failed_attempts: failed,
  cause,
  next_attempt: next,
});

const inWords = ({ id, account, phone, job_id, payload_type, direction, states, ...rest }: MessageHistory): string => {
  const { waiting, reference, reported, reports } = rest;
  const about = fields({
    Message: id,
    Account: account,
    Direction: direction === 'app' ? 'to the user (app)' : 'from the user (platform)',
    User: masked(phone),
    Job: job_id,
    Type: payload_type || 'unknown',
    ...(reference !== undefined && { Reference: reference }),
    Pending: waiting ? tinted('yellow', `yes, ${attemptsInWords(waiting)}`) : 'no',
    // States of users' own messages are not reported.
    ...(direction === 'app' && { Reported: reported ? 'to the platform' : 'no' }),
    ...(reports && { Unreported: `${reports.states.join(', ')}, ${attemptsInWords(reports)}` }),
  });
  const log = columns(
    ['STATE', 'REACHED', 'REASON'],
    states.map(({ state, created, reason_code, reason }) => [
      stateCell(state),
      second(created),
      // The code is often the whole reason.
      [...new Set([reason_code, reason].filter((part) => part !== undefined))].join(': '),
    ]),
  );
  return `${about}\n\n${log}`;
};

const attemptsInWords = ({ failed, cause, next }: DeliveryAttempts): string =>
  [
    `next attempt ${due(next)}`,
    ...(failed > 0 ? [`${failed} failed in a row`] : []),
    ...(cause === undefined ? [] : [`cause ${cause}`]),
  ].join(', ');
