/** `operator number …`: the phone numbers of accounts' bots. */
import type { Command } from 'commander';
import { columns, count, printNote, printResult } from '../output.ts';
import {
  allNumbers,
  findMisnamed,
  findOrphans,
  type Misnamed,
  type Orphan,
  releaseOrphan,
} from '../queries/bot-numbers.ts';
import { addYesOption, confirm } from '../terminal/confirm.ts';
import { examples, readPhoneNumber } from '../usage.ts';

export const addNumberCommands = (program: Command): void => {
  const number = program
    .command('number')
    .description("The phone numbers of accounts' bots.")
    .addHelpText('after', examples('number check 27820000001'));

  addYesOption(number.command('check'))
    .description(
      `Finds orphaned numbers, whose account does not exist or does not name them, and accounts with a number that belongs to another account. No account can claim an orphaned number.

The exit code is 1 if a problem remains.`,
    )
    .argument('[numbers...]', 'numbers in international format without +, 7 to 15 digits', readNumbers)
    .option('--all', 'all numbers: reads the whole table, for 1 read unit per 8 KB')
    .option('--release', 'release orphaned numbers: any account can then claim them')
    .addHelpText(
      'after',
      examples('number check 27820000001', 'number check 27820000001 --release', 'number check --all'),
    )
    .action(async (numbers: string[], { all, release }: { all?: true; release?: true }, command: Command) => {
      if (!all && numbers.length === 0) command.error('error: give numbers, or --all');
      if (all && numbers.length > 0) command.error('error: --all and numbers exclude each other');
      const { checked, orphaned } = all ? await checkAll() : await checkThese(numbers);
      const misnamed = await findMisnamed(all ? undefined : numbers);
      if (release && orphaned.length > 0) {
        const numbers = orphaned.map((orphan) => orphan.number).join(', ');
        await confirm(command, `Releases ${numbers}: any account can then claim them.`);
      }
      const released = release ? await releaseAll(orphaned) : [];
      const left = orphaned.length - released.length + misnamed.length;
      printResult(
        command,
        { checked, orphaned, misnamed, released },
        inWords({ checked, orphaned, misnamed, released }),
      );
      if (orphaned.length > released.length) printNote('Add --release to release orphaned numbers for any account.');
      for (const one of misnamed) printNote(adviceOn(one));
      if (left > 0) process.exitCode = 1;
    });
};

/** How many numbers were checked, and which of them are orphaned. */
interface Checked {
  checked: number;
  orphaned: Orphan[];
}

const checkThese = async (numbers: string[]): Promise<Checked> => ({
  checked: numbers.length,
  orphaned: await findOrphans(numbers),
});

const checkAll = async (): Promise<Checked> => {
  const found: Checked = { checked: 0, orphaned: [] };
  for await (const numbers of allNumbers()) {
    found.checked += numbers.length;
    found.orphaned.push(...(await findOrphans(numbers)));
  }
  return found;
};

/** Releases numbers, one after the other. Returns those that were released: the others are orphaned no longer. */
const releaseAll = async (orphaned: Orphan[]): Promise<string[]> => {
  const released: string[] = [];
  for (const orphan of orphaned) if (await releaseOrphan(orphan)) released.push(orphan.number);
  return released;
};

const inWords = ({
  checked,
  orphaned,
  misnamed,
  released,
}: Checked & { misnamed: Misnamed[]; released: string[] }): string => {
  const rows = [
    ...orphaned.map(({ number, account }) => [
      number,
      account,
      released.includes(number) ? 'was orphaned, is released' : 'orphaned',
    ]),
    ...misnamed.map(({ number, account, owner }) => [
      number,
      account,
      owner === undefined ? 'named, but owned by no account' : `named, but owned by ${owner}`,
    ]),
  ];
  const total = `${count(checked)} checked, ${count(orphaned.length)} orphaned, ${count(released.length)} released, ${count(misnamed.length)} named by another account.`;
  return rows.length === 0 ? total : `${columns(['NUMBER', 'ACCOUNT', 'STATE'], rows)}\n\n${total}`;
};

/** The command that repairs an account with a number that it does not own. */
const adviceOn = ({ account, number, owner }: Misnamed): string =>
  owner === undefined
    ? `"account update ${account} --bot-number ${number}" gives the number to the account that names it.`
    : `"account update ${account} --no-bot-number" removes the number of "${owner}" from "${account}".`;

/** Collects the values of a repeatable argument. */
function readNumbers(number: string, before: string[] = []): string[] {
  return [...before, readPhoneNumber(number)];
}
