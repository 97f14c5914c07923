/** `operator user …`: users of the mobile app, and what is kept about them. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { type ConsentReceipt, listConsentReceipts } from '../../shared/user-data/consent-receipts.ts';
import { type Erased, eraseUser } from '../../shared/user-data/erasure.ts';
import { answer, columns, count, fields, masked, minute, note, second } from './output.ts';
import { Refusal } from './queries/accounts-admin.ts';
import { isEmpty, type PersonalData, personalDataOf } from './queries/personal-data-export.ts';
import { findUser, registerUser, type WholeUser, wholeUser } from './queries/users-admin.ts';
import { examples, readPhoneNumber } from './usage.ts';

const PHONE = 'in international format without +, 7 to 15 digits';

export const addUserCommands = (program: Command): void => {
  const user = program
    .command('user')
    .description('Users of the mobile app, and what is kept about them.')
    .addHelpText('after', examples('user show 27820000001'));

  user
    .command('set')
    .description(
      'Registers a user, or changes whether a registered one is a panelist. Without either option a new user is no panelist, and a registered one stays what they are.',
    )
    .argument('<phone>', PHONE, readPhoneNumber)
    .option('--panelist', 'the user is a panelist')
    .option('--no-panelist', 'the user is not a panelist')
    .addHelpText('after', examples('user set 27820000001 --panelist', 'user set 27820000001 --no-panelist'))
    .action(async (phone: string, options: { panelist?: boolean }, command: Command) => {
      const changed = await registerUser({ phone_number: phone, ...options });
      // The app may have removed them since.
      const panelist = options.panelist ?? (await wholeUser(phone))?.panelist ?? false;
      const words = `${phone} is registered, ${panelist ? 'a panelist' : 'not a panelist'}`;
      answer(command, { phone_number: phone, panelist, changed }, changed ? `${words}.` : `${words}, as before.`);
    });

  user
    .command('show')
    .description(
      'Shows whether a user is registered and a panelist, and which properties are known, by whom and since when. What they say is not shown.',
    )
    .argument('<phone>', PHONE, readPhoneNumber)
    .addHelpText('after', examples('user show 27820000001'))
    .action(async (phone: string, _options: object, command: Command) => {
      const [found, grants] = await Promise.all([wholeUser(phone), listConsentReceipts(phone)]);
      if (found === undefined) throw new Refusal(`${masked(phone)} is not registered. "user set" registers a user.`);
      const shown = withoutValues(found);
      answer(command, { phone_number: phone, ...shown, receipts: grants.length }, userInWords(phone, shown, grants));
    });

  user
    .command('grants')
    .description('Lists who got what of a user, when and why: a receipt for each release. Values are not in it.')
    .argument('<phone>', PHONE, readPhoneNumber)
    .addHelpText('after', examples('user grants 27820000001'))
    .action(async (phone: string, _options: object, command: Command) => {
      const grants = await listConsentReceipts(phone);
      const nothing = `Nothing was released of ${masked(phone)}.`;
      answer(command, grants, grants.length === 0 ? nothing : grantTable(grants));
    });

  user
    .command('export')
    .description(
      'Gives all that is kept about a user, as one JSON document: profile, answers, user data requests with their values, receipts, what is logged of messages, and what waits to go out.',
    )
    .argument('<phone>', PHONE, readPhoneNumber)
    .addHelpText('after', examples('user export 27820000001 > user.json'))
    .action(async (phone: string, _options: object, command: Command) => {
      const found = await personalDataOf(phone);
      if (isEmpty(found)) throw new Refusal(`Nothing is kept about ${masked(phone)}.`);
      answer(command, found, JSON.stringify(found, null, 2));
      note('This is personal data: keep it where only those see it who may.');
    });

  user
    .command('erase')
    .description(
      `Forgets a user, for good: the profile first, so that nothing can be granted any more; then answers, user data requests with their values, and what waits to go out. Log entries and receipts keep a pseudonym instead of the number.

It can be repeated. The worker looks once more two minutes later, for what was under way. Backups of the table keep what they hold for up to 35 days.`,
    )
    .argument('<phone>', PHONE, readPhoneNumber)
    .option('--yes', 'do it; else it is only said what there is')
    .addHelpText('after', examples('user erase 27820000001', 'user erase 27820000001 --yes'))
    .action(async (phone: string, { yes }: { yes?: true }, command: Command) => {
      if (yes === undefined) {
        const found = await personalDataOf(phone);
        const words = isEmpty(found) ? 'nothing' : inWords(countsIn(found));
        throw new Refusal(`Not erased. Of ${masked(phone)} there is: ${words}. Add --yes to erase it for good.`);
      }
      const hadProfile = (await findUser(phone)) !== undefined;
      const erased = { profile: Number(hadProfile), ...(await eraseUser(phone)) };
      const found = Object.values(erased).some((number) => number > 0);
      const words = found
        ? `Erased of ${masked(phone)}: ${inWords(erased)}. Log entries and receipts stay, under a pseudonym.`
        : `Nothing was left of ${masked(phone)}.`;
      answer(command, { phone_number: phone, ...erased }, words);
    });
};

/** Of a property, whatever it says. */
const known = v.object({ source: v.string(), updated: v.string() });

type Known = v.InferOutput<typeof known>;

/** A user as operators may see one. */
interface Shown extends Pick<WholeUser, 'registered' | 'panelist'> {
  properties: Record<string, Known>;
}

const withoutValues = ({ registered, panelist, properties }: WholeUser): Shown => ({
  registered,
  panelist,
  properties: Object.fromEntries(
    Object.entries(properties).flatMap(([name, property]): [string, Known][] =>
      v.is(known, property) ? [[name, v.parse(known, property)]] : [],
    ),
  ),
});

const userInWords = (phone: string, { registered, panelist, properties }: Shown, grants: ConsentReceipt[]): string => {
  const about = fields({
    User: phone,
    Registered: minute(registered),
    Panelist: panelist ? 'yes' : 'no',
    Receipts: grants.length === 0 ? 'none' : `${count(grants.length)}, as "user grants" lists them`,
  });
  const rows = Object.entries(properties).map(([name, { source, updated }]) => [name, source, minute(updated)]);
  const nothing = 'No property is known.';
  return `${about}\n\n${rows.length === 0 ? nothing : columns(['PROPERTY', 'SAID BY', 'UPDATED'], rows)}`;
};

const grantTable = (grants: ConsentReceipt[]): string =>
  columns(
    ['WHEN', 'ACCOUNT', 'REQUEST', 'PROPERTIES', 'REASON'],
    grants.map(({ created, account, request, properties, reason = '' }) => [
      second(created),
      account,
      request,
      properties.join(', '),
      reason,
    ]),
  );

type Counts = Erased & { profile: number };

const countsIn = ({ profile, answers, requests, waiting, log, grants }: PersonalData): Counts => ({
  profile: profile === null ? 0 : 1,
  answers: answers.length,
  requests: requests.length,
  waiting: waiting.length,
  log_entries: log.length,
  receipts: grants.length,
});

const WORDS: Record<keyof Counts, string> = {
  profile: 'profile',
  answers: 'answers',
  requests: 'user data requests',
  waiting: 'waiting to go out',
  log_entries: 'log entries',
  receipts: 'receipts',
};

const inWords = (counts: Counts): string =>
  Object.entries(WORDS)
    .map(([name, words]) => `${words}: ${count(counts[name as keyof Counts])}`)
    .join(', ');
