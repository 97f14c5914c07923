/**
 * The record of what operators did: a row for each command that changes something or reads personal data, with the caller,
 * the command, its arguments without secrets and numbers, and how it ended. It is written before the command begins, so a
 * killed command is recorded too, and a command that cannot be recorded changes nothing.
 */
import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { stripVTControlCharacters } from 'node:util';
import type { Command } from 'commander';
import { operationKey } from '../../../shared/accounts/entities.ts';
import { now, sortableTime, timestamp, timestampOf } from '../../../shared/core/clock.ts';
import { OPERATION_DAYS } from '../../../shared/core/lifetimes.ts';
import { documents, put } from '../../../shared/table/client.ts';
import type { Key } from '../../../shared/table/keys.ts';
import { callAws, elementsIn } from '../health/aws.ts';
import { masked, printResult } from '../output.ts';
import { UserError } from '../queries/accounts-admin.ts';
import { deployment } from '../target.ts';
import { type Kind, kinds } from './kinds.ts';

export interface Operation {
  created: string;
  /** The ARN of the caller in AWS; on the local stack, the user of this machine. */
  who: string;
  /** The words of the command, its arguments and its options. */
  command: string;
  kind: Kind;
  /** The account that the arguments name, or that the command created. */
  account?: string | undefined;
  /** What the command asked to confirm. */
  asked?: string | undefined;
  /** What it has changed; also that it has changed nothing. */
  changes?: string | undefined;
  /** How it ended: `began` until it ends; `succeeded`, the error, or the exit code of a command that did only a part. */
  result: string;
  /** When it ended. */
  ended?: string | undefined;
}

export interface OperationItem extends Key, Operation {
  expires_at: number;
}

let current: OperationItem | undefined;

/**
 * Records that a command begins, unless it only reads what is no personal data.
 *
 * @throws UserError — the record cannot be written
 */
export const beginOperation = async (command: Command): Promise<void> => {
  current = undefined;
  const name = nameOf(command);
  const kind = kinds[name];
  if (kind === undefined) throw new Error(`The command "${name}" has no line in history/kinds.ts.`);
  if (kind === 'reads') return;
  const began = now();
  const created = timestampOf(began);
  const item: OperationItem = {
    ...operationKey(created.slice(0, 7), `${sortableTime(began)}#${randomUUID()}`),
    created,
    who: await caller(),
    command: cleaned([name, ...argumentsOf(command), ...optionsOf(command)].join(' ')),
    kind,
    account: accountIn(command),
    result: 'began',
    expires_at: Math.floor(began / 1_000) + OPERATION_DAYS * 86_400,
  };
  try {
    await put(item);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'AccessDeniedException') throw error;
    throw new UserError(
      'Nothing was done, because it could not be recorded: these credentials may not write items of OPERATIONS#* (dynamodb:PutItem).',
    );
  }
  current = item;
};

/** Adds what the command asks to confirm. */
export const noteQuestion = (sentences: string): void => add('asked', sentences);

/**
 * Adds what the command has changed: sentences with ids and counts, never with a secret, a number or a text of a person. Each
 * command that changes something calls it, also to say that nothing was changed.
 *
 * @param account - the account that the command created
 */
export const noteChanges = (sentences: string, account?: string): void => {
  add('changes', sentences);
  if (current !== undefined && account !== undefined) current.account = cleaned(account);
};

const add = (name: 'asked' | 'changes', sentences: string): void => {
  if (current !== undefined) current[name] = [current[name] ?? [], cleaned(sentences)].flat().join(' ');
};

/** Prints the result of a change, and adds its words to the record. */
export const printChange = (command: Command, result: unknown, words: string): void => {
  noteChanges(words);
  printResult(command, result, words);
};

/**
 * Records how the command ended. A failure of the record itself is not one of the command, which has done its work.
 *
 * @throws UserError — the command has not failed, and should have called `noteChanges`
 */
export const endOperation = async (result: string): Promise<void> => {
  if (current === undefined) return;
  const item = { ...current, result: cleaned(result), ended: timestamp() };
  current = undefined;
  await put(item).catch(() => undefined);
  if (item.kind === 'changes' && item.changes === undefined && !result.startsWith('failed')) {
    throw new UserError(
      'The command has ended, but it does not record what it changed. This is a defect: please report it.',
    );
  }
};

/**
 * The words of a command, without the program's.
 *
 * @internal A test compares them with the kinds.
 */
export const nameOf = (command: Command): string => {
  const { parent } = command;
  return parent === null ? '' : `${nameOf(parent)} ${command.name()}`.trim();
};

/** Arguments and options whose values are secret, or texts of a person. */
const HIDDEN = /(secret|token|password|text|reason|property|media|hmac-secret)$/;

const argumentsOf = ({ registeredArguments, args }: Command): string[] =>
  args.map((value, index) => (HIDDEN.test(registeredArguments[index]?.name() ?? '') ? '***' : quoted(value)));

/** The options of the command line, without those of all commands. */
const optionsOf = (command: Command): string[] =>
  command.options.flatMap((option) => {
    const name = option.attributeName();
    // The account is among the arguments, too.
    const isArgument = command.registeredArguments.some((argument) => argument.name() === name);
    if (isArgument || command.getOptionValueSource(name) !== 'cli') return [];
    const [value, flag]: [unknown, string] = [command.getOptionValue(name), option.long ?? ''];
    if (typeof value === 'boolean') return value === option.negate ? [] : [flag];
    return option.negate ? [] : [flag, isHidden(flag, String(value)) ? '***' : quoted(String(value))];
  });

/** What should be a URL and is none may be a secret as a whole. */
const isHidden = (flag: string, value: string): boolean =>
  HIDDEN.test(flag) || (/(url|webhook)$/.test(flag) && !value.includes('://'));

const quoted = (value: string): string => (/\s/.test(value) || value === '' ? JSON.stringify(value) : value);

/** The account in the arguments or options of a command. `--id` names a new one. */
const accountIn = (command: Command): string | undefined => {
  const { account, id } = command.opts<{ account?: string; id?: string }>();
  const index = command.registeredArguments.findIndex((argument) => argument.name() === 'account');
  const named = account ?? id ?? command.args[index];
  return named === undefined ? undefined : cleaned(named);
};

/** Characters of a text. */
const LONGEST = 400;

/** A text without numbers of phones, secrets and control characters. Of URLs, it has only the host. */
export const cleaned = (text: string): string => {
  const safe = stripVTControlCharacters(text)
    .replaceAll(/\p{Cc}+/gu, ' ')
    .replaceAll(/([a-z][a-z\d+.-]*:\/\/)(?:[^/\s"']*@)?([^/?#\s"']*)[^\s"']*/gi, '$1$2/…')
    .replaceAll(/whsec_[\w+/=]*/g, '***')
    .replaceAll(/(?<![\w-])\+?\d{7,}(?![\w-])/g, (number) => masked(number));
  return safe.length > LONGEST ? `${safe.slice(0, LONGEST)}…` : safe;
};

/** Who runs the command. */
const caller = async (): Promise<string> => {
  if (deployment().runs === 'here') return `${userInfo().username} on this machine`;
  const { region, credentials } = documents.config;
  const form = { Action: 'GetCallerIdentity', Version: '2011-06-15' };
  const arn = await callAws({ region, credentials }, { service: 'sts', form })
    .then((xml) => elementsIn(xml, 'Arn')[0])
    .catch(() => undefined);
  // Without a connection to STS. CloudTrail knows whose key it is.
  return arn ?? `access key ${(await credentials()).accessKeyId}`;
};
