/**
 * Tokens: `bapi_`, 32 random bytes in hex, and a CRC-32 of these digits in hex. By the prefix, scanners find leaked
 * tokens. By the checksum, the authorizer rejects mistyped tokens without a read. Only the SHA-256 is stored.
 */

import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { unkeyedHash } from '../core/keyed-hashes.ts';
import type { Permission } from '../core/permissions.ts';
import { get } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { tokenKey } from './entities.ts';

/** The caller of a request, and the caller's permissions. */
export interface Identity {
  account: string;
  token: string;
  /** The label of the token. */
  label: string;
  permissions: Permission[];
  /** Requests per second and requests at once that the account may make; missing if it has no limit. */
  rate?: number;
  burst?: number;
}

/** The item of a token, under the hash of the token. */
export interface TokenItem extends Key {
  account: string;
  token: string;
  label: string;
  permissions: Permission[];
  /** Seconds since 1970. Without it, the token does not expire. */
  expires_at?: number;
}

const PATTERN = /^bapi_([0-9a-f]{64})([0-9a-f]{8})$/;

const checksum = (digits: string): string => crc32(digits).toString(16).padStart(8, '0');

/** A new token. It is shown once and never stored. */
export const mintToken = (): string => {
  const digits = randomBytes(32).toString('hex');
  return `bapi_${digits}${checksum(digits)}`;
};

/** Whether a text has the form of a token: prefix, length and checksum. */
export const isWellFormedToken = (text: string): boolean => {
  const [, digits, check] = PATTERN.exec(text) ?? [];
  return digits !== undefined && checksum(digits) === check;
};

/** SHA-256 of a token, in hex. The token itself is not stored. */
export const hashToken = (token: string): string => unkeyedHash(token);

/**
 * The identity that a token belongs to; undefined for tokens that are malformed, unknown, revoked or expired. 0.5 read
 * units for a valid token, 1.5 for an unknown one, none for a malformed one.
 */
export const identify = async (token: string): Promise<Identity | undefined> => {
  if (!isWellFormedToken(token)) return undefined;
  const item = await get<TokenItem>(tokenKey(hashToken(token)));
  return item && { account: item.account, token: item.token, label: item.label, permissions: item.permissions };
};
