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
import { findLatest, pages } from '../../../shared/table/client.ts';
import { accountKey, accountListKey, hookKey, numberKey, platformKey } from '../../../shared/table/keys.ts';
import { putting, puttingNew, removing, transact, updating, type Write } from '../../../shared/table/transactions.ts';

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
    puttingNew({ ...accountKey(id), ...account }),
    listing(account),
    ...(draft.bot_number === undefined ? [] : [claiming(draft.bot_number, id)]),
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
    const item = await findLatest<AccountItem>(accountKey(id));
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
      changing(item, attributes),
      ...(number ? [claiming(number, id)] : []),
      ...(number === undefined ? [] : await releasing(item, number)),
      ...(name === undefined ? [] : [listing({ id, name })]),
      ...(platform === undefined ? [] : settingPlatform(id, platform)),
    ]);
    if (failed === undefined) return after(item, attributes);
    if (failed === 1 && number) throw numberTaken(number);
  }
  throw new Refusal(`Others change the account "${id}" at the same time. Try again in a moment.`);
};

/** What changes of an account; `null` takes it away. */
interface Attributes {
  name?: string;
  bot_number?: string | null;
  platform?: PlatformName | null;
}

/** Changes attributes of an account, within a transaction that fails if it is not as it was read. */
const changing = ({ pk, sk, version }: AccountItem, attributes: Attributes): Write => {
  const given = Object.entries(attributes);
  const set = given.filter(([, value]) => value !== null);
  const removed = given.filter(([, value]) => value === null);
  return updating({
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
const after = (item: AccountItem, { name, bot_number, platform }: Attributes): Account => {
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
const releasing = async ({ id, bot_number: number }: AccountItem, wanted: string | null): Promise<Write[]> => {
  if (number === undefined || number === wanted) return [];
  const owner = (await findLatest<NumberItem>(numberKey(number)))?.account;
  if (owner !== id) return [];
  return [releasingFrom(id, number)];
};

/** An account's platform with its settings and secrets, where it has one. 2 read units. */
export const findPlatform = async (account: string): Promise<AccountPlatform | undefined> => {
  const [item, hook] = await Promise.all([
    findLatest<PlatformItem>(platformKey(account)),
    findLatest<HookItem>(hookKey(account)),
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

export const listing = ({ id, name }: Pick<Account, 'id' | 'name'>): Write =>
  putting({ ...accountListKey(id), id, name });

/** The settings stand apart from the account, and the two kinds of them apart: fewer functions may read them. */
const settingPlatform = (account: string, platform: AccountPlatform | null): Write[] => {
  const withoutHook = removing(hookKey(account));
  if (platform === null) return [removing(platformKey(account)), withoutHook];
  const { name, settings, hook } = platform;
  return [
    putting<PlatformItem>({ ...platformKey(account), platform: name, settings }),
    hook === undefined ? withoutHook : putting<HookItem>({ ...hookKey(account), hook }),
  ];
};

/** Gives an account a number, within a transaction that fails if another account has it. */
const claiming = (number: string, account: string): Write => {
  const item: NumberItem = { ...numberKey(number), account };
  const condition = {
    ConditionExpression: 'attribute_not_exists(pk) OR account = :account',
    ExpressionAttributeValues: { ':account': account },
  };
  return { Put: { TableName: tableName(), Item: item, ...condition } };
};

/** Takes a number from an account, within a transaction that fails if the account does not have it. */
export const releasingFrom = (account: string, number: string): Write =>
  removing(numberKey(number), {
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
