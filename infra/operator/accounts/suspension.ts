/** `operator account suspend` and `account resume`: stops an account for a time, without a loss. */
import type { Command } from 'commander';
import { timestamp } from '../../../shared/core/clock.ts';
import { inDays, RETRY_DAYS } from '../../../shared/core/lifetimes.ts';
import { APP_NETWORK } from '../../../shared/core/permissions.ts';
import { printChange } from '../history/record.ts';
import { count, printNote, second } from '../output.ts';
import { showAccount, UserError, updateAccount } from '../queries/accounts-admin.ts';
import { pendingConversations, resumeConversations } from '../queries/outbox-inspection.ts';
import { confirm } from '../terminal/confirm.ts';
import { examples } from '../usage.ts';

export const addSuspensionCommands = (account: Command): void => {
  account
    .command('suspend')
    .description(
      `Suspends an account: its tokens are rejected within 60 s, because authorizations are cached for so long, and nothing more is sent to users. Attempts that are under way may finish, at most 10 s later.

Pending messages and campaigns are held, and continue with "account resume". A message that has been pending for ${inDays(RETRY_DAYS)} fails when it is looked at. The account's platform still receives users' messages and states. The command asks before. Repeating it changes nothing.`,
    )
    .argument('<account>', "the account's id")
    .addHelpText('after', examples('account suspend acme-research'))
    .action(async (id: string, _options: object, command: Command) => {
      if (id === APP_NETWORK) throw new UserError('The app network cannot be suspended. Revoke its token instead.');
      const before = await showAccount(id);
      if (before.suspended !== undefined) {
        printChange(command, before, `Account "${id}" is suspended since ${second(before.suspended)}, unchanged.`);
        return;
      }
      const held = (await pendingConversations({ account: id, direction: 'app' })).length;
      await confirm(
        command,
        `Suspends "${id}": its tokens stop working within 60 s, and nothing more is sent to users. ${count(held)} conversations with pending messages are held.`,
      );
      const suspended = await updateAccount(id, { suspended: timestamp() });
      printChange(
        command,
        suspended,
        `Account "${id}" is suspended. Its tokens stop working within 60 s: authorizations are cached. "account resume" ends this.`,
      );
      if (suspended.platform !== undefined) {
        printNote(`Its platform "${suspended.platform}" still receives users' messages; --no-platform removes it.`);
      }
    });

  account
    .command('resume')
    .description(
      'Ends the suspension of an account: its tokens work again within 60 s, and its pending messages and campaigns continue within a minute. Repeating it changes nothing.',
    )
    .argument('<account>', "the account's id")
    .addHelpText('after', examples('account resume acme-research'))
    .action(async (id: string, _options: object, command: Command) => {
      const before = await showAccount(id);
      const resumed = before.suspended === undefined ? before : await updateAccount(id, { suspended: null });
      // Also after an interrupted command.
      const due = await resumeConversations(id);
      const words =
        before.suspended === undefined
          ? `Account "${id}" is not suspended, unchanged.`
          : `Account "${id}" works again within 60 s. ${count(due)} conversations continue within a minute.`;
      printChange(command, { ...resumed, resumed_conversations: due }, words);
    });
};
