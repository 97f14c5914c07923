/** `operator account pending-names`, `approve-name`, `reject-name`: names that businesses give themselves. */
import type { Command } from 'commander';
import type { NameDecision } from '../../../shared/accounts/accounts.ts';
import { printChange } from '../history/record.ts';
import { columns, printResult } from '../output.ts';
import { listAccounts, updateAccount } from '../queries/accounts-admin.ts';
import { examples } from '../usage.ts';

export const addNameCommands = (account: Command): void => {
  account
    .command('pending-names')
    .description(
      'Lists the names that businesses have asked for with PUT /v1/update. Users see the present name until "account approve-name".',
    )
    .addHelpText('after', examples('account pending-names'))
    .action(async (_options: object, command: Command) => {
      const pending = (await listAccounts()).filter(({ pending_name }) => pending_name !== undefined);
      const rows = pending.map(({ id, name, pending_name = '' }) => [id, name, pending_name]);
      const words = columns(['ID', 'NAME', 'PENDING NAME'], rows);
      printResult(command, pending, pending.length === 0 ? 'No name waits for a decision.' : words);
    });

  const decide = (decision: NameDecision['decision'], command: Command, words: (id: string, name: string) => string) =>
    command
      .argument('<account>', "the account's id")
      .argument('<name>', 'the pending name, as "account pending-names" shows it')
      .action(async (id: string, name: string, _options: object, run: Command) => {
        // The name is an argument, so that the business cannot replace it between the operator's look and the decision.
        const changed = await updateAccount(id, { decided_name: { name, decision } });
        printChange(run, changed, words(id, name));
      });

  decide(
    'approved',
    account
      .command('approve-name')
      .description(
        'Approves a pending name: from now on, users see it. Check first that the business may use the name.',
      )
      .addHelpText('after', examples('account approve-name acme-research "Acme Bank"')),
    (id, name) => `Users see the account "${id}" as "${name}".`,
  );

  decide(
    'rejected',
    account
      .command('reject-name')
      .description('Rejects a pending name: users still see the present one. Tell the business why.')
      .addHelpText('after', examples('account reject-name acme-research "Another Bank"')),
    (id, name) => `The account "${id}" keeps its name; "${name}" is rejected.`,
  );
};
