/** The rows about accounts: their settings, tokens, numbers, limits and allowances. */
import type { AnyItem, Entity } from '../table/entity.ts';
import { after, deletionKey, type Key, key } from '../table/keys.ts';

const TOKEN = 'TOKEN#';
const ACCOUNT = 'ACCOUNT#';
const ACCOUNTS = 'ACCOUNTS';
const RATE = 'RATE#';
const NUMBERS = 'NUMBER#';
const PLATFORM = 'PLATFORM#';
const CONSENT_WEBHOOK = 'CONSENT_WEBHOOK';
const HOOK = 'HOOK#';
const WAIT = 'WAIT#';

/** The account and permissions of a token, by the SHA-256 of the token. */
export const tokenKey = (sha256: string): Key => key(`${TOKEN}${sha256}`, 'TOKEN');

/** An entry in the list of accounts, with id and name. */
export const accountListKey = (account: string): Key => key(ACCOUNTS, `${ACCOUNT}${account}`);

/** The token bucket of an account. */
export const rateKey = (account: string): Key => key(`${RATE}${account}`, 'RATE');

/** An account. Its tokens are in the same partition. */
export const accountKey = (account: string): Key => key(`${ACCOUNT}${account}`, 'ACCOUNT');

/** The record of a token: everything except the token. */
export const accountTokenKey = (account: string, token: string): Key => key(accountKey(account).pk, `${TOKEN}${token}`);

/** The account that a bot's phone number belongs to. */
export const numberKey = (phone: string): Key => key(`${NUMBERS}${phone}`, 'NUMBER');

/** The URL and the secrets of an account's chat platform. */
export const platformKey = (account: string): Key => key(`${PLATFORM}${account}`, 'PLATFORM');

/** The secret that authenticates requests of an account's chat platform. */
export const hookKey = (account: string): Key => key(`${HOOK}${account}`, 'HOOK');

/** The slots of an account's long polls. */
export const waitsKey = (account: string): Key => key(`${WAIT}${account}`, 'WAITS');

/** A group of the slots that all accounts share. No account's id is empty. */
export const sharedWaitsKey = (group: number): Key => key(`${waitsKey('').pk}#${group}`, 'WAITS');

const OPERATIONS = 'OPERATIONS#';

/** What an operator did, in the partition of a month (`YYYY-MM`). */
export const operationKey = (month: string, id: string): Key => key(`${OPERATIONS}${month}`, id);

const HISTORY = 'HISTORY#';

/** A change of an account, by the id of the change, which begins with the time. */
export const historyKey = (account: string, id: string): Key => key(`${HISTORY}${account}`, id);

const PORTAL_CODE = 'PORTAL_CODE#';

/** A code with which a person signs in to the portal, by its SHA-256. */
export const portalCodeKey = (sha256: string): Key => key(`${PORTAL_CODE}${sha256}`, 'PORTAL_CODE');

const ALLOWANCE = 'ALLOWANCE#';

/** How much of a daily allowance an account has used on a day (`YYYY-MM-DD`, UTC). */
export const allowanceKey = (account: string, what: string, day: string): Key =>
  key(`${ALLOWANCE}${account}`, `${what}#${day}`);

/** The webhook of an account that is notified when consent ends: in the partition of its platform. */
export const consentWebhookKey = (account: string): Key => key(platformKey(account).pk, CONSENT_WEBHOOK);

/** The name of this webhook in the marker of its deletion, which is of the kind `platform`. */
export const consentWebhookName = (account: string): string => `${account}#consent`;

/** The account in a key of the form `NAME#account#…`. */
const accountInKey = ({ pk }: AnyItem): string => pk.split('#')[1] ?? '';

const account = {
  name: 'account',
  pk: ACCOUNT,
  sk: 'ACCOUNT',
  account: (item) => String(item.id),
  restore: 'missing',
  expires: false,
  person: 'none',
  access: {
    findAccount: 'GetItem',
    checkSender: 'BatchGetItem',
    updateAccount: 'UpdateItem',
    checkAccount: 'ConditionCheckItem',
  },
} as const satisfies Entity;

const accountList = {
  name: 'list of accounts',
  pk: ACCOUNTS,
  sk: ACCOUNT,
  account: (item) => String(item.id),
  restore: 'missing',
  expires: false,
  person: 'none',
  access: { putAccountName: 'PutItem' },
} as const satisfies Entity;

const token = {
  name: 'token',
  pk: TOKEN,
  sk: 'TOKEN',
  account: (item) => String(item.account),
  restore: 'tokens',
  deletion: (item) => deletionKey('token', after(TOKEN, item)),
  expires: 'some',
  person: 'none',
  access: { findToken: 'GetItem', putToken: 'PutItem', limitToken: 'UpdateItem' },
} as const satisfies Entity;

const operation = {
  name: "record of an operator's command",
  pk: OPERATIONS,
  sk: '',
  restore: 'missing',
  expires: true,
  person: 'none',
  access: {},
} as const satisfies Entity;

const tokenRecord = {
  name: 'record of a token',
  pk: ACCOUNT,
  sk: TOKEN,
  account: accountInKey,
  restore: 'tokens',
  // Only those of sessions and listeners.
  expires: 'some',
  person: 'none',
  access: {
    findTokenRecord: 'GetItem',
    listTokens: 'Query',
    putTokenRecord: 'PutItem',
    changeTokenRecord: 'UpdateItem',
  },
} as const satisfies Entity;

const portalCode = {
  name: 'code of the portal',
  pk: PORTAL_CODE,
  sk: 'PORTAL_CODE',
  account: (item) => String(item.account),
  // A code that was used must not work again. A person whose code is lost asks for another one.
  restore: 'never',
  expires: true,
  person: 'none',
  access: { findPortalCode: 'GetItem', usePortalCode: 'PutItem' },
} as const satisfies Entity;

const change = {
  name: 'change of an account',
  pk: HISTORY,
  sk: '',
  account: accountInKey,
  restore: 'missing',
  expires: true,
  person: 'none',
  access: { putChange: 'PutItem', listChanges: 'Query' },
} as const satisfies Entity;

const platform = {
  name: 'platform settings',
  pk: PLATFORM,
  sk: 'PLATFORM',
  account: accountInKey,
  restore: 'missing',
  deletion: (item) => deletionKey('platform', accountInKey(item)),
  expires: false,
  person: 'none',
  access: { findPlatform: 'GetItem', putPlatform: 'PutItem' },
} as const satisfies Entity;

const consentWebhook = {
  name: 'consent webhook',
  pk: PLATFORM,
  sk: CONSENT_WEBHOOK,
  account: accountInKey,
  restore: 'missing',
  deletion: (item) => deletionKey('platform', consentWebhookName(accountInKey(item))),
  expires: false,
  person: 'none',
  access: {},
} as const satisfies Entity;

const inboundSecret = {
  name: 'inbound secret',
  pk: HOOK,
  sk: 'HOOK',
  account: accountInKey,
  restore: 'missing',
  deletion: (item) => deletionKey('platform', accountInKey(item)),
  expires: false,
  person: 'none',
  access: { findHook: 'GetItem' },
} as const satisfies Entity;

const botNumber = {
  name: 'bot number',
  pk: NUMBERS,
  sk: 'NUMBER',
  account: (item) => String(item.account),
  restore: 'missing',
  deletion: (item) => deletionKey('number', `${item.account} ${after(NUMBERS, item)}`),
  expires: false,
  person: 'none',
  access: { findBot: 'GetItem' },
} as const satisfies Entity;

const allowance = {
  name: 'daily allowance',
  pk: ALLOWANCE,
  sk: '',
  account: accountInKey,
  restore: 'never',
  expires: true,
  person: 'none',
  access: { findAllowance: 'GetItem', chargeAllowance: 'UpdateItem' },
} as const satisfies Entity;

const tokenBucket = {
  name: 'token bucket',
  pk: RATE,
  sk: 'RATE',
  account: accountInKey,
  restore: 'never',
  expires: true,
  person: 'none',
  /** Both writes of a token bucket. */
  access: { takeTokens: 'UpdateItem' },
} as const satisfies Entity;

const waits = {
  name: 'slots of long polls',
  pk: WAIT,
  sk: 'WAITS',
  account: accountInKey,
  restore: 'never',
  expires: true,
  person: 'none',
  access: { updateWaits: 'UpdateItem' },
} as const satisfies Entity;

export const accountEntities = [
  account,
  accountList,
  token,
  tokenRecord,
  portalCode,
  change,
  operation,
  platform,
  consentWebhook,
  inboundSecret,
  botNumber,
  allowance,
  tokenBucket,
  waits,
] as const;
