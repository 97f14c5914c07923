/** The rows of accounts. */
import { type Key, key } from '../table/keys.ts';

/** The account and permissions of a token, by the SHA-256 of the token. */
export const tokenKey = (sha256: string): Key => key(`TOKEN#${sha256}`, 'TOKEN');

/** An entry in the list of accounts, with id and name. */
export const accountListKey = (account: string): Key => key('ACCOUNTS', `ACCOUNT#${account}`);

/** The token bucket of an account. */
export const rateKey = (account: string): Key => key(`RATE#${account}`, 'RATE');

/** An account. Its tokens are in the same partition. */
export const accountKey = (account: string): Key => key(`ACCOUNT#${account}`, 'ACCOUNT');

/** The record of a token: everything except the token. */
export const accountTokenKey = (account: string, token: string): Key => key(accountKey(account).pk, `TOKEN#${token}`);

/** The account that a bot's phone number belongs to. */
export const numberKey = (phone: string): Key => key(`NUMBER#${phone}`, 'NUMBER');

/** The URL and the secrets of an account's chat platform. */
export const platformKey = (account: string): Key => key(`PLATFORM#${account}`, 'PLATFORM');

/** The secret that authenticates requests of an account's chat platform. */
export const hookKey = (account: string): Key => key(`HOOK#${account}`, 'HOOK');

/** The slots of an account's long polls. */
export const waitsKey = (account: string): Key => key(`WAIT#${account}`, 'WAITS');

/** A group of the slots that all accounts share. No account's id is empty. */
export const sharedWaitsKey = (group: number): Key => key(`${waitsKey('').pk}#${group}`, 'WAITS');

const ALLOWANCE = 'ALLOWANCE#';

/** How much of a daily allowance an account has used on a day (`YYYY-MM-DD`, UTC). */
export const allowanceKey = (account: string, what: string, day: string): Key =>
  key(`${ALLOWANCE}${account}`, `${what}#${day}`);

/** The pattern for the partitions of allowances, for access rights. */
export const anyAllowance = `${ALLOWANCE}*`;

/** The webhook of an account that is notified when consent ends: in the partition of its platform. */
export const consentWebhookKey = (account: string): Key => key(platformKey(account).pk, 'CONSENT_WEBHOOK');

/** The name of this webhook in the marker of its deletion, which is of the kind `platform`. */
export const consentWebhookName = (account: string): string => `${account}#consent`;
