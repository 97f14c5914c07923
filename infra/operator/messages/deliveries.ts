/** `operator deliveries …`: what the webhook of an account received and returned, and replays. */
import { type Command, Option } from 'commander';
import * as v from 'valibot';
import { HISTORY_DAYS, inDays } from '../../../shared/core/lifetimes.ts';
import { Problem } from '../../../shared/core/problems.ts';
import { type Delivery, listDeliveries, readDelivery } from '../../../shared/delivery/history/deliveries.ts';
import { type Recovered, recoverDeliveries } from '../../../shared/delivery/history/recover.ts';
import { replayDelivery } from '../../../shared/delivery/history/replay.ts';
import { deliveryStatuses } from '../../../shared/delivery/history/statuses.ts';
import { pointInTimeOrSeconds } from '../../../shared/validation/point-in-time.ts';
import { wholeNumber } from '../../../shared/validation/schemas.ts';
import { printChange } from '../history/record.ts';
import { type Cell, columns, count, fields, masked, minute, printResult, second, tinted } from '../output.ts';
import { showAccount, UserError } from '../queries/accounts-admin.ts';
import { confirm } from '../terminal/confirm.ts';
import { examples, readBy } from '../usage.ts';

/** A time as an argument: a day, a point in time, or Unix seconds. In milliseconds since 1970. */
const readTime = readBy(
  v.pipe(
    v.string(),
    v.transform((text): string | number => (/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text)),
    pointInTimeOrSeconds,
  ),
);

const TIME = 'a day (YYYY-MM-DD, UTC), a time as RFC 3339 writes it, or Unix seconds';
const ID = '019a9f5e-2c16-7e5f-a7f8-091a2b3c4d5e-0a019a9f5e2c18';

/** Attempts that are read at a time. */
const PAGE = 500;

interface Listing {
  since?: number;
  until?: number;
  status?: Delivery['status'];
  limit: number;
}

export const addDeliveryCommands = (program: Command): void => {
  const deliveries = program
    .command('deliveries')
    .description(`What the webhook of an account received and returned in the last ${inDays(HISTORY_DAYS)}.`)
    .addHelpText('after', examples('deliveries list acme-research --status failed'));

  period(deliveries.command('list'))
    .description(
      `Lists the attempts to deliver events to an account's webhook: the newest event first, and of an event the newest attempt.

Numbers are masked; --json prints them in full, with the responses.`,
    )
    .argument('<account>', "the account's id")
    .addOption(new Option('--status <status>', 'only attempts with this status').choices(deliveryStatuses))
    .addOption(
      new Option('--limit <n>', 'maximum number of attempts').argParser(readBy(wholeNumber(1, 10_000))).default(20),
    )
    .addHelpText(
      'after',
      examples('deliveries list acme-research', 'deliveries list acme-research --status failed --since 2027-01-31'),
    )
    .action(async (account: string, listing: Listing, command: Command) => {
      await showAccount(account);
      const { found, more } = await listed(account, listing);
      printResult(command, found, listInWords(found, more));
    });

  deliveries
    .command('show')
    .description('Shows an attempt with the beginning of the response.')
    .argument('<account>', "the account's id")
    .argument('<id>', "the attempt's id")
    .addHelpText('after', examples(`deliveries show acme-research ${ID}`))
    .action(async (account: string, id: string, _options: object, command: Command) => {
      await showAccount(account);
      const delivery = await orRefuse(readDelivery(account, id));
      printResult(command, delivery, showInWords(delivery));
    });

  period(deliveries.command('replay'))
    .description(
      `Sends the event of an attempt to the webhook again. With --since instead of an attempt, sends all events again that were accepted since then and have failed permanently; the command asks before.

An event keeps its id, so that the webhook can recognise it. It follows the pending events of its user. What is pending is not added again.`,
    )
    .argument('<account>', "the account's id")
    .argument('[id]', "an attempt's id")
    .addHelpText(
      'after',
      examples(`deliveries replay acme-research ${ID}`, 'deliveries replay acme-research --since 2027-01-31T08:00:00Z'),
    )
    .action(async (account: string, id: string | undefined, { since, until }: Partial<Listing>, command: Command) => {
      if ((id === undefined) === (since === undefined))
        command.error('error: choose what to send again: the id of an attempt, or --since');
      if (since === undefined && until !== undefined) command.error('error: --until needs --since');
      await showAccount(account);
      if (id !== undefined) {
        const replay = await orRefuse(replayDelivery(account, id));
        const words = replay.status === 'queued' ? 'is sent again' : 'is pending already: nothing was added';
        printChange(command, replay, `Event ${replay.event_id} ${words}.`);
        return;
      }
      if (since === undefined) return;
      const consequence = `Sends all events to the webhook of "${account}" again that were accepted since ${second(timeOf(since))} and have failed permanently.`;
      await confirm(command, consequence);
      const recovered = await recoverAll(account, { since, until });
      printChange(command, recovered, recoveredInWords(recovered));
    });
};

const period = (command: Command): Command =>
  command
    .option('--since <time>', `only events that were accepted then or later: ${TIME}`, readTime)
    .option('--until <time>', 'only events that were accepted before then', readTime);

const timeOf = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** Reads page after page, up to the limit. */
const listed = async (account: string, { since, until, status, limit }: Listing) => {
  const filter = { status, start: since && since / 1_000, end: until && until / 1_000 };
  const found: Delivery[] = [];
  let after: string | undefined;
  do {
    const { deliveries, next } = await listDeliveries(account, filter, Math.min(limit - found.length, PAGE), after);
    found.push(...deliveries);
    after = next;
  } while (after !== undefined && found.length < limit);
  return { found, more: after !== undefined };
};

const recoverAll = async (account: string, range: { since: number; until: number | undefined }): Promise<Recovered> => {
  const total: Recovered = { queued: 0, pending: 0 };
  let after: string | undefined;
  do {
    const { recovered, next } = await orRefuse(recoverDeliveries(account, range, after));
    for (const name of ['queued', 'pending'] as const) total[name] += recovered[name];
    after = next;
  } while (after !== undefined);
  return total;
};

/** @throws UserError — with the detail of a problem */
const orRefuse = async <Result>(work: Promise<Result>): Promise<Result> => {
  try {
    return await work;
  } catch (error) {
    throw error instanceof Problem ? new UserError(error.detail) : error;
  }
};

const resultOf = ({ status, status_code, error = '' }: Delivery): Cell =>
  tinted(status === 'succeeded' ? 'green' : 'red', String(status_code ?? error));

const listInWords = (found: Delivery[], more: boolean): string => {
  if (found.length === 0)
    return `There are no attempts. They are kept for ${inDays(HISTORY_DAYS)}, for accounts with a webhook.`;
  const table = columns(
    ['ID', 'STARTED', 'EVENT', 'USER', 'ATTEMPT', 'RESULT', 'MS', 'NEXT ATTEMPT'],
    found.map((delivery) => [
      delivery.id,
      second(delivery.started),
      delivery.type,
      masked(delivery.phone),
      count(delivery.attempt),
      resultOf(delivery),
      delivery.duration_ms === undefined ? '' : count(delivery.duration_ms),
      delivery.next_attempt === undefined ? '' : minute(delivery.next_attempt),
    ]),
    ['ATTEMPT', 'MS'],
  );
  return more ? `${table}\n\nThere are more. --limit shows them.` : table;
};

const showInWords = (delivery: Delivery): string => {
  const about = fields({
    Attempt: delivery.id,
    'Event (webhook-id)': delivery.event_id,
    Type: delivery.type,
    User: masked(delivery.phone),
    Message: delivery.message_id,
    URL: delivery.url,
    Number: count(delivery.attempt),
    Started: second(delivery.started),
    Duration: delivery.duration_ms === undefined ? undefined : `${count(delivery.duration_ms)} ms`,
    Result: resultOf(delivery),
    'Next attempt': delivery.next_attempt && minute(delivery.next_attempt),
  });
  return delivery.response === undefined ? about : `${about}\n\nResponse:\n${withoutControls(delivery.response)}`;
};

/** The text of a server may contain codes that control the terminal. */
const withoutControls = (text: string): string => text.replaceAll(/[^\P{C}\n\t]/gu, '\u{fffd}');

const recoveredInWords = ({ queued, pending }: Recovered): string => {
  if (queued + pending === 0) return 'No event of this period has failed permanently.';
  return `Sent again: ${count(queued)}. Pending already: ${count(pending)}.`;
};
