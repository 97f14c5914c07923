/** Creates, changes and lists the accounts of businesses and vendors, for operators (spec §5). */

import {
  type Account,
  type AccountItem,
  findAccount,
  type NumberItem,
  toAccount,
} from '../../../shared/accounts/accounts.ts';
import type {
  HookItem,
  PlatformItem,
  PlatformName,
  PlatformSettings,
  PreviousSecret,
} from '../../../shared/accounts/platform-settings.ts';
import { timestamp } from '../../../shared/core/clock.ts';
import { APP_NETWORK } from '../../../shared/core/permissions.ts';
import { tableName } from '../../../shared/core/settings.ts';
import { getConsistent, pages } from '../../../shared/table/client.ts';
import { accountKey, accountListKey, hookKey, numberKey, platformKey } from '../../../shared/table/keys.ts';
import {
  deleteWrite,
  putIfAbsentWrite,
  putWrite,
  transact,
  updateWrite,
  type Write,
} from '../../../shared/table/transactions.ts';

/** A command that cannot be done. The message contains the reason and the remedy. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

const ACCOUNT_ID = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;

/**
 * Creates an account. The id is derived from the name unless given: at most 40 of a-z, 0-9 and hyphens.
 *
 * @throws Refusal — the id is taken, reserved or malformed, or the number belongs to another account's bot
 */
export const createAccount = async (draft: { name: string; id?: string; bot_number?: string }): Promise<Account> => {
  const id = draft.id ?? idOf(draft.name);
  if (!ACCOUNT_ID.test(id)) {
    throw new Refusal(`"${id}" cannot be an account's id: use 1 to 40 of a-z, 0-9 and hyphens, not at its ends.`);
  }
  if (id === APP_NETWORK) throw new Refusal(`"${APP_NETWORK}" is reserved for the app network.`);
  const account: Account = { ...draft, id, created: timestamp() };
  const [failed] = await transact([
    putIfAbsentWrite({ ...accountKey(id), ...account }),
    accountListWrite(account),
    ...(draft.bot_number === undefined ? [] : [claimNumberWrite(draft.bot_number, id)]),
  ]);
  if (failed === 2) throw numberTaken(account.bot_number);
  if (failed !== undefined) throw new Refusal(`The account "${id}" already exists. Choose another id.`);
  return account;
};

/** An account's chat platform, with its settings as the platform's `check` returns them. */
export interface AccountPlatform extends PlatformSettings {
  name: PlatformName;
  /** Secrets that were replaced lately, the newest first. */
  previous_secrets?: PreviousSecret[];
}

/** The changes to an account; `null` removes the bot's number or the platform. */
export interface AccountChange {
  name?: string;
  bot_number?: string | null;
  /** The platform, or a function of the current one. The function runs again if the account has changed in between. */
  platform?: AccountPlatform | null | ((current: AccountPlatform | undefined) => AccountPlatform | null);
}

/** Maximum number of attempts to change an account that other operators change at the same time. */
const UPDATE_ATTEMPTS = 20;

/**
 * Changes the given attributes of an account in one transaction. Concurrent changes take effect one after the other:
 * each is written on condition that the account is unchanged since it was read; otherwise, it is read again.
 *
 * @throws Refusal — no such account, the number belongs to another account's bot, or too many concurrent changes
 */
export const updateAccount = async (id: string, change: AccountChange): Promise<Account> => {
  for (let attempt = 1; attempt <= UPDATE_ATTEMPTS; attempt += 1) {
    const item = await getConsistent<AccountItem>(accountKey(id));
    if (item === undefined) throw noAccount(id);
    // Read after the account: a later change of the settings changes the account's version.
    const platform = typeof change.platform === 'function' ? change.platform(await findPlatform(id)) : change.platform;
    const attributes: Attributes = {
      ...(change.name && { name: change.name }),
      ...(change.bot_number !== undefined && { bot_number: change.bot_number }),
      ...(platform !== undefined && { platform: platform?.name ?? null }),
    };
    const { bot_number: number, name } = attributes;
    const [failed] = await transact([
      accountChangeWrite(item, attributes),
      ...(number ? [claimNumberWrite(number, id)] : []),
      ...(number === undefined ? [] : await releaseWrites(item, number)),
      ...(name === undefined ? [] : [accountListWrite({ id, name })]),
      ...(platform === undefined ? [] : platformSettingsWrites(id, platform)),
    ]);
    if (failed === undefined) return accountAfter(item, attributes);
    if (failed === 1 && number) throw numberTaken(number);
  }
  throw new Refusal(`Other commands are changing the account "${id}". Retry in a moment.`);
};

/** The attributes of an account's item that change; `null` removes one. */
interface Attributes {
  name?: string;
  bot_number?: string | null;
  platform?: PlatformName | null;
}

/** Changes attributes of an account, in a transaction that fails if the account has changed since it was read. */
const accountChangeWrite = ({ pk, sk, version }: AccountItem, attributes: Attributes): Write => {
  const given = Object.entries(attributes);
  const set = given.filter(([, value]) => value !== null);
  const removed = given.filter(([, value]) => value === null);
  return updateWrite({
    Key: { pk, sk },
    UpdateExpression: [
      'ADD #version :one',
      ...(set.length > 0 ? [`SET ${set.map(([name]) => `#${name} = :${name}`).join(', ')}`] : []),
      ...(removed.length > 0 ? [`REMOVE ${removed.map(([name]) => `#${name}`).join(', ')}`] : []),
    ].join(' '),
    ConditionExpression: `attribute_exists(pk) AND ${version === undefined ? 'attribute_not_exists(#version)' : '#version = :version'}`,
    ExpressionAttributeNames: {
      '#version': 'version',
      ...Object.fromEntries(given.map(([name]) => [`#${name}`, name])),
    },
    ExpressionAttributeValues: {
      ':one': 1,
      ...(version !== undefined && { ':version': version }),
      ...Object.fromEntries(set.map(([name, value]) => [`:${name}`, value])),
    },
  });
};

/** The account after the change. */
const accountAfter = (item: AccountItem, { name, bot_number, platform }: Attributes): Account => {
  const { bot_number: number, platform: before, ...rest } = toAccount(item);
  const wanted = bot_number === undefined ? number : bot_number;
  const platformName = platform === undefined ? before : platform;
  return {
    ...rest,
    ...(name !== undefined && { name }),
    ...(platformName && { platform: platformName }),
    ...(wanted && { bot_number: wanted }),
  };
};

/** Releases the account's previous number, unless it belongs to another account. */
const releaseWrites = async ({ id, bot_number: number }: AccountItem, wanted: string | null): Promise<Write[]> => {
  if (number === undefined || number === wanted) return [];
  const owner = (await getConsistent<NumberItem>(numberKey(number)))?.account;
  if (owner !== id) return [];
  return [releaseNumberWrite(id, number)];
};

/** An account's platform with its settings and secrets; undefined if it has none. 2 read units. */
export const findPlatform = async (account: string): Promise<AccountPlatform | undefined> => {
  const [item, hook] = await Promise.all([
    getConsistent<PlatformItem>(platformKey(account)),
    getConsistent<HookItem>(hookKey(account)),
  ]);
  if (item === undefined) return undefined;
  const { platform: name, settings, previous_secrets } = item;
  return { name, settings, ...(hook && { hook: hook.hook }), ...(previous_secrets && { previous_secrets }) };
};

/** An account. @throws Refusal — no such account */
export const showAccount = async (id: string): Promise<Account> => {
  const account = await findAccount(id);
  if (account === undefined) throw noAccount(id);
  return account;
};

/** All accounts with their names, by id. */
export const listAccounts = async (): Promise<Pick<Account, 'id' | 'name'>[]> => {
  const accounts: Pick<Account, 'id' | 'name'>[] = [];
  for await (const items of pages<AccountItem>({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': accountListKey('').pk },
    ConsistentRead: true,
  })) {
    accounts.push(...items.map(({ id, name }) => ({ id, name })));
  }
  return accounts;
};

export const accountListWrite = ({ id, name }: Pick<Account, 'id' | 'name'>): Write =>
  putWrite({ ...accountListKey(id), id, name });

/** Settings and inbound secrets have rows of their own, so that fewer functions may read them. */
const platformSettingsWrites = (account: string, platform: AccountPlatform | null): Write[] => {
  const withoutHook = deleteWrite(hookKey(account));
  if (platform === null) return [deleteWrite(platformKey(account)), withoutHook];
  const { name, settings, hook, previous_secrets } = platform;
  return [
    putWrite<PlatformItem>({
      ...platformKey(account),
      platform: name,
      settings,
      ...(previous_secrets && { previous_secrets }),
    }),
    hook === undefined ? withoutHook : putWrite<HookItem>({ ...hookKey(account), hook }),
  ];
};

/** Gives an account a number, in a transaction that fails if another account owns the number. */
const claimNumberWrite = (number: string, account: string): Write => {
  const item: NumberItem = { ...numberKey(number), account };
  const condition = {
    ConditionExpression: 'attribute_not_exists(pk) OR account = :account',
    ExpressionAttributeValues: { ':account': account },
  };
  return { Put: { TableName: tableName(), Item: item, ...condition } };
};

/** Releases an account's number, in a transaction that fails if the account does not own the number. */
export const releaseNumberWrite = (account: string, number: string): Write =>
  deleteWrite(numberKey(number), {
    ConditionExpression: 'account = :account',
    ExpressionAttributeValues: { ':account': account },
  });

const noAccount = (id: string): Refusal => new Refusal(`There is no account "${id}". "account list" shows them all.`);

const numberTaken = (number: string | undefined): Refusal =>
  new Refusal(`The number ${number} belongs to another account's bot. "number check ${number}" shows whose.`);

/** The id for a name: "Acme Research" becomes "acme-research". */
const idOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replaceAll(/^-|-$/g, '');
