/** `operator app-network …`: where a deployed stack sends messages, and the secret that signs them. */

import { GetSecretValueCommand, PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { Command } from 'commander';
import * as v from 'valibot';
import { type AppNetworkCredentials, appNetworkCredentials } from '../../../shared/destinations/app-network.ts';
import { newSigningSecret } from '../../../shared/destinations/signing-secrets.ts';
import { destinationUrl } from '../../../shared/validation/schemas.ts';
import { noteChanges } from '../history/record.ts';
import { fields, printResult } from '../output.ts';
import { UserError } from '../queries/accounts-admin.ts';
import { deployment } from '../target.ts';
import { confirm } from '../terminal/confirm.ts';
import { ATTEMPTS } from '../terminal/retries.ts';
import { examples } from '../usage.ts';

/** Stricter than what functions accept: the local stack has other URLs. */
const given = v.object({ ...appNetworkCredentials.entries, url: destinationUrl });

interface Given {
  url?: string;
  secret?: string;
  dropPrevious?: true;
}

export const addAppNetworkCommands = (program: Command): void => {
  const appNetwork = program
    .command('app-network')
    .description('Where a deployed stack sends messages to users, and the secret that signs them.')
    .addHelpText('after', examples('app-network show --stack business-api-production'));

  appNetwork
    .command('show')
    .description('Shows the URL, and whether a replaced secret also signs. It shows no secret.')
    .addHelpText('after', examples('app-network show --stack business-api-production'))
    .action(async (_options: object, command: Command) => {
      printShown(command, await read());
    });

  appNetwork
    .command('set')
    .description(
      'Sets the URL, the secret, or both. A replaced secret also signs, until --drop-previous. Functions use the change within five minutes.',
    )
    .option('--url <url>', 'the https URL of the app network (default: unchanged)')
    .option(
      '--secret <secret>',
      "the signing secret: whsec_ and 24 to 64 bytes in base64 (default: unchanged; if there is none, or for '', a new one, which is shown once)",
    )
    .option('--drop-previous', 'the replaced secret no longer signs')
    .addHelpText(
      'after',
      examples(
        'app-network set --url https://app.example.com/messages --stack business-api-production',
        "app-network set --secret '' --stack business-api-production",
        'app-network set --drop-previous --stack business-api-production',
      ),
    )
    .action(async (options: Given, command: Command) => {
      const before = await read();
      const after = changed(before, options);
      await confirmChange(command, before, after);
      await write(after);
      noteChanges(`Sends messages to ${after.url}${after.secret === before?.secret ? '' : ', with a new secret'}.`);
      printShown(command, after, options.secret ? undefined : newIn(before, after));
    });
};

/** The secret of the change, if it was made here. */
const newIn = (before: AppNetworkCredentials | undefined, { secret }: AppNetworkCredentials): string | undefined =>
  secret === before?.secret ? undefined : secret;

/**
 * The credentials after a change.
 *
 * @throws UserError — nothing is given, there is no URL yet, or a value is invalid
 */
const changed = (
  before: AppNetworkCredentials | undefined,
  { url = before?.url, secret, dropPrevious }: Given,
): AppNetworkCredentials => {
  if (url === undefined) throw new UserError('The app network has no URL yet: give it with --url.');
  const next = secret || (secret === '' || before === undefined ? newSigningSecret() : before.secret);
  const previous = before !== undefined && before.secret !== next ? before.secret : before?.previous_secret;
  const { success, output, issues } = v.safeParse(given, {
    url: url.trim(),
    secret: next.trim(),
    ...(previous !== undefined && !dropPrevious && { previous_secret: previous }),
  });
  if (success) return output;
  throw new UserError(issues.map((issue) => `--${v.getDotPath(issue)} ${issue.message}`).join('; '));
};

/** Asks before messages go to another place, or a receiver must know another secret. */
const confirmChange = async (
  command: Command,
  before: AppNetworkCredentials | undefined,
  after: AppNetworkCredentials,
): Promise<void> => {
  if (before === undefined) return;
  const sentences = [
    ...(after.url === before.url ? [] : [`Sends messages to ${after.url} instead of ${before.url}.`]),
    ...(after.secret === before.secret ? [] : ['Replaces the secret; both sign until --drop-previous.']),
    ...(before.previous_secret !== undefined && after.previous_secret !== before.previous_secret
      ? ['The secret that was replaced before no longer signs.']
      : []),
  ];
  if (sentences.length === 0) throw new UserError('Nothing would change: give --url, --secret or --drop-previous.');
  await confirm(command, sentences.join(' '));
};

const printShown = (command: Command, present: AppNetworkCredentials | undefined, secret?: string): void => {
  if (present === undefined) {
    printResult(command, { url: null }, 'The app network is not set: messages are accepted, and wait.');
    return;
  }
  const { url, previous_secret: previous } = present;
  printResult(
    command,
    { url, previous_secret_signs: previous !== undefined, ...(secret !== undefined && { secret }) },
    fields({
      URL: url,
      'Previous secret': previous === undefined ? undefined : 'also signs',
      'Secret (shown once)': secret,
    }),
  );
};

/** The ARN of the secret. @throws UserError — there is no stack in AWS, or its credentials may not be used */
const secretId = (): string => {
  const { runs, appNetworkSecret } = deployment();
  if (runs === 'here') throw new UserError('The local stack has a simulated app network: name a stack with --stack.');
  if (appNetworkSecret === undefined) throw new UserError('Name the stack with --stack instead of --table.');
  return appNetworkSecret;
};

/** What is set; undefined if nothing is, or nothing that functions can use. */
const read = async (): Promise<AppNetworkCredentials | undefined> => {
  const { SecretString = '' } = await call('secretsmanager:GetSecretValue', (client) =>
    client.send(new GetSecretValueCommand({ SecretId: secretId() })),
  );
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), appNetworkCredentials), SecretString);
  return success ? output : undefined;
};

const write = (credentials: AppNetworkCredentials): Promise<unknown> =>
  call('secretsmanager:PutSecretValue', (client) =>
    client.send(new PutSecretValueCommand({ SecretId: secretId(), SecretString: JSON.stringify(credentials) })),
  );

/** @throws UserError — the credentials lack the right */
const call = async <Result>(
  right: string,
  make: (client: SecretsManagerClient) => Promise<Result>,
): Promise<Result> => {
  const client = new SecretsManagerClient({ maxAttempts: ATTEMPTS });
  try {
    return await make(client);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'AccessDeniedException') throw error;
    throw new UserError(`These credentials may not use the secret of the app network (${right}).`);
  } finally {
    client.destroy();
  }
};
