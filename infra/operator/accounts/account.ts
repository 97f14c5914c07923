/** `operator account …`: the accounts of businesses and vendors. */
import type { Command } from 'commander';
import type { Account } from '../../../shared/accounts/accounts.ts';
import { addStatsCommand } from '../messages/stats.ts';
import { columns, fields, minute, printNote, printResult } from '../output.ts';
import { createAccount, listAccounts, showAccount, updateAccount } from '../queries/accounts-admin.ts';
import { listTokens } from '../queries/tokens-admin.ts';
import { examples, readName, readPhoneNumber } from '../usage.ts';
import {
  addPlatformOptions,
  notesOnKept,
  platformFrom,
  platformGivenIn,
  platformSettings,
  settingsInJson,
  settingsInWords,
} from './platform.ts';
import { tokenTable } from './token.ts';

const BOT_NUMBER = [
  '--bot-number <number>',
  "the bot's phone number, 7 to 15 digits without +",
  readPhoneNumber,
] as const;

export const addAccountCommands = (program: Command): void => {
  const account = program
    .command('account')
    .description('Accounts of businesses and vendors.')
    .addHelpText('after', examples('account list', 'account stats acme-research'));

  account
    .command('create')
    .description('Creates an account.')
    .argument('<name>', 'the display name', readName)
    .option('--id <id>', 'a-z, 0-9 and hyphens, at most 40 (default: derived from the name)')
    .option(...BOT_NUMBER)
    .addHelpText('after', examples('account create "Acme Research"', 'account create "Acme Research" --id acme'))
    .action(async (name: string, { id, botNumber }: { id?: string; botNumber?: string }, command: Command) => {
      const created = await createAccount({
        name,
        ...(id !== undefined && { id }),
        ...(botNumber !== undefined && { bot_number: botNumber }),
      });
      printResult(command, created, inWords(created));
    });

  account
    .command('list')
    .description('Lists all accounts.')
    .addHelpText('after', examples('account list'))
    .action(async (_options: object, command: Command) => {
      const accounts = await listAccounts();
      const words = columns(
        ['ID', 'NAME'],
        accounts.map(({ id, name }) => [id, name]),
      );
      printResult(command, accounts, accounts.length === 0 ? 'There are no accounts.' : words);
    });

  account
    .command('show')
    .description("Shows an account and its tokens' records. Secrets and tokens are not shown.")
    .argument('<id>', "the account's id")
    .addHelpText('after', examples('account show acme-research'))
    .action(async (id: string, _options: object, command: Command) => {
      const [found, tokens] = await Promise.all([showAccount(id), listTokens(id)]);
      const settings = await platformSettings(found);
      printResult(
        command,
        { ...found, ...settingsInJson(settings), tokens },
        `${inWords(found, settings)}\n\n${tokenTable(tokens)}`,
      );
    });

  addStatsCommand(account);

  const update = account
    .command('update')
    .description(
      `Changes an account's name, its bot's number, or its chat platform. Settings that are not given stay unchanged.

The platform receives users' messages and the states of messages: RapidPro and Turn of the messages that they sent, a webhook of all messages. An empty value ('') removes a setting. If the platform changes, the previous settings are removed. Secrets and tokens are not shown again.

"platform check" tests the settings. Pending messages use a new URL at their next attempt; "outbox retry" starts it now.`,
    )
    .argument('<id>', "the account's id")
    .option('--name <name>', 'the display name', readName)
    .option(...BOT_NUMBER)
    .option('--no-bot-number', "remove the bot's number");
  addPlatformOptions(update);
  update
    .addHelpText(
      'after',
      examples(
        'account update acme-research --bot-number 27820000001',
        'account update acme-research --platform rapidpro --platform-url https://rapidpro.example.com/c/ex/CHANNEL/receive',
        'account update acme-research --platform turn --platform-channel CHANNEL --platform-token TOKEN',
        'account update acme-research --platform webhook --platform-url https://example.com/messages',
        'account update acme-research --platform-secret "whsec_$(openssl rand -base64 32)"',
      ),
    )
    .action(
      async (id: string, { name, botNumber }: { name?: string; botNumber?: string | false }, command: Command) => {
        const given = platformGivenIn(command);
        if (name === undefined && botNumber === undefined && given === undefined) {
          command.error('error: nothing to change: give --name, --bot-number, --platform or several of them');
        }
        let wanted: ReturnType<typeof platformFrom> | undefined;
        const updated = await updateAccount(id, {
          ...(name !== undefined && { name }),
          ...(botNumber !== undefined && { bot_number: botNumber || null }),
          ...(given && {
            platform: (current) => {
              wanted = platformFrom(id, current, given);
              return wanted.platform;
            },
          }),
        });
        const { made = {}, kept = [] } = wanted ?? {};
        const settings = { ...(await platformSettings(updated)), ...made };
        printResult(command, { ...updated, ...settingsInJson(settings) }, inWords(updated, settings));
        if (Object.keys(made).length > 0) printNote('Copy the secret now: it will not be shown again.');
        if (given?.name) for (const words of notesOnKept(kept)) printNote(words);
      },
    );
};

const inWords = (account: Account, settings: Record<string, string> = {}): string =>
  fields({
    Account: account.id,
    Name: account.name,
    'Bot number': account.bot_number,
    Platform: account.platform,
    ...settingsInWords(account, settings),
    Created: minute(account.created),
  });
