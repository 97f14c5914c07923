/**
 * Tokens: `bapi_`, 32 random bytes in hex, and a CRC-32 of those digits in hex. The prefix lets scanners find a leaked
 * one, the checksum lets the authorizer reject a mistyped one without a read. Only the SHA-256 is stored.
 */
import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Permission } from '../core/permissions.ts';
import { get } from '../table/client.ts';
import { type Key, tokenKey } from '../table/keys.ts';

/** Who calls, and with which permissions. */
export interface Identity {
  account: string;
  token: string;
  permissions: Permission[];
}

/** The row that a token is found by. */
export interface TokenItem extends Key {
  account: string;
  token: string;
  permissions: Permission[];
  /** Seconds since 1970; never, where it is missing. */
  expires_at?: number;
}

const PATTERN = /^bapi_([0-9a-f]{64})([0-9a-f]{8})$/;

const checksum = (digits: string): string => crc32(digits).toString(16).padStart(8, '0');

/** A new token. It is shown once and never stored. */
export const mintToken = (): string => {
  const digits = randomBytes(32).toString('hex');
  return `bapi_${digits}${checksum(digits)}`;
};

/**
 * Whether a text has the form of a token: prefix, length and checksum.
 *
 * @internal Tests use it, too.
 */
export const isWellFormedToken = (text: string): boolean => {
  // Stryker disable next-line ArrayDeclaration: The replacement matches nothing either, or is rejected too.
  const [, digits, check] = PATTERN.exec(text) ?? [];
  return digits !== undefined && checksum(digits) === check;
};

/** SHA-256 of a token, in hex: all that is kept of it. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');

/**
 * Whose token this is. Malformed ones cost nothing; a good one 0.5 read units. Unknown, revoked and expired tokens are
 * the same: nobody's.
 */
export const identify = async (token: string): Promise<Identity | undefined> => {
  if (!isWellFormedToken(token)) return undefined;
  const item = await get<TokenItem>(tokenKey(hashToken(token)));
  return item && { account: item.account, token: item.token, permissions: item.permissions };
};
