/** `operator job …`: jobs, and their counters. */
import { type Command, Option } from 'commander';
import { inDays } from '../../../shared/core/lifetimes.ts';
import { Problem } from '../../../shared/core/problems.ts';
import { cancelJob } from '../../../shared/messaging/jobs/cancel.ts';
import { type State, states } from '../../../shared/outbox/message.ts';
import type { JobStatus } from '../../../shared/stats/job-status.ts';
import { uuid, wholeNumber } from '../../../shared/validation/schemas.ts';
import { printChange } from '../history/record.ts';
import { bar, type Cell, columns, count, fields, minute, printResult, second, share, tinted } from '../output.ts';
import { addDaysOption, addPeriodOptions, DEFAULT_DAYS, type Given, periodIn } from '../period.ts';
import { progressBar } from '../progress.ts';
import { showAccount, UserError } from '../queries/accounts-admin.ts';
import { recountJobs } from '../queries/job-recount.ts';
import { type JobWithReasons, jobsOf, showJob } from '../queries/jobs-admin.ts';
import { confirm } from '../terminal/confirm.ts';
import { examples, readBy } from '../usage.ts';

export const addJobCommands = (program: Command): void => {
  const job = program
    .command('job')
    .description('Jobs: the messages that are counted together, by state.')
    .addHelpText('after', examples('job list acme-research', 'job recount acme-research'));

  addDaysOption(addPeriodOptions(job.command('list')))
    .description(
      `Lists the jobs of an account, the one with the latest activity first: their status, and how many messages reached each state in all.

Only jobs with activity in the period are listed, in UTC; without one, in the last ${inDays(DEFAULT_DAYS)}. Messages that name no job share one for each day.`,
    )
    .argument('<account>', "the account's id")
    .addOption(new Option('--limit <n>', 'maximum number of jobs').argParser(readBy(wholeNumber(1, 1_000))).default(20))
    .addHelpText('after', examples('job list acme-research', 'job list acme-research --days 30'))
    .action(async (account: string, { limit, ...given }: Given & { limit: number }, command: Command) => {
      const period = periodIn(command, given);
      await showAccount(account);
      const { jobs, all } = await jobsOf(account, { ...period, limit });
      printResult(command, jobs, jobs.length === 0 ? 'There are no jobs in this period.' : listInWords(jobs, all));
    });

  job
    .command('show')
    .description('Shows a job: its status, how many of its messages reached each state, and why messages failed.')
    .argument('<account>', "the account's id")
    .argument('<job>', "the job's id", readBy(uuid))
    .addHelpText('after', examples('job show acme-research 0199a3f2-7c4e-7d10-9b1a-5f0c2e8d4b6a'))
    .action(async (account: string, id: string, _options: object, command: Command) => {
      await showAccount(account);
      const shown = await showJob(account, id);
      printResult(command, shown, showInWords(shown));
    });

  job
    .command('cancel')
    .description(
      'Stops the pending messages of a job permanently, after a question. From one second later, no attempt begins; within two minutes, the messages are logged as failed, with the reason "cancelled".',
    )
    .argument('<account>', "the account's id")
    .argument('<job>', "the job's id", readBy(uuid))
    .addHelpText('after', examples('job cancel acme-research 0199a3f2-7c4e-7d10-9b1a-5f0c2e8d4b6a --yes'))
    .action(async (account: string, id: string, _options: object, command: Command) => {
      // Longer than any retention: it also recognises the jobs of old days.
      process.env.MESSAGE_RETENTION = '400';
      await showAccount(account);
      const { pending, recipients, status } = await showJob(account, id);
      const people = `${count(pending)} of ${count(recipients)} messages`;
      if (status !== 'cancelled') await confirm(command, `${people} are pending. They are stopped permanently.`);
      await cancelOrRefuse(account, id);
      printChange(command, { job_id: id, pending }, `The job is cancelled. ${people} were pending.`);
    });

  const recount = job
    .command('recount')
    .description(
      `Adds log entries that are missing in the counters of an account's jobs, for example after the alarm DeadLetters. Each entry is counted once, so repeating the command changes nothing.

Both days are included (UTC). Without them, the last ${inDays(DEFAULT_DAYS)} are recounted.`,
    )
    .argument('<account>', "the account's id");
  addPeriodOptions(recount)
    .addOption(
      new Option(
        '--retention <days>',
        'retention of a new counter: the setting counterRetention of the stack (default: with --stack the value of the stack, else 400)',
      )
        .env('COUNTER_RETENTION')
        .argParser(readBy(wholeNumber(30, 100_000))),
    )
    .addHelpText(
      'after',
      examples('job recount acme-research', 'job recount acme-research --from 2027-01-01 --to 2027-01-31'),
    )
    .action(async (account: string, { retention, ...given }: Given & { retention?: number }, command: Command) => {
      const { from, to } = periodIn(command, given);
      if (retention !== undefined) process.env.COUNTER_RETENTION = String(retention);
      await showAccount(account);
      const { entries, counted } = await recountWithBar(account, { from, to }, command);
      printChange(
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

/** @throws UserError — the job cannot be cancelled */
const cancelOrRefuse = async (account: string, id: string): Promise<void> => {
  try {
    await cancelJob(account, id);
  } catch (error) {
    throw error instanceof Problem && error.code === 'job_not_cancellable' ? new UserError(error.detail) : error;
  }
};

const COLOURS = { scheduled: 'cyan', running: 'cyan', completed: 'green', cancelled: 'red' } as const;

const statusCell = ({ status }: JobStatus): Cell => tinted(COLOURS[status], status);

/** The states of messages to users that are listed. */
const LISTED: State[] = ['sent', 'delivered_to_server', 'delivered_to_user', 'read'];

const failedIn = ({ states: { sending_failed = 0, delivery_failed = 0, reception_failed_http = 0 } }: JobStatus) =>
  sending_failed + delivery_failed + reception_failed_http;

const listInWords = (jobs: JobStatus[], all: number): string => {
  const table = columns(
    ['JOB', 'STATUS', 'SINCE', 'MESSAGES', 'SENT', 'DELIVERED', 'ON PHONES', 'READ', 'FAILED'],
    jobs.map((job) => [
      job.job_id,
      statusCell(job),
      minute(job.created),
      count(job.recipients),
      ...LISTED.map((state) => count(job.states[state] ?? 0)),
      failedIn(job) === 0 ? '0' : tinted('red', count(failedIn(job))),
    ]),
    ['MESSAGES', 'SENT', 'DELIVERED', 'ON PHONES', 'READ', 'FAILED'],
  );
  return all > jobs.length ? `${table}\n\n${count(jobs.length)} of ${count(all)} jobs. --limit shows more.` : table;
};

/** Width of the longest bar. */
const WIDE = 24;

const showInWords = (job: JobWithReasons): string => {
  const about = fields({
    Job: job.job_id,
    Status: statusCell(job),
    Since: second(job.created),
    Cancelled: job.cancelled && second(job.cancelled),
    Messages: count(job.recipients),
    Pending: count(job.pending),
    Pace: job.pace === undefined ? undefined : `${count(job.pace)} per second`,
    'Estimated end': job.estimated_end && second(job.estimated_end),
    'Waits until': job.waits_until && second(job.waits_until),
  });
  const reached = states.filter((state) => job.states[state] !== undefined);
  const max = Math.max(1, ...reached.map((state) => job.states[state] ?? 0));
  const funnel = columns(
    ['STATE', '', 'MESSAGES', 'SHARE'],
    reached.map((state) => {
      const reachedBy = job.states[state] ?? 0;
      const colour = state.includes('failed') ? 'red' : 'cyan';
      return [state, tinted(colour, bar(reachedBy, max, WIDE)), count(reachedBy), share(reachedBy, job.recipients)];
    }),
    ['MESSAGES'],
  );
  const reasons = Object.entries(job.reasons);
  const failures = columns(
    ['REASON', 'MESSAGES'],
    reasons.map(([reason, messages]) => [reason, count(messages)]),
    ['MESSAGES'],
  );
  return [about, ...(reached.length > 0 ? [funnel] : []), ...(reasons.length > 0 ? [failures] : [])].join('\n\n');
};
