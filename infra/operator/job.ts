/** `operator job …`: the counters of jobs. */
import { type Command, Option } from 'commander';
import { showAccount } from '../../shared/accounts.ts';
import { now, sortableTime } from '../../shared/clock.ts';
import { recountJobs } from '../../shared/jobs.ts';
import { calendarDay, wholeNumber } from '../../shared/text.ts';
import { answer, count, day } from './output.ts';
import { examples, readBy } from './usage.ts';

const DAY = 86_400_000;

interface Period {
  from?: string;
  to?: string;
  retention: number;
}

export const addJobCommands = (program: Command): void => {
  const job = program.command('job').description('Jobs: how many of their messages reached which state.');

  job
    .command('recount')
    .description(
      `Counts log entries that the counters of an account's jobs lack: where the alarm of given up batches was raised, they may. Each entry is counted once, however often this is done.

Both days are included (UTC). Without them, the last seven days are recounted.`,
    )
    .argument('<account>', "the account's id")
    .option('--from <day>', 'the first day, YYYY-MM-DD (default: six days before the last)', readBy(calendarDay))
    .option('--to <day>', 'the last day, YYYY-MM-DD (default: today)', readBy(calendarDay))
    .addOption(
      new Option('--retention <days>', 'how long a new counter is kept: the setting counterRetention of the stack')
        .env('COUNTER_RETENTION')
        .argParser(readBy(wholeNumber(30, 100_000)))
        .default(400),
    )
    .addHelpText(
      'after',
      examples('job recount acme-research', 'job recount acme-research --from 2027-01-01 --to 2027-01-31'),
    )
    .action(async (account: string, { from, to = day(sortableTime(now())), retention }: Period, command: Command) => {
      const first = from ?? day(sortableTime(Date.parse(to) - 6 * DAY));
      if (first > to) command.error('error: the first day is after the last one');
      process.env.COUNTER_RETENTION = String(retention);
      await showAccount(account);
      const { entries, counted } = await recountJobs(account, first, to);
      answer(
        command,
        { from: first, to, entries, counted },
        `${first} to ${to}: ${count(entries)} log entries; missing in the counters, and counted now: ${count(counted)}.`,
      );
    });
};
