/** `operator account delete`: deletes a suspended account with all its data. */
import type { Command } from 'commander';
import { now } from '../../../shared/core/clock.ts';
import { BACKUP_DAYS, DELETION_MEMORY_DAYS, inDays } from '../../../shared/core/lifetimes.ts';
import { APP_NETWORK } from '../../../shared/core/permissions.ts';
import { noteChanges } from '../history/record.ts';
import { deleteBytes } from '../messages/media.ts';
import { count, fields, printNote, printResult } from '../output.ts';
import { progressBar } from '../progress.ts';
import { showAccount, UserError } from '../queries/accounts-admin.ts';
import { listMedia } from '../queries/media-admin.ts';
import { listTokens } from '../queries/tokens-admin.ts';
import { deleteAccount } from '../recovery/account-deletion.ts';
import { confirmByName } from '../terminal/confirm.ts';
import { examples } from '../usage.ts';

/**
 * Seconds from the suspension to the earliest deletion: cached authorizations end after 60 s, requests 30 s later, and
 * workers after 60 s.
 */
const REST_S = 180;

export const addDeletionCommand = (account: Command): void => {
  account
    .command('delete')
    .description(
      `Deletes an account permanently, in two steps. Suspend it first; three minutes later, when nothing is under way any more, this command deletes it.

It deletes the tokens, the platform with its secrets, the bot's number, pending messages and campaigns, messages with their log, jobs and counters, profilers with answers, user data requests with their values, consents, opt-outs, and media with their bytes. Receipts of consent stay, because users may ask who received their data.

The command asks for the account's id. It reads the whole table at least twice, for 1 read unit per 8 KB. If it is interrupted, repeat it. A restore of the table does not bring the account back; backups keep its data for ${inDays(BACKUP_DAYS)}. Its id cannot be used again for ${inDays(DELETION_MEMORY_DAYS)}.`,
    )
    .argument('<account>', "the account's id")
    .addHelpText('after', examples('account delete acme-research', 'account delete acme-research --yes'))
    .action(async (id: string, _options: object, command: Command) => {
      await requireSuspended(id);
      const [{ name }, tokens, media] = await Promise.all([showAccount(id), listTokens(id), listMedia(id)]);
      await confirmByName(
        command,
        `Deletes the account "${name}" (${id}) with all its data permanently: ${count(tokens.length)} tokens, ${count(media.length)} media, all messages, profilers and user data.`,
        id,
      );
      const bar = progressBar(command, '{read} items read, {removed} removed');
      bar.start(1, 0, { read: 0, removed: 0 });
      const removed = await deleteAccount(id, {
        deleteBytes,
        onProgress: (read, removed) => bar.update(0, { read: count(read), removed: count(removed) }),
      }).finally(() => bar.stop());
      const words = fields(Object.fromEntries(Object.entries(removed).map(([kind, number]) => [kind, count(number)])));
      noteChanges(`The account "${id}" is deleted.`);
      printResult(command, { account: id, removed }, `${words}\n\nThe account "${id}" is deleted.`);
      printNote(`Backups of the table keep its data for ${inDays(BACKUP_DAYS)}.`);
    });
};

/** @throws UserError — there is no such account, or it has not been suspended for long enough */
const requireSuspended = async (id: string): Promise<void> => {
  if (id === APP_NETWORK) throw new UserError('The app network cannot be deleted. Revoke its token instead.');
  const { suspended } = await showAccount(id);
  if (suspended === undefined) {
    throw new UserError(`The account "${id}" is not suspended. First run "account suspend ${id}".`);
  }
  const left = Math.ceil(REST_S - (now() - Date.parse(`${suspended}Z`)) / 1_000);
  if (left > 0) {
    throw new UserError(`Requests of the account "${id}" may still be under way. Repeat the command in ${left} s.`);
  }
};
