/** `operator platform …`: tests the settings of an account's chat platform. */
import type { Command } from 'commander';
import { post } from '../../../shared/outbound/http-client.ts';
import { DeliveryError } from '../../../shared/outbound/request.ts';
import { platforms } from '../../../shared/platforms/registry.ts';
import { fields, printResult, tinted } from '../output.ts';
import { findPlatform, Refusal, showAccount } from '../queries/accounts-admin.ts';
import { examples } from '../usage.ts';
import { settingErrors } from './platform.ts';

export const addPlatformCommands = (program: Command): void => {
  const platform = program
    .command('platform')
    .description("Accounts' chat platforms.")
    .addHelpText('after', examples('platform check acme-research'));

  platform
    .command('check')
    .description(
      `Sends a test request from this machine to an account's chat platform, and reports whether its settings work.

The request changes nothing on the other side: RapidPro and Turn receive an empty message, which they reject; a webhook receives {"check":{}}.`,
    )
    .argument('<account>', "the account's id")
    .addHelpText('after', examples('platform check acme-research'))
    .action(async (account: string, _options: object, command: Command) => {
      const checked = await check(account);
      printResult(
        command,
        checked,
        fields({
          Account: account,
          Platform: checked.platform,
          URL: checked.url,
          Response: checked.status === undefined ? 'none' : `status ${checked.status}`,
          Result: checked.fault === undefined ? tinted('green', 'good') : tinted('red', checked.fault),
        }),
      );
      if (checked.fault !== undefined) process.exitCode = 1;
    });
};

interface Checked {
  account: string;
  platform: string;
  /** Missing if the settings are invalid. */
  url?: string;
  /** Missing if there was no response. */
  status?: number;
  /** The problem, with the remedy. */
  fault?: string;
}

const check = async (account: string): Promise<Checked> => {
  const [set] = await Promise.all([findPlatform(account), showAccount(account)]);
  if (set === undefined) {
    throw new Refusal(
      `Account "${account}" has no platform yet: set it with "account update ${account} --platform …".`,
    );
  }
  const about = { account, platform: set.name };
  const probe = platforms[set.name].probe(set.settings, set.previous_secrets);
  if (probe === undefined) return { ...about, fault: settingErrors(set.name, set.settings).join(' ') };
  const { request } = probe;
  const target = { ...about, url: request.url };
  try {
    const { status, body } = await post(request);
    const fault = probe.problem(status, body);
    return { ...target, status, ...(fault !== undefined && { fault }) };
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error;
    return { ...target, fault: FAULTS[error.reason] };
  }
};

const FAULTS: Record<DeliveryError['reason'], string> = {
  timeout: 'There was no response within 10 seconds.',
  no_connection: 'The server cannot be reached. Check the URL and the certificate.',
  invalid_response: 'The response is not valid HTTP. Check the server, or a proxy before it.',
  address_not_public: "The server's IP address is not public, so the service would not call it.",
  address_not_https: 'The URL must begin with https.',
  not_set_up: 'The settings are missing.',
};
