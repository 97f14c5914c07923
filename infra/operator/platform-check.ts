/** `operator platform …`: whether an account's chat platform accepts requests. */
import type { Command } from 'commander';
import { post } from '../../shared/outbound/http-client.ts';
import { DeliveryError } from '../../shared/outbound/request.ts';
import { platforms } from '../../shared/platforms/registry.ts';
import { answer, fields, tinted } from './output.ts';
import { faultsIn } from './platform.ts';
import { findPlatform, Refusal, showAccount } from './queries/accounts-admin.ts';
import { examples } from './usage.ts';

export const addPlatformCommands = (program: Command): void => {
  const platform = program
    .command('platform')
    .description("Accounts' chat platforms.")
    .addHelpText('after', examples('platform check acme-research'));

  platform
    .command('check')
    .description(
      `Calls an account's chat platform as the service would, from this machine, and says whether its settings are good.

The call changes nothing on the other side: a chat platform receives an empty message, which it rejects; a webhook {"check":{}}.`,
    )
    .argument('<account>', "the account's id")
    .addHelpText('after', examples('platform check acme-research'))
    .action(async (account: string, _options: object, command: Command) => {
      const checked = await check(account);
      answer(
        command,
        checked,
        fields({
          Account: account,
          Platform: checked.platform,
          Address: checked.url,
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
  /** None, where its settings name none that may be called. */
  url?: string;
  /** None, where there was no answer. */
  status?: number;
  /** What is wrong, and what to look at. */
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
  const probe = platforms[set.name].probe(set.settings);
  if (probe === undefined) return { ...about, fault: faultsIn(set.name, set.settings).join(' ') };
  const { request } = probe;
  const target = { ...about, url: request.url };
  try {
    const { status, body } = await post(request);
    const fault = probe.problem(status, body);
    return { ...target, status, ...(fault !== undefined && { fault }) };
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error;
    return { ...target, fault: WHY[error.reason] };
  }
};

const WHY: Record<DeliveryError['reason'], string> = {
  timeout: 'There was no response within 10 seconds.',
  no_connection: 'It cannot be reached. Check the URL and the certificate.',
  invalid_response: 'Its response is not valid HTTP. Check the server, or a proxy before it.',
  address_not_public: 'Its IP address is not public, so the service would not call it.',
  address_not_https: 'Its URL must begin with https.',
  not_set_up: 'Its settings are missing.',
};
