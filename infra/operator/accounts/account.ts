/** `operator account …`: the accounts of businesses and vendors. */
import type { Command } from 'commander';
import type { Account } from '../../../shared/accounts/accounts.ts';
import type { SendingHours } from '../../../shared/core/sending-hours.ts';
import { noteChanges } from '../history/record.ts';
import { addStatsCommand } from '../messages/stats.ts';
import { columns, count, fields, minute, printNote, printResult, second, tinted } from '../output.ts';
import {
  createAccount,
  findConsentWebhook,
  listAccountSettings,
  showAccount,
  updateAccount,
} from '../queries/accounts-admin.ts';
import { listTokens } from '../queries/tokens-admin.ts';
import { confirm } from '../terminal/confirm.ts';
import { examples, readHours, readName, readPhoneNumber, readRequests } from '../usage.ts';
import {
  addConsentWebhookOptions,
  consentOptionOf,
  consentWebhookFrom,
  consentWebhookGivenIn,
  consentWebhookInWords,
  consentWebhookSettings,
} from './consent-webhook.ts';
import { addDeletionCommand } from './deletion.ts';
import { addNameCommands } from './names.ts';
import {
  addPlatformOptions,
  notesOnKept,
  platformFrom,
  platformGivenIn,
  platformSettings,
  type Settings,
  settingsInJson,
  settingsInWords,
} from './platform.ts';
import { hoursInWords, replacedBy } from './replaced.ts';
import { addSuspensionCommands } from './suspension.ts';
import { tokenTable } from './token.ts';

/** What the list shows of an account. */
const inList = ({ id, name, pending_name, platform, bot_number, rate, burst, suspended }: ListedSettings) => ({
  id,
  name,
  ...(pending_name !== undefined && { pending_name }),
  ...(platform !== undefined && { platform }),
  ...(bot_number !== undefined && { bot_number }),
  ...(rate !== undefined && { rate, burst }),
  ...(suspended !== undefined && { suspended }),
});

type ListedSettings = Awaited<ReturnType<typeof listAccountSettings>>[number];

const BOT_NUMBER = [
  '--bot-number <number>',
  "the bot's phone number, 7 to 15 digits without +",
  readPhoneNumber,
] as const;

const RATE = [
  '--rate <requests>',
  'requests per second, sustained (default: that of the deployment)',
  readRequests,
] as const;

const BURST = [
  '--burst <requests>',
  'requests at once after a pause, at least the rate (default: twice the rate)',
  readRequests,
] as const;

const HOURS = [
  '--sending-hours <hours>',
  'between which times messages are sent, unless a request says otherwise: "08:00-20:00 Africa/Johannesburg", or with "recipient" in the zone of the user',
  readHours,
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
    .option(...RATE)
    .option(...BURST)
    .addHelpText('after', examples('account create "Acme Research"', 'account create "Acme Research" --id acme'))
    .action(async (name: string, { botNumber, ...given }: Drafted, command: Command) => {
      const created = await createAccount({
        name,
        ...given,
        ...(botNumber !== undefined && { bot_number: botNumber }),
      });
      noteChanges(`Created the account "${created.id}".`, created.id);
      printResult(command, created, inWords(created));
    });

  account
    .command('list')
    .description('Lists all accounts: platform, number of the bot, limit of its own, and since when it is suspended.')
    .addHelpText('after', examples('account list'))
    .action(async (_options: object, command: Command) => {
      const accounts = (await listAccountSettings()).map(inList);
      const words = columns(
        ['ID', 'NAME', 'PLATFORM', 'BOT', 'RATE', 'SUSPENDED'],
        accounts.map(({ id, name, platform, bot_number, rate, burst, suspended }) => [
          id,
          name,
          platform ?? '',
          bot_number ?? '',
          rate === undefined ? '' : `${rate} a second, ${burst} at once`,
          suspended === undefined ? '' : tinted('red', minute(suspended)),
        ]),
      );
      printResult(command, accounts, accounts.length === 0 ? 'There are no accounts.' : words);
    });

  account
    .command('show')
    .description("Shows an account and its tokens' records. Secrets and tokens are not shown.")
    .argument('<account>', "the account's id")
    .addHelpText('after', examples('account show acme-research'))
    .action(async (id: string, _options: object, command: Command) => {
      const [found, tokens] = await Promise.all([showAccount(id), listTokens(id)]);
      const [settings, consent] = await Promise.all([platformSettings(found), consentWebhookSettings(id)]);
      printResult(
        command,
        { ...found, ...settingsInJson(settings), ...settingsInJson(consent, 'consent_webhook'), tokens },
        `${inWords(found, settings, consent)}\n\n${tokenTable(tokens)}`,
      );
    });

  addStatsCommand(account);
  addNameCommands(account);
  addSuspensionCommands(account);
  addDeletionCommand(account);

  const update = account
    .command('update')
    .description(
      `Changes an account's name, its bot's number, its limit of requests, its sending hours, its chat platform, or its webhook for ends of consent. Settings that are not given stay unchanged.

The command asks before it replaces or removes anything.

The limit is for all requests of the account together. A change takes effect within 60 s.

The platform receives users' messages and the states of messages: RapidPro and Turn of the messages that they sent, a webhook of all messages. An empty value ('') removes a setting. If the platform changes, the previous settings are removed. Secrets and tokens are not shown again.

A plain webhook is also notified when consent ends, because the business then has to delete its copy of the values. RapidPro and Turn cannot be: with --consent-webhook, an account has a webhook for these notifications, besides its platform or without one.

"platform check" tests the settings of the platform. Pending messages use a new URL at their next attempt; "outbox retry" starts it now.`,
    )
    .argument('<account>', "the account's id")
    .option('--name <name>', 'the display name', readName)
    .option(...BOT_NUMBER)
    .option('--no-bot-number', "remove the bot's number")
    .option(...RATE)
    .option(...BURST)
    .option('--no-rate', "remove the account's own limit, with its burst")
    .option(...HOURS)
    .option('--no-sending-hours', 'send messages at any time');
  addPlatformOptions(update);
  addConsentWebhookOptions(update);
  update
    .addHelpText(
      'after',
      examples(
        'account update acme-research --bot-number 27820000001',
        'account update acme-research --rate 200 --burst 500',
        'account update acme-research --sending-hours "08:00-20:00 Africa/Johannesburg"',
        'account update acme-research --platform rapidpro --platform-url https://rapidpro.example.com/c/ex/CHANNEL/receive',
        'account update acme-research --platform turn --platform-channel CHANNEL --platform-token TOKEN',
        'account update acme-research --platform webhook --platform-url https://example.com/messages',
        'account update acme-research --platform-secret "whsec_$(openssl rand -base64 32)"',
        'account update acme-research --consent-webhook https://example.com/consent',
      ),
    )
    .action(async (id: string, { name, botNumber, rate, burst, sendingHours }: Changed, command: Command) => {
      const given = platformGivenIn(command);
      const consent = consentWebhookGivenIn(command);
      if ([name, botNumber, rate, burst, sendingHours, given, consent].every((option) => option === undefined)) {
        command.error(
          'error: nothing to change: give --name, --bot-number, --rate, --sending-hours, --platform or several of them',
        );
      }
      if (rate === false && burst !== undefined) command.error('error: --no-rate removes the burst, too');
      const replaced = replacedBy(
        await showAccount(id),
        { name, botNumber, rate, burst, sendingHours, platform: given, consentWebhook: consent },
        consent !== undefined && (await findConsentWebhook(id)) !== undefined,
      );
      if (replaced.length > 0) await confirm(command, `Account "${id}": ${replaced.join(' ')}`);
      let wanted: ReturnType<typeof platformFrom> | undefined;
      let webhook: ReturnType<typeof consentWebhookFrom> | undefined;
      const updated = await updateAccount(id, {
        ...(name !== undefined && { name }),
        ...(botNumber !== undefined && { bot_number: botNumber || null }),
        ...(rate !== undefined && { rate: rate || null }),
        ...(sendingHours !== undefined && { sending_hours: sendingHours || null }),
        ...(rate === false ? { burst: null } : burst !== undefined && { burst }),
        ...(given && {
          platform: (current) => {
            wanted = platformFrom(id, current, given);
            return wanted.platform;
          },
        }),
        ...(consent !== undefined && {
          consent_webhook: (current) => {
            webhook = consent === null ? undefined : consentWebhookFrom(id, current, consent);
            return webhook?.platform ?? null;
          },
        }),
      });
      const made = [
        ...Object.keys(wanted?.made ?? {}).map((name) => `${name} of the platform`),
        ...Object.keys(webhook?.made ?? {}).map((name) => `${name} of the consent webhook`),
      ];
      noteChanges(`Updated the account "${id}"${made.length > 0 ? `, with a new ${made.join(' and ')}` : ''}.`);
      const settings = { ...(await platformSettings(updated)), ...wanted?.made };
      const consentSettings = { ...(await consentWebhookSettings(id)), ...webhook?.made };
      printResult(
        command,
        { ...updated, ...settingsInJson(settings), ...settingsInJson(consentSettings, 'consent_webhook') },
        inWords(updated, settings, consentSettings),
      );
      if (made.length > 0) printNote('Copy the secret now: it will not be shown again.');
      const notes = [
        ...(given?.name ? notesOnKept(wanted?.kept ?? []) : []),
        ...(consent?.url === undefined ? [] : notesOnKept(webhook?.kept ?? [], consentOptionOf)),
      ];
      for (const words of notes) printNote(words);
    });
};

interface Drafted {
  id?: string;
  botNumber?: string;
  rate?: number;
  burst?: number;
}

/** The options of a change. `false` removes what there is. */
interface Changed {
  name?: string;
  botNumber?: string | false;
  rate?: number | false;
  burst?: number;
  sendingHours?: SendingHours | false;
}

/** The account's own limit in words; undefined if it has the deployment's. */
const limitInWords = ({ rate, burst = 2 * (rate ?? 0) }: Account): string | undefined =>
  rate === undefined ? undefined : `${count(rate)} requests a second, ${count(burst)} at once`;

const inWords = (account: Account, settings: Settings = {}, consentSettings: Settings = {}): string =>
  fields({
    Account: account.id,
    Name: account.name,
    'Pending name': account.pending_name,
    'Decided names': account.name_decisions
      ?.map(({ name, decision, time }) => `${name} (${decision}, ${second(time)})`)
      .join(', '),
    Suspended: account.suspended && second(account.suspended),
    'Bot number': account.bot_number,
    Limit: limitInWords(account),
    'Sending hours': account.sending_hours && hoursInWords(account.sending_hours),
    'Opt-out keywords': account.opt_out_keywords?.action,
    Platform: account.platform,
    ...settingsInWords(account, settings),
    ...consentWebhookInWords(consentSettings),
    Created: minute(account.created),
  });
