/** The options of `operator account update` for the webhook that is notified when consent ends. */
import { type Command, Option } from 'commander';
import { type ConsentWebhook, findConsentWebhook, UserError } from '../queries/accounts-admin.ts';
import {
  alsoSignsUntil,
  PREVIOUS_UNTIL,
  pasted,
  type Settings,
  settingsFrom,
  type Wording,
  withoutSecrets,
} from './platform.ts';

const wording: Wording = {
  subject: 'The webhook for ends of consent',
  optionOf: (setting) => (setting === 'url' ? '--consent-webhook' : `--consent-webhook-${setting}`),
};

/** The command-line option of one of its settings. */
export const { optionOf: consentOptionOf } = wording;

const GROUP = 'Ends of consent:';

/** Adds the options to a command. */
export const addConsentWebhookOptions = (command: Command): void => {
  command
    .addOption(
      new Option(
        '--consent-webhook <url>',
        'the https URL that is notified when consent ends (default: the plain webhook of the account, if it has one)',
      ).helpGroup(GROUP),
    )
    .addOption(
      new Option(
        '--consent-webhook-secret <secret>',
        "the secret that signs these notifications, as --platform-secret of a webhook (default: unchanged; if there is none, or for '', a new one, which is shown once)",
      ).helpGroup(GROUP),
    )
    .addOption(new Option('--no-consent-webhook', 'remove this webhook').helpGroup(GROUP));
};

/** The options of a command line: `null` removes the webhook; undefined if there are none. */
export const consentWebhookGivenIn = (command: Command): Settings | null | undefined => {
  const { consentWebhook: url, consentWebhookSecret: secret } = command.opts<{
    consentWebhook?: string | false;
    consentWebhookSecret?: string;
  }>();
  if (url === false) {
    if (secret !== undefined) command.error('error: --no-consent-webhook takes no secret');
    return null;
  }
  if (url === undefined && secret === undefined) return undefined;
  return { ...(url !== undefined && { url: pasted(url) }), ...(secret !== undefined && { secret: pasted(secret) }) };
};

/**
 * The webhook after the change. Settings that are not given stay unchanged; a missing secret is generated.
 *
 * @throws UserError — there is no webhook and no URL is given, or a setting is invalid
 */
export const consentWebhookFrom = (
  account: string,
  current: ConsentWebhook | undefined,
  given: Settings,
): ReturnType<typeof settingsFrom> => {
  if (current === undefined && given.url === undefined) {
    throw new UserError(
      `Account "${account}" has no webhook for ends of consent yet. Set its URL with --consent-webhook.`,
    );
  }
  return settingsFrom('webhook', current && { name: 'webhook', ...current }, given, wording);
};

/** The settings without secrets, by name. */
export const consentWebhookSettings = async (account: string): Promise<Settings> => {
  const set = await findConsentWebhook(account);
  return set === undefined ? {} : withoutSecrets({ name: 'webhook', ...set });
};

/** Settings with their labels. */
export const consentWebhookInWords = ({ url, secret, [PREVIOUS_UNTIL]: until }: Settings) => ({
  'Consent webhook': url,
  'Consent webhook secret': secret,
  'Its previous secret': until === undefined ? undefined : alsoSignsUntil(until),
});
