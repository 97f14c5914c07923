/** `operator panelist …`: the users who take part in research. */
import type { Command } from 'commander';
import { printChange } from '../history/record.ts';
import { count, printNote } from '../output.ts';
import { progressBar } from '../progress.ts';
import { registerUser } from '../queries/users-admin.ts';
import { Interrupted } from '../terminal/exit-codes.ts';
import { watchSignals } from '../terminal/signals.ts';
import { examples } from '../usage.ts';
import { type BadRow, readPanelistFile } from './panelist-file.ts';
import { writeRejectedRows } from './rejected-file.ts';
import { readTextFile } from './text-file.ts';

/** Concurrent writes: enough to use the network, and a small load for the table. */
const CONCURRENCY = 32;

/** Bad rows that are printed; the file of rejected rows contains all of them. */
const MAX_PRINTED = 20;

export const addPanelistCommands = (program: Command): void => {
  const panelist = program
    .command('panelist')
    .description('Users of the mobile app who take part in research.')
    .addHelpText('after', examples('panelist import panelists.csv'));

  panelist
    .command('import')
    .description(
      `Registers the phone numbers of a CSV file as panelists. Its first row names the column, for example "phone_number", "Phone" or "Mobile number". Without such a row, the first column contains the numbers. Other columns are ignored.

Columns are separated by commas, semicolons or tabs. The text is UTF-8, or UTF-16 with a byte order mark.

Rejected rows are printed with masked values, and written to FILE-rejected.csv with the reasons. Correct that file and import it; the exit code is 1. Repeating an import changes nothing, so it is safe after Ctrl-C.`,
    )
    .argument('<file.csv>', 'the file; - is standard input')
    .option('--column <name>', 'the column of the phone numbers, if several may be meant')
    .addHelpText(
      'after',
      examples('panelist import panelists.csv', 'panelist import panelists.csv --column "Work phone"'),
    )
    .action(async (path: string, { column }: { column?: string }, command: Command) => {
      const file = await readTextFile(path);
      const { numbers, duplicates, bad, header } = readPanelistFile(file.lines, column);
      const rejected = bad.length === 0 ? undefined : await writeRejectedRows(path, { header, bad }, file);
      printBadRows(bad, rejected);
      const { imported, unchanged } = await importAll(numbers, command);
      printChange(
        command,
        {
          imported,
          unchanged,
          duplicates,
          skipped: bad.map(({ line, reason, value }) => ({ line, reason, value })),
          ...(rejected !== undefined && { rejected_file: rejected }),
        },
        `${count(imported)} imported, ${count(unchanged)} unchanged, ${count(duplicates)} twice in the file, ${count(bad.length)} skipped.`,
      );
      if (bad.length > 0) process.exitCode = 1;
    });
};

const printBadRows = (bad: BadRow[], rejected: string | undefined): void => {
  for (const { line, reason, value } of bad.slice(0, MAX_PRINTED)) {
    printNote(`line ${line} is skipped: it ${reason}${value === '' ? '' : `, not ${value}`}`);
  }
  if (bad.length > MAX_PRINTED) printNote(`… and ${count(bad.length - MAX_PRINTED)} more rows`);
  if (rejected !== undefined) {
    printNote(`The skipped rows are in ${rejected}, with the reasons. Correct it, import it, and delete it.`);
  }
};

/** @throws Interrupted — after Ctrl-C or SIGTERM, when the writes under way have ended */
const importAll = async (numbers: Set<string>, command: Command): Promise<{ imported: number; unchanged: number }> => {
  const bar = progressBar(command, '{value} of {total} panelists, {eta_formatted} left');
  const signals = watchSignals();
  bar.start(numbers.size, 0);
  let imported = 0;
  let done = 0;
  const progress = () => `after ${count(done)} of ${count(numbers.size)}; it is safe to repeat`;
  try {
    await forEachConcurrently(numbers, async (phone_number) => {
      if (signals.received !== undefined) return;
      if (await registerUser({ phone_number, panelist: true })) imported += 1;
      done += 1;
      bar.update(done);
    });
  } catch (error) {
    bar.stop();
    printNote(`Stopped ${progress()}.`);
    throw error;
  } finally {
    bar.stop();
    signals.stop();
  }
  if (done < numbers.size) {
    throw new Interrupted(`Interrupted ${progress()}: ${count(imported)} were imported.`, signals.received);
  }
  return { imported, unchanged: done - imported };
};

/** Processes all items, `CONCURRENCY` at a time. After a failure, no further item is started. */
const forEachConcurrently = async <Item>(items: Iterable<Item>, work: (item: Item) => Promise<void>): Promise<void> => {
  const left = sharedIterator(items);
  const worker = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
};

/**
 * An iterator that several loops share: each item goes to one of them. A loop that throws ends the iterator for all.
 */
function* sharedIterator<Item>(items: Iterable<Item>): Generator<Item> {
  yield* items;
}
