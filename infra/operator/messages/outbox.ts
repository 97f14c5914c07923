/** `operator outbox …`: pending messages, and retries. */
import { type Command, Option } from 'commander';
import { now, sortableTime } from '../../../shared/core/clock.ts';
import { inDays, RETRY_DAYS } from '../../../shared/core/lifetimes.ts';
import { circuitNamesOf } from '../../../shared/destinations/destination.ts';
import { directions } from '../../../shared/outbox/event.ts';
import { printChange } from '../history/record.ts';
import { columns, count, due, masked, minute, printResult, tinted } from '../output.ts';
import { showAccount } from '../queries/accounts-admin.ts';
import {
  findOpenCircuit,
  type OpenCircuit,
  type PendingConversation,
  pendingConversations,
  retryConversations,
  type Selection,
} from '../queries/outbox-inspection.ts';
import { confirm } from '../terminal/confirm.ts';
import { examples, readPhoneNumber } from '../usage.ts';

export const addOutboxCommands = (program: Command): void => {
  const outbox = program
    .command('outbox')
    .description('Pending messages to users and to chat platforms, and notifications that consent has ended.')
    .addHelpText('after', examples('outbox list'));

  selecting(outbox.command('list'))
    .description(
      `Lists conversations with pending messages, the oldest first, and the destinations whose circuit is open.

Numbers are masked; --json prints them in full.`,
    )
    .addHelpText('after', examples('outbox list', 'outbox list --account acme-research --direction platform'))
    .action(async (selection: Selection, command: Command) => {
      await requireAccount(selection);
      const conversations = await pendingConversations(selection);
      const destinations = [...new Set(conversations.flatMap(circuitNamesOf))];
      const circuits = (await Promise.all(destinations.map(findOpenCircuit))).filter(
        (circuit) => circuit !== undefined,
      );
      printResult(command, { conversations: conversations.map(inJson), circuits }, inWords(conversations, circuits));
    });

  selecting(outbox.command('retry'))
    .option('--all', 'all pending messages')
    .description(
      `Retries pending messages within a minute, and closes the circuits of their destinations. A message that has been pending for more than ${inDays(RETRY_DAYS)} fails permanently if this attempt fails too. With --all, the command asks before.`,
    )
    .addHelpText(
      'after',
      examples('outbox retry --account acme-research', 'outbox retry --direction app', 'outbox retry --all'),
    )
    .action(async ({ all, yes: _yes, ...selection }: Selection & { all?: true; yes?: true }, command: Command) => {
      const selects = Object.keys(selection).length > 0;
      if (!all && !selects) command.error('error: choose what to retry: --account, --direction, --phone, or --all');
      if (all && selects) command.error('error: --all and other filters exclude each other');
      await requireAccount(selection);
      if (all) {
        const consequence = `Retries the pending messages of all accounts now. Those that have been pending for ${inDays(RETRY_DAYS)} fail permanently if this attempt fails.`;
        await confirm(command, consequence);
      }
      const retried = await retryConversations(selection);
      const words = retried === 1 ? '1 conversation is' : `${count(retried)} conversations are`;
      printChange(
        command,
        { retried },
        retried === 0 ? 'No pending messages match.' : `${words} retried within a minute.`,
      );
    });
};

const selecting = (command: Command): Command =>
  command
    .option('--account <id>', "only this account's messages")
    .addOption(
      new Option(
        '--direction <direction>',
        'app: only messages to users; platform: only to chat platforms; consent: only ends of consent',
      ).choices(directions),
    )
    .option('--phone <number>', "only this user's messages, 7 to 15 digits without +", readPhoneNumber);

/** A mistyped account is an error, not an empty list. */
const requireAccount = async ({ account }: Selection): Promise<void> => {
  if (account !== undefined) await showAccount(account);
};

const inJson = ({ direction, account, phone, since, failed, cause, next, entries, more }: PendingConversation) => ({
  direction,
  account,
  phone_number: phone,
  since,
  failed_attempts: failed,
  cause,
  next_attempt: next,
  waiting: entries,
  more_waiting: more,
});

const inWords = (conversations: PendingConversation[], circuits: OpenCircuit[]): string => {
  if (conversations.length === 0) return 'No messages are pending.';
  const table = columns(
    ['DIRECTION', 'ACCOUNT', 'USER', 'SINCE', 'FAILED', 'CAUSE', 'NEXT ATTEMPT', 'PENDING'],
    conversations.map(({ direction, account, phone, since, failed, cause, next, entries, more }) => [
      direction,
      account,
      masked(phone),
      minute(since),
      count(failed),
      cause === undefined ? '' : tinted('red', cause),
      due(next),
      `${entries}${more ? '+' : ''}`,
    ]),
    ['FAILED', 'PENDING'],
  );
  return [table, ...(circuits.length === 0 ? [] : [circuitTable(circuits)]), totals(conversations)].join('\n\n');
};

/** The open circuits, with the time at which each half-opens. */
export const circuitTable = (circuits: OpenCircuit[]): string =>
  columns(
    ['OPEN CIRCUIT', 'UNTIL', 'FAILED'],
    circuits.map((circuit) => [circuit.destination, endOf(circuit), count(circuit.failures)]),
    ['FAILED'],
  );

/** When the circuit half-opens, and a destination is probed. */
export const endOf = ({ open_until }: OpenCircuit): string =>
  due(open_until > sortableTime(now()) ? open_until : undefined);

/** `2 pending conversations: app 1, platform 1. Causes: status_500 1, in progress 1.` */
const totals = (conversations: PendingConversation[]): string => {
  const directions = sums(conversations.map(({ direction }) => direction));
  const causes = sums(conversations.map(({ cause = 'in progress' }) => cause));
  const words =
    conversations.length === 1 ? '1 pending conversation' : `${count(conversations.length)} pending conversations`;
  return `${words}: ${directions}. Causes: ${causes}.`;
};

const sums = (words: string[]): string =>
  [...Map.groupBy(words, (word) => word)]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([word, all]) => `${word} ${count(all.length)}`)
    .join(', ');
