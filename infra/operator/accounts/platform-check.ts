/** `operator platform …`: tests the settings of an account's chat platform. */

import type { Command } from 'commander';
import { ENDPOINTS } from '../../../shared/destinations/endpoint-settings.ts';
import { testPlatform } from '../connect/checks.ts';
import { fields, printResult, tinted } from '../output.ts';
import { findPlatform, showAccount, UserError } from '../queries/accounts-admin.ts';
import { examples } from '../usage.ts';

export const addPlatformCommands = (program: Command): void => {
  const platform = program
    .command('platform')
    .description("Accounts' chat platforms.")
    .addHelpText('after', examples('platform check acme-research'));

  platform
    .command('check')
    .description(
      `Sends a test request from this machine to an account's chat platform, and reports whether its settings work.

The request changes nothing on the other side: the platform receives an empty message, which it rejects; a webhook receives {"check":{}}.`,
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
          Fix: checked.fix,
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
  /** The cause of the problem, and the remedy. */
  fault?: string;
  fix?: string;
}

const check = async (account: string): Promise<Checked> => {
  const [set, { platform }] = await Promise.all([findPlatform(account), showAccount(account)]);
  if (platform === ENDPOINTS) {
    throw new UserError(
      `Account "${account}" manages its webhooks itself: it tests each with POST /v1/webhooks/{webhook_id}/test. "deliveries list ${account}" shows what they returned.`,
    );
  }
  if (set === undefined) {
    throw new UserError(
      `Account "${account}" has no platform yet: set it with "account update ${account} --platform …".`,
    );
  }
  const { url, status, fault } = await testPlatform(set);
  return {
    account,
    platform: set.name,
    ...(url !== undefined && { url }),
    ...(status !== undefined && { status }),
    ...(fault && { fault: fault.cause, fix: fault.fix }),
  };
};
