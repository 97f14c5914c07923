/** The tokens of accounts: how they are stored, listed and revoked. */
import { timestamp } from '../core/clock.ts';
import { newId } from '../core/ids.ts';
import type { Permission } from '../core/permissions.ts';
import { getConsistent, hasExpired, pages } from '../table/client.ts';
import { deletionWrite } from '../table/deletion-markers.ts';
import type { Key } from '../table/keys.ts';
import { deleteWrite, putIfAbsentWrite, updateWrite, type Write } from '../table/transactions.ts';
import { accountTokenKey, tokenKey } from './entities.ts';
import { hashToken, mintToken, type TokenItem } from './tokens.ts';

/** The record of a token, without the token itself. */
export interface TokenRecord {
  id: string;
  label: string;
  permissions: Permission[];
  /** Its last four characters, which distinguish it from other tokens. */
  last_four: string;
  created: string;
  /** When it expires. ISO 8601, in UTC. */
  expires?: string;
  /** When it was revoked. */
  revoked?: string;
}

/**
 * A record in the table. `planned` is the expiry before the token was replaced, or `never`; `session` is set if it is the token of
 * a session.
 */
export type TokenRecordItem = Key &
  TokenRecord & { sha256: string; expires_at?: number; planned?: string; session?: true };

export interface TokenDraft {
  label: string;
  permissions: Permission[];
  /** When it expires, in milliseconds since 1970; if missing, never. */
  expires?: number | undefined;
  /** When its record is removed, in milliseconds since 1970; if missing, with the account. */
  forgotten?: number | undefined;
  /** Set for the token of a session. */
  session?: true | undefined;
  /** A token that was minted before; if missing, a new one. */
  token?: string | undefined;
}

/** A new token, which is shown once, its record, and the writes that store its hash and the record. */
interface NewToken {
  token: string;
  record: TokenRecord;
  writes: Write[];
}

/**
 * A new token. 4 write units in a transaction.
 *
 * @param owners.account - whose token it is
 * @param owners.keeper - the account that keeps the record
 */
export const newToken = (
  { label, permissions, expires, forgotten, session, token = mintToken() }: TokenDraft,
  { account, keeper }: { account: string; keeper: string },
): NewToken => {
  const sha256 = hashToken(token);
  const record: TokenRecord = {
    id: newId(),
    label,
    permissions,
    last_four: token.slice(-4),
    created: timestamp(),
    ...(expires !== undefined && { expires: new Date(expires).toISOString() }),
  };
  const item: TokenItem = {
    ...tokenKey(sha256),
    account,
    token: record.id,
    label,
    permissions,
    ...(expires !== undefined && { expires_at: Math.floor(expires / 1000) }),
  };
  const kept: TokenRecordItem = {
    ...accountTokenKey(keeper, record.id),
    ...record,
    sha256,
    ...(forgotten !== undefined && { expires_at: Math.floor(forgotten / 1000) }),
    ...(session && { session }),
  };
  return { token, record, writes: [putIfAbsentWrite(item), putIfAbsentWrite(kept)] };
};

/**
 * All tokens that were issued to an account, including revoked tokens, oldest first; not those whose record was removed. 1 read
 * unit for 4 KB.
 */
export const tokenRecordsOf = async (account: string): Promise<TokenRecord[]> => {
  const records: TokenRecord[] = [];
  const { pk, sk } = accountTokenKey(account, '');
  for await (const items of pages<TokenRecordItem>({
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
    ExpressionAttributeValues: { ':pk': pk, ':sk': sk },
    ConsistentRead: true,
  })) {
    records.push(...items.filter((item) => !hasExpired(item)).map(toRecord));
  }
  return records;
};

/** The record of a token; undefined if the account has no such token. 1 read unit. */
export const findTokenItem = (account: string, id: string): Promise<TokenRecordItem | undefined> =>
  getConsistent<TokenRecordItem>(accountTokenKey(account, id));

/** The writes that revoke a token. It stops working as soon as cached results of the authorizer expire, within 60 s. */
export const revokeWrites = (account: string, { id, sha256 }: TokenRecordItem): Write[] => [
  deleteWrite(tokenKey(sha256)),
  deletionWrite('token', sha256),
  updateWrite({
    Key: accountTokenKey(account, id),
    UpdateExpression: 'SET revoked = if_not_exists(revoked, :now)',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':now': timestamp() },
  }),
];

export const toRecord = ({
  pk: _pk,
  sk: _sk,
  sha256: _sha256,
  expires_at: _end,
  planned: _planned,
  session: _session,
  ...record
}: TokenRecordItem): TokenRecord => record;
