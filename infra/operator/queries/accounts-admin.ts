/** Creates, changes and lists the accounts of businesses and vendors, for operators. */

import { type AccountAttributes, accountChangeWrite } from '../../../shared/accounts/account-change.ts';
import {
  type Account,
  type AccountItem,
  accountOfBot,
  findAccount,
  type NameDecision,
  type NumberItem,
  toAccount,
} from '../../../shared/accounts/accounts.ts';
import {
  accountKey,
  accountListKey,
  consentWebhookKey,
  consentWebhookName,
  hookKey,
  numberKey,
  platformKey,
} from '../../../shared/accounts/entities.ts';
import { announcementWrites } from '../../../shared/accounts/profile.ts';
import { timestamp } from '../../../shared/core/clock.ts';
import { DELETION_MEMORY_DAYS, inDays } from '../../../shared/core/lifetimes.ts';
import { APP_NETWORK } from '../../../shared/core/permissions.ts';
import type { SendingHours } from '../../../shared/core/sending-hours.ts';
import { tableName } from '../../../shared/core/settings.ts';
import { disabledKey } from '../../../shared/delivery/entities.ts';
import { destinationNameOf } from '../../../shared/destinations/destination.ts';
import { ENDPOINTS, type Endpoint } from '../../../shared/destinations/endpoint-settings.ts';
import type { HookItem } from '../../../shared/destinations/inbound-secret.ts';
import type { PlatformSettings } from '../../../shared/destinations/platform.ts';
import {
  type ConsentWebhookItem,
  endpointsIn,
  type PlatformItem,
  type PlatformName,
} from '../../../shared/destinations/registry.ts';
import type { PreviousSecret } from '../../../shared/destinations/signing-secrets.ts';
import { transactInOrder } from '../../../shared/outbox/entries.ts';
import type { Direction } from '../../../shared/outbox/event.ts';
import { endWaiting } from '../../../shared/outbox/head.ts';
import { getConsistent, getManyConsistent, pages } from '../../../shared/table/client.ts';
import { deletionWrite } from '../../../shared/table/deletion-markers.ts';
import { deletionKey } from '../../../shared/table/keys.ts';
import { deleteWrite, putIfAbsentWrite, putWrite, transact, type Write } from '../../../shared/table/transactions.ts';

/** A command that cannot be done. The message contains the reason and the remedy. */
export class UserError extends Error {
  override readonly name = 'UserError';
}

export const ACCOUNT_ID = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;

/**
 * Creates an account. The id is derived from the name unless given: at most 40 of a-z, 0-9 and hyphens.
 *
 * @throws UserError — the id is taken, was deleted lately, is reserved or malformed, the number belongs to another account's bot, or the limit is
 *   impossible
 */
export const createAccount = async (
  draft: Pick<Account, 'name' | 'bot_number' | 'rate' | 'burst'> & { id?: string },
): Promise<Account> => {
  const id = draft.id ?? idOf(draft.name);
  checkLimit(draft);
  if (!ACCOUNT_ID.test(id)) {
    throw new UserError(`"${id}" cannot be an account's id: use 1 to 40 of a-z, 0-9 and hyphens, not at its ends.`);
  }
  if (id === APP_NETWORK) throw new UserError(`"${APP_NETWORK}" is reserved for the app network.`);
  if ((await getConsistent(deletionKey('account', id))) !== undefined) {
    throw new UserError(
      `An account "${id}" was deleted in the last ${inDays(DELETION_MEMORY_DAYS)}. Choose another id.`,
    );
  }
  const account: Account = { ...draft, id, created: timestamp() };
  const [failed] = await transact([
    putIfAbsentWrite({ ...accountKey(id), ...account }),
    accountListWrite(account),
    ...(draft.bot_number === undefined ? [] : [claimNumberWrite(draft.bot_number, id)]),
  ]);
  if (failed === 2 && draft.bot_number !== undefined) throw await numberTaken(draft.bot_number);
  if (failed !== undefined) throw new UserError(`The account "${id}" already exists. Choose another id.`);
  return account;
};

/** An account's chat platform, with its settings as the platform's `check` returns them. */
export interface AccountPlatform extends PlatformSettings {
  name: PlatformName;
  /** Secrets that were replaced lately, the newest first. */
  previous_secrets?: PreviousSecret[];
  /** Since when its events wait for listeners. */
  listening?: string;
}

/** An account's webhook for ends of consent, with settings of a plain webhook. */
export type ConsentWebhook = Omit<AccountPlatform, 'name' | 'hook' | 'listening'>;

/** The changes to an account; `null` removes the bot's number, the platform, the sending hours, or the account's own limit. */
export interface AccountChange {
  name?: string;
  bot_number?: string | null;
  rate?: number | null;
  burst?: number | null;
  /** A decision about the name that the business has asked for: it must still be this one. */
  decided_name?: { name: string; decision: NameDecision['decision'] };
  /** The default of its messages. */
  sending_hours?: SendingHours | null;
  /** Since when the account is suspended; `null` ends that. */
  suspended?: string | null;
  /** The platform, or a function of the current one. The function runs again if the account has changed in between. */
  platform?: AccountPlatform | null | ((current: AccountPlatform | undefined) => AccountPlatform | null);
  /** The webhook for ends of consent, or a function of the current one, in the same way. */
  consent_webhook?: ConsentWebhook | null | ((current: ConsentWebhook | undefined) => ConsentWebhook | null);
}

/** Maximum number of attempts to change an account that other operators change at the same time. */
const UPDATE_ATTEMPTS = 20;

/**
 * Changes the given attributes of an account in one transaction. Concurrent changes take effect one after the other:
 * each is written on condition that the account is unchanged since it was read; otherwise, it is read again. A platform or
 * webhook that is set then receives what has waited for it.
 *
 * @throws UserError — no such account, the number belongs to another account's bot, the limit is impossible, or too many
 *   concurrent changes
 */
export const updateAccount = async (id: string, change: AccountChange): Promise<Account> => {
  for (let attempt = 1; attempt <= UPDATE_ATTEMPTS; attempt += 1) {
    const item = await getConsistent<AccountItem>(accountKey(id));
    if (item === undefined) throw noAccount(id);
    if (change.platform && item.platform === ENDPOINTS) {
      throw managesWebhooks(id);
    }
    // Read after the account: a later change of the settings changes the account's version.
    const platform = typeof change.platform === 'function' ? change.platform(await findPlatform(id)) : change.platform;
    const consentWebhook =
      typeof change.consent_webhook === 'function'
        ? change.consent_webhook(await findConsentWebhook(id))
        : change.consent_webhook;
    const attributes: AccountAttributes = {
      ...(change.name && { name: change.name }),
      ...(change.decided_name && decisionOn(item, change.decided_name)),
      ...(change.bot_number !== undefined && { bot_number: change.bot_number }),
      ...(platform !== undefined && { platform: platform?.name ?? null, endpoints: null }),
      ...(change.rate !== undefined && { rate: change.rate }),
      ...(change.burst !== undefined && { burst: change.burst }),
      ...(change.suspended !== undefined && { suspended: change.suspended }),
      ...(change.sending_hours !== undefined && { sending_hours: change.sending_hours }),
    };
    const changed = accountAfter(item, attributes);
    checkLimit(changed);
    const { bot_number: number, name } = attributes;
    const isRenamed = name !== undefined && name !== item.name;
    const hasOtherNumber = number !== undefined && number !== (item.bot_number ?? null);
    const isNews = isRenamed || (hasOtherNumber && item.announced === true);
    const released = number === undefined ? [] : await releaseWrites(item, number);
    const [failed] = await transactInOrder((after) => [
      accountChangeWrite(item, { ...attributes, ...(isNews && { announced: true }) }),
      ...(number ? [claimNumberWrite(number, id)] : []),
      ...released,
      ...(name === undefined && change.decided_name === undefined ? [] : [accountListWrite(changed)]),
      ...(platform === undefined ? [] : platformSettingsWrites(id, platform)),
      ...(consentWebhook === undefined ? [] : consentWebhookWrites(id, consentWebhook)),
      ...(isNews ? announcementWrites(changed, after) : []),
    ]);
    if (failed === undefined) {
      if (platform || consentWebhook) await endWaiting(id);
      return changed;
    }
    if (failed === 1 && number) throw await numberTaken(number);
  }
  throw new UserError(`Other commands are changing the account "${id}". Retry in a moment.`);
};

/** Most decisions that are kept. */
const MOST_DECISIONS = 20;

/** @throws UserError — the business has asked for another name, or for none */
const decisionOn = (
  { id, pending_name, name_decisions = [] }: AccountItem,
  { name, decision }: NonNullable<AccountChange['decided_name']>,
): AccountAttributes => {
  if (pending_name !== name) {
    throw new UserError(
      pending_name === undefined
        ? `No name of the account "${id}" waits for a decision. "account pending-names" lists them.`
        : `The account "${id}" has asked for another name: "${pending_name}".`,
    );
  }
  return {
    ...(decision === 'approved' && { name }),
    pending_name: null,
    name_decisions: [...name_decisions, { name, decision, time: timestamp() }].slice(-MOST_DECISIONS),
  };
};

/** The account after the change. */
const accountAfter = (
  item: AccountItem,
  { name, name_decisions, ...removable }: Omit<AccountAttributes, 'announced' | 'avatar' | 'opt_out_keywords'>,
): Account => {
  const { bot_number, platform, endpoints, rate, burst, sending_hours, suspended, pending_name, ...rest } = {
    ...{ ...toAccount(item), ...removable },
  };
  return {
    ...rest,
    ...(name !== undefined && { name }),
    ...(name_decisions && { name_decisions }),
    ...(pending_name && { pending_name }),
    ...(platform && { platform }),
    ...(endpoints && { endpoints }),
    ...(bot_number && { bot_number }),
    ...(rate && { rate }),
    ...(burst && { burst }),
    ...(sending_hours && { sending_hours }),
    ...(suspended && { suspended }),
  };
};

/** @throws UserError — a burst without a rate, or below it */
const checkLimit = ({ rate, burst }: Pick<Account, 'rate' | 'burst'>): void => {
  if (burst === undefined) return;
  if (rate === undefined) throw new UserError('A burst needs a rate of the account: give --rate, too.');
  if (burst < rate) throw new UserError(`The burst must be at least the rate, which is ${rate}. Give --burst.`);
};

/** Releases the account's previous number, unless it belongs to another account. */
const releaseWrites = async ({ id, bot_number: number }: AccountItem, wanted: string | null): Promise<Write[]> => {
  if (number === undefined || number === wanted) return [];
  return (await accountOfBot(number)) === id ? releaseNumberWrites(id, number) : [];
};

/** An operator cannot replace webhooks by accident. */
export const managesWebhooks = (id: string): UserError =>
  new UserError(
    `Account "${id}" manages its webhooks itself. To set a platform instead, first remove them with their pending events: "account update ${id} --no-platform".`,
  );

/** An account's platform with its settings and secrets; undefined if no operator has set one. 2 read units. */
export const findPlatform = async (account: string): Promise<AccountPlatform | undefined> => {
  const [item, hook] = await Promise.all([
    getConsistent<PlatformItem>(platformKey(account)),
    getConsistent<HookItem>(hookKey(account)),
  ]);
  if (item === undefined || item.platform === ENDPOINTS) return undefined;
  const { platform: name, settings, previous_secrets, listening } = item;
  return {
    name,
    settings,
    ...(hook && { hook: hook.hook }),
    ...(previous_secrets && { previous_secrets }),
    ...(listening !== undefined && { listening }),
  };
};

/** The webhooks that an account manages itself, with their secrets. 1 read unit. */
export const findEndpoints = async (account: string): Promise<Endpoint[]> => {
  const item = await getConsistent<PlatformItem>(platformKey(account));
  return item === undefined ? [] : endpointsIn(item);
};

/** The webhook of an account for ends of consent, with its secrets; undefined if it has none of its own. 1 read unit. */
export const findConsentWebhook = async (account: string): Promise<ConsentWebhook | undefined> => {
  const item = await getConsistent<ConsentWebhookItem>(consentWebhookKey(account));
  if (item === undefined) return undefined;
  const { settings, previous_secrets } = item;
  return { settings, ...(previous_secrets && { previous_secrets }) };
};

/** An account. @throws UserError — no such account */
export const showAccount = async (id: string): Promise<Account> => {
  const account = await findAccount(id);
  if (account === undefined) throw noAccount(id);
  return account;
};

/** An account in the list of all. */
type ListedAccount = Pick<Account, 'id' | 'name' | 'pending_name'>;

/** All accounts with their names, by id. */
export const listAccounts = async (): Promise<ListedAccount[]> => {
  const accounts: ListedAccount[] = [];
  for await (const items of pages<AccountItem>({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': accountListKey('').pk },
    ConsistentRead: true,
  })) {
    accounts.push(...items.map(listed));
  }
  return accounts;
};

/** All accounts with their settings, by id. One that is being deleted may have its name alone. */
export const listAccountSettings = async (): Promise<(ListedAccount & Partial<Account>)[]> => {
  const all = await listAccounts();
  const found = await getManyConsistent<AccountItem[]>(all.map(({ id }) => accountKey(id)));
  return all.map((account, index) => ({ ...account, ...(found[index] && toAccount(found[index])) }));
};

const listed = ({ id, name, pending_name }: ListedAccount): ListedAccount => ({
  id,
  name,
  ...(pending_name !== undefined && { pending_name }),
});

export const accountListWrite = (account: ListedAccount): Write =>
  putWrite({ ...accountListKey(account.id), ...listed(account) });

/**
 * Settings and inbound secrets have rows of their own, so that fewer functions may read them. The marker prevents that a
 * restore brings back settings that were removed, or secrets that were replaced.
 */
const platformSettingsWrites = (account: string, platform: AccountPlatform | null): Write[] => {
  const withoutHook = deleteWrite(hookKey(account));
  const enabled = enableWrite('platform', account);
  const marker = deletionWrite('platform', account);
  // Later than the marker's time: what is set now may be restored.
  const updated = timestamp();
  if (platform === null) return [deleteWrite(platformKey(account)), withoutHook, marker, enabled];
  const { name, settings, hook, previous_secrets, listening } = platform;
  return [
    putWrite<PlatformItem>({
      ...platformKey(account),
      platform: name,
      settings,
      updated,
      ...(previous_secrets && { previous_secrets }),
      ...(listening !== undefined && { listening }),
    }),
    hook === undefined ? withoutHook : putWrite<HookItem>({ ...hookKey(account), hook, updated }),
    marker,
    enabled,
  ];
};

/** A webhook that is set gets requests, also if it has asked for no more before. */
const enableWrite = (direction: Direction, account: string): Write =>
  deleteWrite(disabledKey(destinationNameOf({ direction, account })));

/** The row of the webhook for ends of consent, and a marker of its own: a platform may change beside it. */
const consentWebhookWrites = (account: string, webhook: ConsentWebhook | null): Write[] => {
  const marker = deletionWrite('platform', consentWebhookName(account));
  // Later than the marker's time: what is set now may be restored.
  const updated = timestamp();
  const enabled = enableWrite('consent', account);
  if (webhook === null) return [deleteWrite(consentWebhookKey(account)), marker, enabled];
  const { settings, previous_secrets } = webhook;
  return [
    putWrite<ConsentWebhookItem>({
      ...consentWebhookKey(account),
      settings,
      updated,
      ...(previous_secrets && { previous_secrets }),
    }),
    marker,
    enabled,
  ];
};

/** Gives an account a number, in a transaction that fails if another account owns the number. */
const claimNumberWrite = (number: string, account: string): Write => {
  const item: NumberItem = { ...numberKey(number), account, claimed: timestamp() };
  const condition = {
    ConditionExpression: 'attribute_not_exists(pk) OR account = :account',
    ExpressionAttributeValues: { ':account': account },
  };
  return { Put: { TableName: tableName(), Item: item, ...condition } };
};

/** Releases an account's number, in a transaction that fails if the account does not own the number. */
const releaseNumberWrites = (account: string, number: string): [Write, Write] => [
  deleteWrite(numberKey(number), {
    ConditionExpression: 'account = :account',
    ExpressionAttributeValues: { ':account': account },
  }),
  deletionWrite('number', `${account} ${number}`),
];

const noAccount = (id: string): UserError =>
  new UserError(`There is no account "${id}". "account list" shows them all.`);

const numberTaken = async (number: string): Promise<UserError> =>
  new UserError(`The number ${number} belongs to the bot of the account "${await accountOfBot(number)}".`);

/** The id for a name: "Acme Research" becomes "acme-research". */
const idOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replaceAll(/^-|-$/g, '');
