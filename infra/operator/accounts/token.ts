/** `operator token …`: accounts' tokens for the API. */

import type { Command } from 'commander';
import * as v from 'valibot';
import type { TokenRecord } from '../../../shared/accounts/token-records.ts';
import { now } from '../../../shared/core/clock.ts';
import { type Permission, permissions } from '../../../shared/core/permissions.ts';
import { atMost, idOfAnything, visibleText } from '../../../shared/validation/schemas.ts';
import { noteChanges, printChange } from '../history/record.ts';
import { type Cell, columns, minute, printNote, printResult, shownDay, tinted } from '../output.ts';
import { findTokenRecord, issueToken, listTokens, revokeToken } from '../queries/tokens-admin.ts';
import { confirm } from '../terminal/confirm.ts';
import { examples, moment, readBy } from '../usage.ts';

interface Draft {
  permissions: Permission[];
  label?: string;
  expires?: number;
}

export const addTokenCommands = (program: Command): void => {
  const token = program
    .command('token')
    .description('Tokens of accounts for the API.')
    .addHelpText('after', examples('token list acme-research'));

  token
    .command('issue')
    .description('Issues a token and prints it on stdout, once: only its hash is stored. It works at once.')
    .argument('<account>', "the account's id; app-network, for the servers of the mobile app")
    .requiredOption('--permissions <list>', `permissions, of ${permissions.join(',')}`, permissionsOf(permissions))
    .option('--label <text>', 'a description for people, of at most 100 characters', readLabel)
    .option('--expires <when>', 'expiry: 90d (days from now), 2027-01-31 (00:00 UTC), or a full ISO time', readExpiry)
    .addHelpText(
      'after',
      examples(
        'token issue acme-research --permissions profilers,stats --label "Reporting"',
        'token issue acme-research --permissions bridge --expires 2027-01-31T12:00:00Z',
        'token issue app-network --permissions app',
      ),
    )
    .action(async (account: string, { label = '', ...draft }: Draft, command: Command) => {
      const { token: issued, record } = await issueToken(account, { label, ...draft });
      noteChanges(`Issued the token ${record.id}: ${record.permissions.join(', ')}; ${state(record, (time) => time)}.`);
      printResult(command, { token: issued, ...record }, issued);
      printNote(`Token ${record.id} of "${account}": ${record.permissions.join(', ')}; ${state(record, minute)}.`);
      printNote('Copy it now: it will not be shown again.');
    });

  token
    .command('list')
    .description("Lists the records of an account's tokens, including revoked tokens, oldest first.")
    .argument('<account>', "the account's id")
    .addHelpText('after', examples('token list acme-research'))
    .action(async (account: string, _options: object, command: Command) => {
      const records = await listTokens(account);
      printResult(command, records, tokenTable(records));
    });

  token
    .command('revoke')
    .description(
      'Revokes a token permanently: it stops working within 60 s. The command asks before. Repeating it changes nothing.',
    )
    .argument('<account>', "the account's id")
    .argument('<token-id>', 'the id that "token list" shows', readBy(idOfAnything))
    .addHelpText('after', examples('token revoke acme-research 0199a3f2-7c4e-7d10-9b1a-5f0c2e8d4b6a'))
    .action(async (account: string, id: string, _options: object, command: Command) => {
      const found = await findTokenRecord(account, id);
      if (found.revoked === undefined) {
        const { last_four, label, permissions } = found;
        await confirm(
          command,
          `Revokes the token …${last_four}${label && ` (${label})`} of "${account}" permanently: ${permissions.join(', ')}. It stops working within 60 s.`,
        );
      }
      const record = await revokeToken(account, id);
      printChange(command, record, `Token ${id} of "${account}" is revoked: it stops working within 60 s.`);
    });
};

/** A table of token records. */
export const tokenTable = (records: TokenRecord[]): string =>
  records.length === 0
    ? 'There are no tokens.'
    : columns(
        ['TOKEN ID', 'ENDS IN', 'LABEL', 'PERMISSIONS', 'CREATED', 'STATE'],
        records.map((record) => [
          record.id,
          `…${record.last_four}`,
          record.label,
          record.permissions.join(','),
          shownDay(record.created),
          stateCell(record),
        ]),
      );

const state = ({ expires, revoked }: TokenRecord, format: (time: string) => string): string => {
  if (revoked !== undefined) return `revoked ${format(revoked)}`;
  if (expires === undefined) return 'works until revoked';
  return `${Date.parse(expires) <= now() ? 'expired' : 'works until'} ${format(expires)}`;
};

/** A token's state, dim if the token no longer works. */
const stateCell = (record: TokenRecord): Cell => {
  const words = state(record, shownDay);
  return words.startsWith('works') ? words : tinted('dim', words);
};

/** A parser for lists of these permissions. It collects the lists of a repeated option into one. */
export const permissionsOf = (known: readonly Permission[]) => {
  const oneList = readBy(
    v.pipe(
      v.string(),
      v.transform((list) => list.split(',').map((item) => item.trim())),
      v.array(v.picklist(known, `must be a list of ${known.join(', ')}, with commas between`)),
    ),
  );
  return (list: string, before: Permission[] = []): Permission[] => [...before, ...oneList(list)];
};

/** The history shows it, and each request carries it. */
export const readLabel = readBy(v.pipe(visibleText, atMost(100)));

const DAY = 86_400_000;

const days = v.pipe(
  v.string(),
  v.regex(/^[0-9]{1,5}d$/),
  v.transform((text) => now() + Number.parseInt(text, 10) * DAY),
);

/** Returns milliseconds since 1970. */
const readExpiry = readBy(v.union([days, moment], 'must be like 90d, 2027-01-31 or 2027-01-31T12:00:00Z'));
