/** `operator account …`: the accounts of businesses and vendors. */
import type { Command } from 'commander';
import {
  type Account,
  createAccount,
  listAccounts,
  listTokens,
  showAccount,
  updateAccount,
} from '../../shared/accounts.ts';
import { answer, columns, fields, minute } from './output.ts';
import { tokenTable } from './token.ts';
import { examples, readName, readPhoneNumber } from './usage.ts';

const BOT_NUMBER = [
  '--bot-number <number>',
  "its bot's phone number, 7 to 15 digits without +",
  readPhoneNumber,
] as const;

export const addAccountCommands = (program: Command): void => {
  const account = program.command('account').description('Accounts of businesses and vendors.');

  account
    .command('create')
    .description('Opens an account.')
    .argument('<name>', 'what people call it', readName)
    .option('--id <id>', 'a-z, 0-9 and hyphens, at most 40 (default: made of the name)')
    .option(...BOT_NUMBER)
    .addHelpText('after', examples('account create "Acme Research"', 'account create "Acme Research" --id acme'))
    .action(async (name: string, { id, botNumber }: { id?: string; botNumber?: string }, command: Command) => {
      const created = await createAccount({
        name,
        ...(id !== undefined && { id }),
        ...(botNumber !== undefined && { bot_number: botNumber }),
      });
      answer(command, created, inWords(created));
    });

  account
    .command('list')
    .description('Lists all accounts.')
    .action(async (_options: object, command: Command) => {
      const accounts = await listAccounts();
      const words = columns(
        ['ID', 'NAME'],
        accounts.map(({ id, name }) => [id, name]),
      );
      answer(command, accounts, accounts.length === 0 ? 'There is no account yet.' : words);
    });

  account
    .command('show')
    .description("Shows an account and its tokens' records. Tokens themselves are not kept.")
    .argument('<id>', "the account's id")
    .action(async (id: string, _options: object, command: Command) => {
      const [found, tokens] = await Promise.all([showAccount(id), listTokens(id)]);
      answer(command, { ...found, tokens }, `${inWords(found)}\n\n${tokenTable(tokens)}`);
    });

  account
    .command('update')
    .description("Changes an account's name or its bot's number.")
    .argument('<id>', "the account's id")
    .option('--name <name>', 'what people call it', readName)
    .option(...BOT_NUMBER)
    .option('--no-bot-number', 'its bot has no number any more')
    .addHelpText('after', examples('account update acme-research --bot-number 27820000001'))
    .action(
      async (id: string, { name, botNumber }: { name?: string; botNumber?: string | false }, command: Command) => {
        if (name === undefined && botNumber === undefined) {
          command.error('error: nothing to change: give --name, --bot-number or both');
        }
        const updated = await updateAccount(id, {
          ...(name !== undefined && { name }),
          ...(botNumber !== undefined && { bot_number: botNumber || null }),
        });
        answer(command, updated, inWords(updated));
      },
    );
};

const inWords = ({ id, name, bot_number, created }: Account): string =>
  fields({ Account: id, Name: name, 'Bot number': bot_number, Created: minute(created) });
