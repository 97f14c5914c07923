/**
 * Codes with which people sign in to the portal: 32 random bytes in base64url, in a link of an operator. Only the SHA-256 is
 * stored.
 */
import { randomBytes } from 'node:crypto';
import { secondsFromNow, timestamp } from '../core/clock.ts';
import { CODE_MINUTES } from '../core/lifetimes.ts';
import { type Permission, permissions } from '../core/permissions.ts';
import type { Key } from '../table/keys.ts';
import { portalCodeKey } from './entities.ts';
import { hashToken } from './tokens.ts';

/** The permissions that a session can have: those of listeners and of the app network are for programs only. */
export const portalPermissions = permissions.filter((one) => one !== 'listen' && one !== 'app');

/** What the session of a code will be. */
export interface PortalCodeDraft {
  account: string;
  label: string;
  permissions: Permission[];
}

/** The item of a code, under its hash. */
export interface PortalCodeItem extends Key, PortalCodeDraft {
  created: string;
  /** When it was used; missing if it was not. */
  spent?: string;
  /** Seconds since 1970. */
  expires_at: number;
}

/** A new code. It is shown once and never stored. */
export const mintCode = (): string => randomBytes(32).toString('base64url');

/** Whether a text has the form of a code. */
export const isWellFormedCode = (text: string): boolean => /^[\w-]{43}$/.test(text);

/** The key of the item of a code. */
export const keyOfCode = (code: string): Key => portalCodeKey(hashToken(code));

/** The item of a code that works from now on. */
export const portalCodeItem = (
  code: string,
  { account, label, permissions: given }: PortalCodeDraft,
): PortalCodeItem => ({
  ...keyOfCode(code),
  ...{ account, label, permissions: given, created: timestamp() },
  expires_at: secondsFromNow(CODE_MINUTES * 60),
});
