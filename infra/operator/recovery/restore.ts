/** `operator restore`: brings missing items back from a table that AWS has restored. */

import { type Command, Option } from 'commander';
import { DELETION_MEMORY_DAYS, inDays } from '../../../shared/core/lifetimes.ts';
import { removalKey } from '../../../shared/users/entities.ts';
import { pointInTime } from '../../../shared/validation/point-in-time.ts';
import { noteChanges } from '../history/record.ts';
import { type Cell, columns, count, printNote, printResult, tinted } from '../output.ts';
import { progressBar } from '../progress.ts';
import { UserError } from '../queries/accounts-admin.ts';
import { confirm } from '../terminal/confirm.ts';
import { examples, readBy } from '../usage.ts';
import type { Progress } from './checkpoint.ts';
import type { Selection } from './judge.ts';
import { type Mode, openCheckpoint, run } from './run.ts';
import { openSource, profilersOfAccount, requireAccountIn } from './tables.ts';

interface Options extends Partial<Omit<Selection, 'profilers'>> {
  from: string;
  taken?: string;
  dryRun?: true;
  clean?: true;
}

export const addRestoreCommand = (program: Command): void => {
  const selecting = ['account', 'since', 'tokens'];
  program
    .command('restore')
    .description(
      `Brings items back from a restored table. An item is copied only if the live table has none with its key: nothing is overwritten. What was deleted, erased or revoked in the last ${inDays(DELETION_MEMORY_DAYS)} does not come back.

The command leaves out tokens and outbox entries, unless an option asks for them. If it is interrupted, repeat it: it continues after the last page. Repeating a complete restore changes nothing. With --tokens, --outbox or --clean, the command asks before.`,
    )
    .requiredOption('--from <table>', 'the restored table, in the AWS account and region of the live one')
    .option('--account <id>', 'only items of one customer')
    .option('--since <time>', 'only items that were created or changed then or later (RFC 3339)', readBy(pointInTime))
    .option('--tokens', 'also tokens that were not revoked')
    .option('--outbox', 'also outbox entries, which are delivered again unless the log shows their delivery')
    .option('--dry-run', 'only count: change nothing')
    .addOption(
      new Option(
        '--clean',
        'before the stack adopts the restored table: remove from it what was deleted or delivered since',
      ).conflicts(selecting),
    )
    .option(
      '--taken <time>',
      'when the data of the restored table was current (default: what AWS reports)',
      readBy(pointInTime),
    )
    .addHelpText(
      'after',
      examples(
        'restore --from TABLE-restored --dry-run',
        'restore --from TABLE-restored --account acme-research',
        'restore --from TABLE-restored --since 2027-01-31T12:00:00Z',
        'restore --from TABLE-restored --clean',
      ),
    )
    .action(restore);
};

const restore = async (options: Options, command: Command): Promise<void> => {
  const { from, account, since, tokens = false, outbox = false, taken, dryRun, clean } = options;
  // Without the secret of hashes, no marker of a removed user would be found: fail before anything is changed.
  removalKey('');
  const source = await openSource(from, taken);
  if (clean && !source.isRestored) {
    throw new UserError(`AWS does not report that "${from}" is a restored table. If it is one, add --taken.`);
  }
  if (account !== undefined) await requireAccountIn(from, account);
  const profilers = account === undefined ? new Set<string>() : await profilersOfAccount(from, account);
  const selection: Selection = { account, profilers, since, tokens, outbox };
  const mode: Mode = clean ? (dryRun ? 'clean-dry-run' : 'clean') : dryRun ? 'dry-run' : 'restore';
  const consequences = dryRun ? [] : consequencesOf(options);
  if (consequences.length > 0) await confirm(command, consequences.join(' '));
  const checkpoint = openCheckpoint(from, mode, selection);
  if (checkpoint.isContinued) printNote(`Continues an interrupted restore. Its position is in ${checkpoint.path}.`);

  const bar = progressBar(command, '{value} of about {total} items, {eta_formatted} left');
  bar.start(source.items, 0);
  try {
    const onProgress = (read: number) => bar.update(read);
    await run({ source, selection, mode, checkpoint, onProgress });
  } finally {
    bar.stop();
  }
  report(command, options, checkpoint.progress.counts);
};

/** What a restore does that cannot be undone, in sentences. */
const consequencesOf = ({ from, tokens, outbox, clean }: Options): string[] => [
  ...(clean ? [`Removes items from "${from}" permanently.`] : []),
  ...(clean || !tokens ? [] : ['Tokens of the restored table work again, unless they were revoked.']),
  ...(clean || !outbox ? [] : ['Pending messages of the restored table are sent again.']),
];

const report = (command: Command, { from, dryRun, clean }: Options, counts: Progress['counts']): void => {
  const totals: Record<string, number> = {};
  for (const kind of Object.values(counts)) {
    for (const [result, number] of Object.entries(kind)) totals[result] = (totals[result] ?? 0) + number;
  }
  const { uncounted = 0, unknown = 0 } = totals;
  const results = Object.entries(totals).map(([result, number]) => `${result}: ${count(number)}`);
  noteChanges(`Items of "${from}"${dryRun ? ', without a change' : ''}: ${results.join(', ') || 'none'}.`);
  printResult(command, { from, dry_run: dryRun === true, totals, kinds: counts }, table(counts, totals));
  if (dryRun) printNote('Nothing was changed (--dry-run).');
  if (uncounted > 0) {
    printNote(`${count(uncounted)} log entries were not in the job counters yet when the table was restored to.`);
  }
  if (unknown > 0) {
    printNote(`${count(unknown)} items are of a kind that this version does not know. They were left out.`);
    process.exitCode = 1;
  }
  if (clean && !dryRun) printNote(`"${from}" contains nothing that was deleted since. The stack can adopt it.`);
};

/** Results in the order of the columns. */
const RESULTS = [
  'restored',
  'kept',
  'changed',
  'exists',
  'deleted',
  'delivered',
  'expired',
  'not_selected',
  'without_time',
  'unknown',
];

const table = (counts: Progress['counts'], totals: Record<string, number>): string => {
  const results = RESULTS.filter((result) => totals[result] !== undefined);
  const headings = results.map((result) => result.toUpperCase().replace('_', ' '));
  const row = (name: Cell, numbers: Record<string, number>): Cell[] => [
    name,
    ...results.map((result) => (numbers[result] === undefined ? '' : count(numbers[result]))),
  ];
  const kinds = Object.entries(counts).sort(([one], [other]) => (one < other ? -1 : 1));
  return columns(
    ['KIND', ...headings],
    [...kinds.map(([name, numbers]) => row(name, numbers)), row(tinted('cyan', 'total'), totals)],
    headings,
  );
};
