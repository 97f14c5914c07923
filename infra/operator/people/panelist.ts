/** `operator panelist …`: the users who take part in research. */
import { open } from 'node:fs/promises';
import { getSystemErrorMessage } from 'node:util';
import type { Command } from 'commander';
import { count, printNote, printResult } from '../output.ts';
import { progressBar } from '../progress.ts';
import { Refusal } from '../queries/accounts-admin.ts';
import { registerUser } from '../queries/users-admin.ts';
import { examples } from '../usage.ts';
import { type BadRow, type PanelistFile, readPanelistFile } from './panelist-file.ts';

/** Concurrent writes: enough to use the network, and a small load for the table. */
const CONCURRENCY = 32;

/** Bad rows that are printed; JSON contains all of them. */
const MAX_PRINTED = 20;

export const addPanelistCommands = (program: Command): void => {
  const panelist = program
    .command('panelist')
    .description('Users of the mobile app who take part in research.')
    .addHelpText('after', examples('panelist import panelists.csv'));

  panelist
    .command('import')
    .description(
      `Registers the phone numbers of a CSV file as panelists. Its first row names a column "phone_number", or the first column contains the numbers, without such a row. Other columns are ignored.

The command skips bad rows and prints their lines; the exit code is then 1. Repeating an import changes nothing.`,
    )
    .argument('<file.csv>', 'UTF-8, commas between columns')
    .addHelpText('after', examples('panelist import panelists.csv'))
    .action(async (path: string, _options: object, command: Command) => {
      const { numbers, duplicates, bad } = await readFile(path);
      printBadRows(bad);
      const { imported, unchanged } = await importAll(numbers, command);
      printResult(
        command,
        { imported, unchanged, duplicates, skipped: bad },
        `${count(imported)} imported, ${count(unchanged)} unchanged, ${count(duplicates)} twice in the file, ${count(bad.length)} skipped.`,
      );
      if (bad.length > 0) process.exitCode = 1;
    });
};

const readFile = async (path: string): Promise<PanelistFile> => {
  try {
    await using file = await open(path);
    return await readPanelistFile(file.readLines());
  } catch (error) {
    if (!(error instanceof Error) || !('errno' in error) || typeof error.errno !== 'number') throw error;
    throw new Refusal(`The file ${path} cannot be read: ${getSystemErrorMessage(error.errno)}.`);
  }
};

const printBadRows = (bad: BadRow[]): void => {
  for (const { line, reason } of bad.slice(0, MAX_PRINTED)) printNote(`line ${line} is skipped: it ${reason}`);
  if (bad.length > MAX_PRINTED) printNote(`… and ${count(bad.length - MAX_PRINTED)} more rows; --json lists them all`);
};

const importAll = async (numbers: Set<string>, command: Command): Promise<{ imported: number; unchanged: number }> => {
  const bar = progressBar(command, '{value} of {total} panelists, {eta_formatted} left');
  bar.start(numbers.size, 0);
  let imported = 0;
  let done = 0;
  try {
    await forEachConcurrently(numbers, async (phone_number) => {
      if (await registerUser({ phone_number, panelist: true })) imported += 1;
      done += 1;
      bar.update(done);
    });
  } finally {
    bar.stop();
    if (done < numbers.size) printNote(`Stopped after ${count(done)} of ${count(numbers.size)}; it is safe to repeat.`);
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
