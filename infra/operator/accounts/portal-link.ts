/** `operator portal-link`: a link with which a person of an account signs in to the portal. */
import type { Command } from 'commander';
import { portalPermissions } from '../../../shared/accounts/portal-codes.ts';
import { timestampOf } from '../../../shared/core/clock.ts';
import { CODE_MINUTES, SESSION_HOURS } from '../../../shared/core/lifetimes.ts';
import type { Permission } from '../../../shared/core/permissions.ts';
import { noteChanges } from '../history/record.ts';
import { printNote, printResult } from '../output.ts';
import { UserError } from '../queries/accounts-admin.ts';
import { issuePortalCode } from '../queries/portal-codes.ts';
import { deployment } from '../target.ts';
import { examples } from '../usage.ts';
import { permissionsOf, readLabel } from './token.ts';

interface Draft {
  permissions?: Permission[];
  label: string;
}

export const addPortalLinkCommand = (program: Command): void => {
  program
    .command('portal-link')
    .description(
      `Prints a link with which a person of an account signs in to the portal, once and within ${CODE_MINUTES} minutes. Send it to that person only.`,
    )
    .argument('<account>', "the account's id")
    .option(
      '--permissions <list>',
      `what the person may do, of ${portalPermissions.join(',')} (default: all of these)`,
      permissionsOf(portalPermissions),
    )
    .option('--label <text>', 'the name of the session in lists and in the history', readLabel, 'portal')
    .addHelpText(
      'after',
      examples(
        'portal-link acme-research',
        'portal-link acme-research --permissions stats,messages --label "Ben, support"',
      ),
    )
    .action(async (account: string, { permissions: given = portalPermissions, label }: Draft, command: Command) => {
      const { hosts } = deployment();
      if (hosts === undefined) {
        throw new UserError('A table has no portal: name its stack with --stack instead of --table.');
      }
      const { code, permissions, expires } = await issuePortalCode({ account, label, permissions: given });
      noteChanges(`Made a link that works until ${timestampOf(expires)}: ${permissions.join(', ')}.`);
      const url = `${hosts.base}/portal#code=${code}`;
      printResult(command, { url, account, label, permissions, expires: timestampOf(expires) }, url);
      printNote(
        `It works once, within ${CODE_MINUTES} minutes. The session then lasts ${SESSION_HOURS} hours: ${permissions.join(', ')}.`,
      );
    });
};
