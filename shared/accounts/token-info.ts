/** What a customer may know of a token: everything except the token itself. */
import { timestampOf } from '../core/clock.ts';
import { get } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { accountTokenKey } from './entities.ts';

interface TokenRecord extends Key {
  label: string;
  permissions: string[];
  created: string;
  /** ISO 8601, in UTC. */
  expires?: string;
}

interface TokenInfo extends Pick<TokenRecord, 'label' | 'permissions' | 'created'> {
  account: string;
  /** When it expires; null, if it does not. */
  expires: string | null;
}

/** The record of a token, by its id. 0.5 read units. */
export const readTokenInfo = async (account: string, token: string): Promise<TokenInfo> => {
  const record = await get<TokenRecord>(accountTokenKey(account, token));
  if (record === undefined) throw new Error('The token has no record.');
  const { label, permissions, created, expires } = record;
  return {
    label,
    account,
    permissions,
    created,
    expires: expires === undefined ? null : timestampOf(Date.parse(expires)),
  };
};
