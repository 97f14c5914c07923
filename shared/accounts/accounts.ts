/** Accounts of businesses and vendors, and the tokens issued to them (spec §5). Written by operators only. */
import { newId, now, timestamp } from '../core/clock.ts';
import { APP_NETWORK, type Permission } from '../core/permissions.ts';
import { tableName } from '../core/settings.ts';
import type { HookItem } from '../platforms/inbound-secret.ts';
import type { PlatformSettings } from '../platforms/platform.ts';
import type { PlatformItem, PlatformName } from '../platforms/registry.ts';
import { findLatest, pages, putting, puttingNew, removing, transact, updating, type Write } from '../table/client.ts';
import {
  accountKey,
  accountListKey,
  accountTokenKey,
  hookKey,
  type Key,
  numberKey,
  platformKey,
  tokenKey,
} from '../table/keys.ts';
import { hashToken, mintToken, type TokenItem } from './tokens.ts';

export interface Account {
  id: string;
  name: string;
  /** Which chat platform its users' messages go to, where it has one. */
  platform?: PlatformName;
  /** The phone number of its bot, where it has one (spec §5, rule 2). */
  bot_number?: string;
  created: string;
}

/** What people may know of a token. */
export interface TokenRecord {
  id: string;
  label: string;
  permissions: Permission[];
  /** Its last four characters, to tell it from others. */
  last_four: string;
  created: string;
  /** When it stops working by itself. */
  expires?: string;
  /** When it was revoked. */
  revoked?: string;
}

interface AccountItem extends Key, Account {
  /** Counts changes of the account, its platform's settings and its number. Missing before the first change. */
  version?: number;
}

/** The owner of a bot's number. */
export interface NumberItem extends Key {
  account: string;
}

type TokenRecordItem = Key & TokenRecord & { sha256: string };

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

/**
 * The account with this id, as it is at this moment: who is notified of what is decided by it once, for good. 1 read
 * unit.
 */
export const findAccount = async (id: string): Promise<Account | undefined> => {
  const item = await findLatest<AccountItem>(accountKey(id));
  return item && toAccount(item);
};

/** The id of the account that a bot's number belongs to at this moment: numbers move. 1 read unit. */
export const accountOfBot = async (number: string): Promise<string | undefined> =>
  (await findLatest<NumberItem>(numberKey(number)))?.account;

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

/**
 * Issues a token. It is in the answer and nowhere else: only its hash is kept.
 *
 * @param draft.expires - when it stops working, in milliseconds since 1970; never, if missing
 * @throws Refusal — no such account, no or wrong permissions, or an expiry in the past
 */
export const issueToken = async (
  account: string,
  draft: { label: string; permissions: Permission[]; expires?: number },
): Promise<{ token: string; record: TokenRecord }> => {
  const permissions = [...new Set(draft.permissions)];
  refuseUnsuitable(account, permissions);
  if (draft.expires !== undefined && draft.expires <= now()) throw new Refusal('The expiry is in the past.');
  if (account === APP_NETWORK) await openAppNetwork();
  await showAccount(account);

  const token = mintToken();
  const sha256 = hashToken(token);
  const record: TokenRecord = {
    id: newId(),
    label: draft.label,
    permissions,
    last_four: token.slice(-4),
    created: timestamp(),
    ...(draft.expires !== undefined && { expires: new Date(draft.expires).toISOString() }),
  };
  const item: TokenItem = {
    ...tokenKey(sha256),
    account,
    token: record.id,
    permissions,
    ...(draft.expires !== undefined && { expires_at: Math.floor(draft.expires / 1000) }),
  };
  await transact([puttingNew(item), puttingNew({ ...accountTokenKey(account, record.id), ...record, sha256 })]);
  return { token, record };
};

/** All tokens that were issued to an account, revoked ones too, oldest first. @throws Refusal — no such account */
export const listTokens = async (account: string): Promise<TokenRecord[]> => {
  await showAccount(account);
  const records: TokenRecord[] = [];
  const { pk, sk } = accountTokenKey(account, '');
  for await (const items of pages<TokenRecordItem>({
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
    ExpressionAttributeValues: { ':pk': pk, ':sk': sk },
    ConsistentRead: true,
  })) {
    records.push(...items.map(toRecord));
  }
  return records;
};

/**
 * Revokes a token: it stops working at once, but for answers of the authorizer that are cached for up to 60 s.
 * Revoking it again changes nothing.
 *
 * @throws Refusal — the account has no such token
 */
export const revokeToken = async (account: string, id: string): Promise<TokenRecord> => {
  const item = await findLatest<TokenRecordItem>(accountTokenKey(account, id));
  if (item === undefined) {
    throw new Refusal(`Account "${account}" has no token with the id ${id}. "token list ${account}" shows them.`);
  }
  if (item.revoked !== undefined) return toRecord(item);
  await transact([
    removing(tokenKey(item.sha256)),
    updating({
      Key: accountTokenKey(account, id),
      UpdateExpression: 'SET revoked = if_not_exists(revoked, :now)',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: { ':now': timestamp() },
    }),
  ]);
  return toRecord((await findLatest<TokenRecordItem>(accountTokenKey(account, id))) ?? item);
};

const toAccount = ({ pk: _pk, sk: _sk, version: _version, ...account }: AccountItem): Account => account;

const toRecord = ({ pk: _pk, sk: _sk, sha256: _sha256, ...record }: TokenRecordItem): TokenRecord => record;

const refuseUnsuitable = (account: string, permissions: Permission[]): void => {
  if (permissions.length === 0) throw new Refusal('A token needs at least one permission.');
  const ofApp = account === APP_NETWORK;
  if (ofApp !== permissions.includes('app') || (ofApp && permissions.length > 1)) {
    throw new Refusal(`The permission "app" goes to the account "${APP_NETWORK}", alone, and to no other.`);
  }
};

/** The app network's account is there from its first token on. */
const openAppNetwork = async (): Promise<void> => {
  const account: Account = { id: APP_NETWORK, name: 'App network', created: timestamp() };
  await transact([puttingNew({ ...accountKey(account.id), ...account }), listing(account)]);
};

const listing = ({ id, name }: Pick<Account, 'id' | 'name'>): Write => putting({ ...accountListKey(id), id, name });

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
