/** Accounts of businesses and vendors, as operators open, change and list them (spec §5). */

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

/** Something that the operator asked for cannot be done; the message says why, and what to do instead. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

const ACCOUNT_ID = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;

/**
 * Opens an account. Its id is made of its name unless given: lower-case letters, digits and hyphens, at most 40.
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
  if (failed !== undefined) throw new Refusal(`There is an account "${id}" already. Choose another id.`);
  return account;
};

/** Which chat platform an account's users' messages go to, and its settings as its `check` answers them. */
export interface AccountPlatform extends PlatformSettings {
  name: PlatformName;
}

/** What is to change of an account; `null` takes its bot's number, or its platform, away. */
export interface AccountChange {
  name?: string;
  bot_number?: string | null;
  /** The platform, or what makes it of the current one; this runs again if somebody else changes the account meanwhile. */
  platform?: AccountPlatform | null | ((current: AccountPlatform | undefined) => AccountPlatform | null);
}

/** How often an account is read and written at most that others change at the same time. */
const UPDATE_ATTEMPTS = 20;

/**
 * Changes what is given of an account, all or nothing. Concurrent changes take effect one after the other: each is
 * written on condition that the account is as it was read, and otherwise reads it again.
 *
 * @throws Refusal — no such account, or the number belongs to another account's bot
 */
export const updateAccount = async (id: string, change: AccountChange): Promise<Account> => {
  for (let attempt = 1; attempt <= UPDATE_ATTEMPTS; attempt += 1) {
    const item = await getConsistent<AccountItem>(accountKey(id));
    if (item === undefined) throw noAccount(id);
    // After the account: settings that change later change its version.
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
  throw new Refusal(`Others change the account "${id}" at the same time. Retry in a moment.`);
};

/** What changes of an account; `null` takes it away. */
interface Attributes {
  name?: string;
  bot_number?: string | null;
  platform?: PlatformName | null;
}

/** Changes attributes of an account, within a transaction that fails if it is not as it was read. */
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

/** An account after such a change. */
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

/** Gives up the number that an account had before, unless it is another account's. */
const releaseWrites = async ({ id, bot_number: number }: AccountItem, wanted: string | null): Promise<Write[]> => {
  if (number === undefined || number === wanted) return [];
  const owner = (await getConsistent<NumberItem>(numberKey(number)))?.account;
  if (owner !== id) return [];
  return [releaseNumberWrite(id, number)];
};

/** An account's platform with its settings and secrets, where it has one. 2 read units. */
export const findPlatform = async (account: string): Promise<AccountPlatform | undefined> => {
  const [item, hook] = await Promise.all([
    getConsistent<PlatformItem>(platformKey(account)),
    getConsistent<HookItem>(hookKey(account)),
  ]);
  return item && { name: item.platform, settings: item.settings, ...(hook && { hook: hook.hook }) };
};

/** One account. @throws Refusal — no such account */
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

/** The settings stand apart from the account, and the two kinds of them apart: fewer functions may read them. */
const platformSettingsWrites = (account: string, platform: AccountPlatform | null): Write[] => {
  const withoutHook = deleteWrite(hookKey(account));
  if (platform === null) return [deleteWrite(platformKey(account)), withoutHook];
  const { name, settings, hook } = platform;
  return [
    putWrite<PlatformItem>({ ...platformKey(account), platform: name, settings }),
    hook === undefined ? withoutHook : putWrite<HookItem>({ ...hookKey(account), hook }),
  ];
};

/** Gives an account a number, within a transaction that fails if another account has it. */
const claimNumberWrite = (number: string, account: string): Write => {
  const item: NumberItem = { ...numberKey(number), account };
  const condition = {
    ConditionExpression: 'attribute_not_exists(pk) OR account = :account',
    ExpressionAttributeValues: { ':account': account },
  };
  return { Put: { TableName: tableName(), Item: item, ...condition } };
};

/** Takes a number from an account, within a transaction that fails if the account does not have it. */
export const releaseNumberWrite = (account: string, number: string): Write =>
  deleteWrite(numberKey(number), {
    ConditionExpression: 'account = :account',
    ExpressionAttributeValues: { ':account': account },
  });

const noAccount = (id: string): Refusal => new Refusal(`There is no account "${id}". "account list" shows them all.`);

const numberTaken = (number: string | undefined): Refusal =>
  new Refusal(`The number ${number} belongs to another account's bot. "number check ${number}" shows whose.`);

/** An id made of a name: "Acme Research" becomes "acme-research". */
const idOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replaceAll(/^-|-$/g, '');
