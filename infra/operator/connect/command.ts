/** `operator connect`: connects an account to a chat platform, and checks both directions. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { setups } from '../../../shared/destinations/registry.ts';
import type { ConnectField } from '../../../shared/destinations/setup.ts';
import { addPlatformSettings, optionOf, platformGivenIn } from '../accounts/platform.ts';
import { fields, printError, printNote, printResult, strong, tinted } from '../output.ts';
import { UserError } from '../queries/accounts-admin.ts';
import { deployment } from '../target.ts';
import { examples, readBy, readPhoneNumber } from '../usage.ts';
import { allGood, type Check } from './checks.ts';
import { type ConnectOutcome, connect, type Shown } from './flow.ts';
import { terminalQuestions } from './questions.ts';

interface Options {
  botNumber?: string;
  token?: string;
  newToken?: true;
  wait?: number;
}

export const addConnectCommand = (program: Command): void => {
  const command = program
    .command('connect')
    .description(
      `Connects an account to its chat platform: asks for the settings, stores them, prints what to enter on the other side, and checks both directions.

Without a terminal, or with --json, it asks nothing: settings that are missing are named, and nothing is stored. A token is issued at the first call, with the permission "bridge" alone, and printed once, because the other side needs it.

No check sends a message to a person. The service gets a request as the platform would send it, which it accepts and ignores. The platform gets an empty message, which it rejects; a webhook gets {"check":{}}.

The exit code is 1 if a check failed.`,
    )
    .argument('<account>', "the account's id")
    .option(
      '--bot-number <number>',
      "the bot's phone number, 7 to 15 digits without +, if it has none",
      readPhoneNumber,
    )
    .option('--token <token>', 'the token that the platform already has, to check it (default: a new one, or none)')
    .option('--new-token', 'issue a token although one was issued before')
    .option('--wait <seconds>', 'wait for a message that the platform sends to a user, at most 3600', readSeconds);
  addPlatformSettings(command);
  command
    .addHelpText(
      'after',
      examples(
        'connect acme-research',
        'connect acme-research --platform rapidpro --bot-number 27820000001',
        'connect acme-research --platform-url https://rapidpro.example.com/c/ex/CHANNEL/receive --wait 120',
        'connect acme-research --platform turn --platform-channel CHANNEL --platform-token TOKEN',
      ),
    )
    .action(async (account: string, options: Options, used: Command) => {
      const bridgeUrl = deployment().hosts?.bridge;
      if (bridgeUrl === undefined)
        throw new UserError('The URL of the bridge host is needed: name the stack with --stack.');
      const { json, yes = false } = used.optsWithGlobals<{ json?: boolean; yes?: boolean }>();
      const given = platformGivenIn(used);
      const questions = json ? undefined : terminalQuestions();
      try {
        const outcome = await connect(
          {
            account,
            bridgeUrl,
            platform: given?.name ? given.name : undefined,
            settings: given?.settings ?? {},
            botNumber: options.botNumber,
            token: options.token,
            newToken: options.newToken ?? false,
            wait: options.wait ?? 0,
            yes,
          },
          { questions, show: json ? () => undefined : show },
        );
        if (json) printResult(used, outcome, '');
        for (const note of notesOn(outcome, options.token === undefined)) printNote(note);
        if (!allGood(outcome.checks)) process.exitCode = 1;
      } finally {
        questions?.close();
      }
    });
};

const readSeconds = readBy(
  v.pipe(
    v.string(),
    v.regex(/^[1-9]\d{0,3}$/, 'must be a whole number from 1 to 3600'),
    v.transform(Number),
    v.maxValue(3_600, 'must be a whole number from 1 to 3600'),
  ),
);

const say = (text: string): void => void process.stdout.write(`${text}\n\n`);

const show = (what: Shown): void => {
  if ('error' in what) printError(what.error);
  else if ('note' in what) printNote(what.note);
  else if ('checks' in what) say([strong('Checks'), ...what.checks.map(checkInWords)].join('\n'));
  else {
    const { guide, account, enter } = what;
    say(strong(`Connect ${account.name} (${account.id}) to ${guide.title}`));
    say([...guide.steps.map((step, index) => `${index + 1}. ${step}`)].join('\n'));
    if (enter.length > 0) say([strong(guide.form), inWords(enter)].join('\n'));
    const notes = enter.flatMap(({ field, note }) => (note === undefined ? [] : [`${field}: ${note}`]));
    if (notes.length > 0) say(notes.map((note) => `- ${note}`).join('\n'));
  }
};

/** The fields with their values. A secret is marked. */
const inWords = (enter: ConnectField[]): string =>
  fields(
    Object.fromEntries(
      enter.map(({ field, value, secret }) => [
        secret ? `${field} (secret)` : field,
        value === '' ? tinted('dim', '(leave empty)') : value,
      ]),
    ),
  );

const checkInWords = ({ title, result, detail, fix, status, ms }: Check): string => {
  const answer = [status === undefined ? [] : [`status ${status}`], ms === undefined ? [] : [`${ms} ms`]].flat();
  const head = `${result === 'good' ? '✓' : '✗'} ${title}${answer.length > 0 ? ` (${answer.join(', ')})` : ''}`;
  return result === 'good' ? `${head}\n  ${detail}` : `${head}\n  Cause: ${detail}\n  Fix: ${fix}`;
};

const notesOn = (
  { account, platform, missing, enter, unchecked_token: known }: ConnectOutcome,
  isNew: boolean,
): string[] => {
  const { title } = setups[platform];
  const hasSecret = isNew && known === undefined && enter.some(({ secret }) => secret);
  return [
    ...(hasSecret ? ['Copy the secret now: it will not be shown again.'] : []),
    ...(known === undefined
      ? []
      : [
          `The token that ends in ${known} was not checked: only its hash is stored. Give it with --token, or --new-token.`,
        ]),
    ...(missing.length === 0
      ? []
      : [
          `Nothing is stored yet. When ${title} shows the values: connect ${account} --platform ${platform} ${missing
            .map((setting) => `${optionOf(setting)} VALUE`)
            .join(' ')}`,
        ]),
  ];
};
