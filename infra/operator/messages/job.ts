/** `operator job …`: the counters of jobs. */
import { type Command, Option } from 'commander';
import { states } from '../../../shared/messaging/message.ts';
import { wholeNumber } from '../../../shared/validation/schemas.ts';
import { count, printResult } from '../output.ts';
import { addPeriodOptions, type Given, periodIn } from '../period.ts';
import { progressBar } from '../progress.ts';
import { showAccount } from '../queries/accounts-admin.ts';
import { recountJobs } from '../queries/job-recount.ts';
import { examples, readBy } from '../usage.ts';

export const addJobCommands = (program: Command): void => {
  const job = program
    .command('job')
    .description('Jobs: message counts by state.')
    .addHelpText('after', examples('job recount acme-research'));

  const recount = job
    .command('recount')
    .description(
      `Adds log entries that are missing in the counters of an account's jobs, for example after the alarm FailedBatches. Each entry is counted once, so repeating the command changes nothing.

Both days are included (UTC). Without them, the last seven days are recounted.`,
    )
    .argument('<account>', "the account's id");
  addPeriodOptions(recount)
    .addOption(
      new Option('--retention <days>', 'retention of a new counter: the setting counterRetention of the stack')
        .env('COUNTER_RETENTION')
        .argParser(readBy(wholeNumber(30, 100_000)))
        .default(400),
    )
    .addHelpText(
      'after',
      examples('job recount acme-research', 'job recount acme-research --from 2027-01-01 --to 2027-01-31'),
    )
    .action(async (account: string, { retention, ...given }: Given & { retention: number }, command: Command) => {
      const { from, to } = periodIn(command, given);
      process.env.COUNTER_RETENTION = String(retention);
      await showAccount(account);
      const { entries, counted } = await recountWithBar(account, { from, to }, command);
      printResult(
        command,
        { from, to, entries, counted },
        `${from} to ${to}: ${count(entries)} log entries. Missing counts added: ${count(counted)}.`,
      );
    });
};

const recountWithBar = async (account: string, { from, to }: { from: string; to: string }, command: Command) => {
  const bar = progressBar(command, '{value} of {total} states, {entries} log entries');
  bar.start(states.length, 0, { entries: 0 });
  try {
    return await recountJobs(account, from, to, (done, entries) => bar.update(done, { entries: count(entries) }));
  } finally {
    bar.stop();
  }
};
