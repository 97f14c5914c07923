/** `operator user acknowledgements` and `user consent-record`: what businesses have to delete, and the records of consent. */
import { readFile } from 'node:fs/promises';
import { getSystemErrorMessage } from 'node:util';
import type { Command } from 'commander';
import * as v from 'valibot';
import { findAccount } from '../../../shared/accounts/accounts.ts';
import { now } from '../../../shared/core/clock.ts';
import { isPseudonym } from '../../../shared/core/ids.ts';
import { listConsentReceipts } from '../../../shared/user-data/consent-receipts.ts';
import { phoneNumber } from '../../../shared/validation/schemas.ts';
import { columns, count, masked, minute, printNote, printResult } from '../output.ts';
import { showAccount, UserError } from '../queries/accounts-admin.ts';
import { type OutstandingDeletion, outstandingDeletions } from '../queries/users-admin.ts';
import { examples, readBy } from '../usage.ts';
import { consentRecords, missingFields, operatorFacts, unknownProperties } from './consent-record.ts';

const DAY = 86_400_000;

/** Adds the commands about consent to `operator user`. */
export const addConsentCommands = (user: Command): void => {
  user
    .command('acknowledgements')
    .description(
      `Lists the deletions that businesses have not acknowledged, the oldest first: a user has withdrawn a consent, or it has expired, and the business still has to confirm with "POST /v1/user_data/{request_id}/deleted" that its copy is deleted.

Numbers are masked; --json prints them in full.`,
    )
    .option('--account <id>', "only this account's deletions")
    .addHelpText('after', examples('user acknowledgements', 'user acknowledgements --account acme-research'))
    .action(async ({ account }: { account?: string }, command: Command) => {
      // A mistyped account is an error, not an empty list.
      if (account !== undefined) await showAccount(account);
      const found = await outstandingDeletions(account);
      printResult(
        command,
        found.map((one) => ({ ...one, days: daysSince(one) })),
        found.length === 0 ? 'No deletion is outstanding.' : table(found),
      );
    });

  user
    .command('consent-record')
    .description(
      `Exports the consent receipts of a user as consent records in the structure of ISO/IEC TS 27560: JSON-LD with the Data Privacy Vocabulary. Values are not contained.

The service does not know all required fields, for example the privacy notice and the jurisdiction. The command lists those that are missing. --add reads them from a file, which the guide for operators describes.`,
    )
    .argument('<user>', 'the number in international format without +, or the pseudonym of a removed user', readPerson)
    .option('--add <file.json>', 'fields to add to the records')
    .addHelpText(
      'after',
      examples('user consent-record 27820000001 > consent.jsonld', 'user consent-record 27820000001 --add notice.json'),
    )
    .action(async (person: string, { add }: { add?: string }, command: Command) => {
      const facts = add === undefined ? undefined : await readFacts(add);
      const receipts = await listConsentReceipts(person);
      if (receipts.length === 0) throw new UserError(`No data of ${masked(person)} was released.`);
      const unknown = unknownProperties(receipts);
      if (unknown.length > 0) {
        throw new UserError(
          `It is unknown whether the user was asked for ${unknown.join(', ')}. Set MORE_PROPERTIES to the setting moreProperties of the stage, as JSON.`,
        );
      }
      const accounts = [...new Set(receipts.map(({ account }) => account))];
      const found = await Promise.all(accounts.map(findAccount));
      const names = new Map(found.flatMap((account) => (account ? [[account.id, account.name]] : [])));
      const document = consentRecords({ person, receipts, names, ...(facts && { facts }) });
      printResult(command, document, JSON.stringify(document, null, 2));
      const missing = missingFields(document);
      if (missing.length > 0) printNote(`Required fields are missing: ${missing.join(', ')}. Add them with --add.`);
      printNote('This is personal data. Store it where only authorized people have access.');
    });
};

const readPerson = readBy(
  v.union(
    [phoneNumber, v.pipe(v.string(), v.check(isPseudonym))],
    'must be a number of 7 to 15 digits, or a pseudonym that begins with erased-',
  ),
);

/** The fields of a file. @throws UserError — it cannot be read, is no JSON, or has other members */
const readFacts = async (path: string): Promise<v.InferOutput<typeof operatorFacts>> => {
  try {
    return v.parse(operatorFacts, JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    if (error instanceof SyntaxError) throw new UserError(`The file ${path} is not JSON.`);
    if (error instanceof v.ValiError) {
      const [issue] = error.issues;
      throw new UserError(`The file ${path} is invalid at ${v.getDotPath(issue) ?? 'its top'}: ${issue.message}.`);
    }
    if (!(error instanceof Error) || !('errno' in error) || typeof error.errno !== 'number') throw error;
    throw new UserError(`The file ${path} cannot be read: ${getSystemErrorMessage(error.errno)}.`);
  }
};

/** Whole days since a deletion is owed. */
const daysSince = ({ since }: OutstandingDeletion): number => Math.floor((now() - Date.parse(`${since}Z`)) / DAY);

const table = (found: OutstandingDeletion[]): string =>
  columns(
    ['SINCE', 'DAYS', 'ACCOUNT', 'REQUEST', 'USER', 'PROPERTIES'],
    found.map((one) => [
      minute(one.since),
      count(daysSince(one)),
      one.account,
      one.request_id,
      masked(one.phone_number),
      one.properties.join(', '),
    ]),
    ['DAYS'],
  );
