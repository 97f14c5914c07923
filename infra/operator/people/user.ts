/** `operator user …`: users of the mobile app, and their data. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { newId } from '../../../shared/core/ids.ts';
import { BACKUP_DAYS, DELETION_MEMORY_DAYS, inDays } from '../../../shared/core/lifetimes.ts';
import { changeOptOut } from '../../../shared/messaging/opt-outs/changes.ts';
import { type ConsentReceipt, listConsentReceipts } from '../../../shared/user-data/consent-receipts.ts';
import { type Erased, eraseUser } from '../../../shared/user-data/erasure.ts';
import { noteChanges, printChange } from '../history/record.ts';
import { columns, count, fields, masked, minute, printNote, printResult, second } from '../output.ts';
import { showAccount, UserError } from '../queries/accounts-admin.ts';
import { isEmpty, optOutsOf, type PersonalData, personalDataOf } from '../queries/personal-data-export.ts';
import { findUser, registerUser, type WholeUser, wholeUser } from '../queries/users-admin.ts';
import { confirm } from '../terminal/confirm.ts';
import { examples, readPhoneNumber } from '../usage.ts';
import { addConsentCommands } from './consent.ts';

const PHONE = 'in international format without +, 7 to 15 digits';

export const addUserCommands = (program: Command): void => {
  const user = program
    .command('user')
    .description('Users of the mobile app, and their data.')
    .addHelpText('after', examples('user show 27820000001'));

  user
    .command('set')
    .description(
      'Registers a user, or changes whether a registered one is a panelist. Without either option, a new user is not a panelist, and a registered user is unchanged.',
    )
    .argument('<phone>', PHONE, readPhoneNumber)
    .option('--panelist', 'the user is a panelist')
    .option('--no-panelist', 'the user is not a panelist')
    .addHelpText('after', examples('user set 27820000001 --panelist', 'user set 27820000001 --no-panelist'))
    .action(async (phone: string, options: { panelist?: boolean }, command: Command) => {
      const changed = await registerUser({ phone_number: phone, ...options });
      // The app may have removed the user since.
      const panelist = options.panelist ?? (await wholeUser(phone))?.panelist ?? false;
      const words = `is registered, ${panelist ? 'a panelist' : 'not a panelist'}${changed ? '' : ', unchanged'}.`;
      noteChanges(`${masked(phone)} ${words}`);
      printResult(command, { phone_number: phone, panelist, changed }, `${phone} ${words}`);
    });

  user
    .command('show')
    .description(
      'Shows whether a user is registered and a panelist, and which properties are known, with source and time. Values are not shown.',
    )
    .argument('<phone>', PHONE, readPhoneNumber)
    .addHelpText('after', examples('user show 27820000001'))
    .action(async (phone: string, _options: object, command: Command) => {
      const [found, grants] = await Promise.all([wholeUser(phone), listConsentReceipts(phone)]);
      if (found === undefined) throw new UserError(`${masked(phone)} is not registered. "user set" registers a user.`);
      const shown = withoutValues(found);
      printResult(
        command,
        { phone_number: phone, ...shown, receipts: grants.length },
        userInWords(phone, shown, grants),
      );
    });

  user
    .command('grants')
    .description(
      'Lists the consent receipts of a user: who received which properties, when and why. Values are not shown.',
    )
    .argument('<phone>', PHONE, readPhoneNumber)
    .addHelpText('after', examples('user grants 27820000001'))
    .action(async (phone: string, _options: object, command: Command) => {
      const grants = await listConsentReceipts(phone);
      const nothing = `No data of ${masked(phone)} was released.`;
      printResult(command, grants, grants.length === 0 ? nothing : grantTable(grants));
    });

  addConsentCommands(user);

  user
    .command('opt-outs')
    .description(
      `Lists the accounts that a user has stopped, and those that the user has started again in the last ${inDays(DELETION_MEMORY_DAYS)}.`,
    )
    .argument('<phone>', PHONE, readPhoneNumber)
    .addHelpText('after', examples('user opt-outs 27820000001'))
    .action(async (phone: string, _options: object, command: Command) => {
      const found = await optOutsOf(phone);
      const rows = found.map(({ account, state, updated }) => [account, state, second(updated)]);
      const nothing = `${masked(phone)} has stopped no account.`;
      printResult(command, found, found.length === 0 ? nothing : columns(['ACCOUNT', 'STATE', 'SINCE'], rows));
    });

  for (const [name, state] of [['stop', 'stopped'] as const, ['start', 'started'] as const]) {
    user
      .command(name)
      .description(
        state === 'stopped'
          ? 'Stops an account for a user, as the app does: nothing of this account is delivered to the user from then on. Its platform is notified.'
          : 'Reverts the opt-out of a user from an account, at the request of the user. The platform is notified, if it can be.',
      )
      .argument('<phone>', PHONE, readPhoneNumber)
      .argument('<account>', "the account's id")
      .addHelpText('after', examples(`user ${name} 27820000001 acme-research`))
      .action(async (phone: string, account: string, _options: object, command: Command) => {
        await showAccount(account);
        const consequence =
          state === 'stopped'
            ? `Stops "${account}" for ${masked(phone)}: its pending messages to the user fail permanently.`
            : `Reverts the opt-out of ${masked(phone)} from "${account}". Only the user may ask for this.`;
        await confirm(command, consequence);
        const changed = await changeOptOut({ event: newId(), account, phone, state });
        const words = `${account} is ${state} for ${masked(phone)}${changed ? '' : ', unchanged'}.`;
        printChange(command, { phone_number: phone, account, state, changed }, words);
      });
  }

  user
    .command('export')
    .description(
      'Exports all data of a user as one JSON document: profile, answers, user data requests with their values, opt-outs, consent receipts, log entries, delivery attempts, and pending messages.',
    )
    .argument('<phone>', PHONE, readPhoneNumber)
    .addHelpText('after', examples('user export 27820000001 > user.json'))
    .action(async (phone: string, _options: object, command: Command) => {
      const found = await personalDataOf(phone);
      if (isEmpty(found)) throw new UserError(`There is no data about ${masked(phone)}.`);
      printResult(command, found, JSON.stringify(found, null, 2));
      printNote('This is personal data. Store it where only authorized people have access.');
    });

  user
    .command('erase')
    .description(
      `Erases a user permanently. Shows what there is, and asks. Deletes the profile first, so that nothing more can be granted; then answers, user data requests with their values, opt-outs, delivery attempts, and pending messages. Log entries and receipts keep a pseudonym instead of the number.

The command can be repeated. A worker checks again two minutes later, for requests that were in progress. Backups of the table keep the data for up to ${inDays(BACKUP_DAYS)}.`,
    )
    .argument('<phone>', PHONE, readPhoneNumber)
    .addHelpText('after', examples('user erase 27820000001', 'user erase 27820000001 --yes'))
    .action(async (phone: string, { yes }: { yes?: true }, command: Command) => {
      if (yes === undefined) {
        const found = await personalDataOf(phone);
        const words = isEmpty(found) ? 'nothing' : inWords(countsIn(found));
        await confirm(command, `Data of ${masked(phone)}: ${words}. It is erased permanently.`);
      }
      const hadProfile = (await findUser(phone)) !== undefined;
      const erased = { profile: Number(hadProfile), ...(await eraseUser(phone)) };
      const found = Object.values(erased).some((number) => number > 0);
      const words = found
        ? `Erased for ${masked(phone)}: ${inWords(erased)}. Log entries and receipts remain under a pseudonym.`
        : `There is no data about ${masked(phone)}.`;
      printChange(command, { phone_number: phone, ...erased }, words);
    });
};

/** The metadata of a property, without its value. */
const known = v.object({ source: v.string(), updated: v.string() });

type Known = v.InferOutput<typeof known>;

/** A user without the values of properties, which operators do not see. */
interface Shown extends Pick<WholeUser, 'registered' | 'id' | 'panelist'> {
  properties: Record<string, Known>;
}

const withoutValues = ({ properties, ...user }: WholeUser): Shown => ({
  ...user,
  properties: Object.fromEntries(
    Object.entries(properties).flatMap(([name, property]): [string, Known][] =>
      v.is(known, property) ? [[name, v.parse(known, property)]] : [],
    ),
  ),
});

const userInWords = (
  phone: string,
  { registered, id, panelist, properties }: Shown,
  grants: ConsentReceipt[],
): string => {
  const about = fields({
    User: phone,
    'Id in the app': id,
    Registered: minute(registered),
    Panelist: panelist ? 'yes' : 'no',
    Receipts: grants.length === 0 ? 'none' : `${count(grants.length)} ("user grants" lists them)`,
  });
  const rows = Object.entries(properties).map(([name, { source, updated }]) => [name, source, minute(updated)]);
  const nothing = 'No properties are known.';
  return `${about}\n\n${rows.length === 0 ? nothing : columns(['PROPERTY', 'SOURCE', 'UPDATED'], rows)}`;
};

const grantTable = (grants: ConsentReceipt[]): string =>
  columns(
    ['WHEN', 'EVENT', 'ACCOUNT', 'REQUEST', 'PROPERTIES', 'REASON'],
    grants.map(({ created, event = 'released', account, request, properties, reason = '' }) => [
      second(created),
      event,
      account,
      request,
      properties.join(', '),
      reason,
    ]),
  );

type Counts = Erased & { profile: number };

const countsIn = ({
  profile,
  answers,
  requests,
  consents,
  opt_outs,
  deliveries,
  waiting,
  log,
  grants,
}: PersonalData): Counts => ({
  profile: profile === null ? 0 : 1,
  answers: answers.length,
  requests: requests.length,
  waiting: waiting.length,
  log_entries: log.length,
  receipts: grants.length,
  opt_outs: opt_outs.length,
  deliveries: deliveries.length,
  consents: consents.length,
});

const WORDS: Record<keyof Counts, string> = {
  profile: 'profile',
  answers: 'answers',
  requests: 'user data requests',
  waiting: 'pending',
  log_entries: 'log entries',
  receipts: 'receipts',
  opt_outs: 'opt-outs',
  deliveries: 'delivery attempts',
  consents: 'consents',
};

const inWords = (counts: Counts): string =>
  Object.entries(WORDS)
    .map(([name, words]) => `${words}: ${count(counts[name as keyof Counts])}`)
    .join(', ');
