/** `operator panelist …`: the users who take part in research. */
import { open } from 'node:fs/promises';
import { getSystemErrorMessage } from 'node:util';
import type { Command } from 'commander';
import { answer, count, note } from './output.ts';
import { type BadRow, type PanelistFile, readPanelistFile } from './panelist-file.ts';
import { progressBar } from './progress.ts';
import { Refusal } from './queries/accounts-admin.ts';
import { registerUser } from './queries/users-admin.ts';
import { examples } from './usage.ts';

/** Writes under way at a time: enough to fill the network, few for the table. */
const CONCURRENCY = 32;

/** Bad rows that are named one by one; JSON has them all. */
const NAMED = 20;

export const addPanelistCommands = (program: Command): void => {
  const panelist = program
    .command('panelist')
    .description('Users of the mobile app who take part in research.')
    .addHelpText('after', examples('panelist import panelists.csv'));

  panelist
    .command('import')
    .description(
      `Registers the phone numbers of a CSV file as panelists. Its first row names a column "phone_number", or the first column contains the numbers, without such a row. Other columns are ignored.

Bad rows are named with their line and skipped; the command then ends with 1. Repeating an import changes nothing.`,
    )
    .argument('<file.csv>', 'UTF-8, commas between columns')
    .addHelpText('after', examples('panelist import panelists.csv'))
    .action(async (path: string, _options: object, command: Command) => {
      const { numbers, duplicates, bad } = await readFile(path);
      nameBadRows(bad);
      const { imported, unchanged } = await importAll(numbers, command);
      answer(
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

const nameBadRows = (bad: BadRow[]): void => {
  for (const { line, reason } of bad.slice(0, NAMED)) note(`line ${line} is skipped: it ${reason}`);
  if (bad.length > NAMED) note(`… and ${count(bad.length - NAMED)} more rows; --json lists them all`);
};

const importAll = async (numbers: Set<string>, command: Command): Promise<{ imported: number; unchanged: number }> => {
  const bar = progressBar(command, '{value} of {total} panelists, {eta_formatted} left');
  bar.start(numbers.size, 0);
  let imported = 0;
  let done = 0;
  try {
    await together(numbers, async (phone_number) => {
      if (await registerUser({ phone_number, panelist: true })) imported += 1;
      done += 1;
      bar.update(done);
    });
  } finally {
    bar.stop();
    if (done < numbers.size) note(`Stopped after ${count(done)} of ${count(numbers.size)}; it is safe to repeat.`);
  }
  return { imported, unchanged: done - imported };
};

/** Works on all items, some at a time. After a failure no further one is begun. */
const together = async <Item>(items: Iterable<Item>, work: (item: Item) => Promise<void>): Promise<void> => {
  const left = once(items);
  const worker = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
};

/** Hands each item to whoever asks first; ends for all when one of them fails. */
function* once<Item>(items: Iterable<Item>): Generator<Item> {
  yield* items;
}
