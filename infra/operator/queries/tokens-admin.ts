/** Issues, lists and revokes the tokens of accounts, for operators. */

import type { Account } from '../../../shared/accounts/accounts.ts';
import { accountKey, accountTokenKey, tokenKey } from '../../../shared/accounts/entities.ts';
import { hashToken, mintToken, type TokenItem } from '../../../shared/accounts/tokens.ts';
import { now, timestamp } from '../../../shared/core/clock.ts';
import { newId } from '../../../shared/core/ids.ts';
import { APP_NETWORK, type Permission } from '../../../shared/core/permissions.ts';
import { getConsistent, hasExpired, pages } from '../../../shared/table/client.ts';
import { deletionWrite } from '../../../shared/table/deletion-markers.ts';
import { deletionKey, type Key } from '../../../shared/table/keys.ts';
import { deleteWrite, putIfAbsentWrite, transact, updateWrite } from '../../../shared/table/transactions.ts';
import { accountListWrite, showAccount, UserError } from './accounts-admin.ts';

/** The record of a token, without the token itself. */
export interface TokenRecord {
  id: string;
  label: string;
  permissions: Permission[];
  /** Its last four characters, which distinguish it from other tokens. */
  last_four: string;
  created: string;
  /** When it expires. */
  expires?: string;
  /** When it was revoked. */
  revoked?: string;
}

type TokenRecordItem = Key & TokenRecord & { sha256: string; expires_at?: number };

/**
 * Issues a token. Only the returned value contains it: the table stores its hash.
 *
 * @throws UserError — no such account, no or wrong permissions, or an expiry in the past
 */
export const issueToken = async (account: string, draft: TokenDraft): Promise<IssuedToken> => {
  const permissions = [...new Set(draft.permissions)];
  checkPermissions(account, permissions);
  if (draft.expires !== undefined && draft.expires <= now()) throw new UserError('The expiry is in the past.');
  if (account === APP_NETWORK) await openAppNetwork();
  await showAccount(account);
  return store({ ...draft, permissions }, { account, keeper: account });
};

/**
 * Issues a token of the app network whose record another account keeps: "token list" and "token revoke" of that account
 * find it. The app network itself need not have an account.
 */
export const issueAppNetworkToken = (
  keeper: string,
  draft: Pick<TokenDraft, 'label' | 'expires'>,
): Promise<IssuedToken> => store({ ...draft, permissions: ['app'] }, { account: APP_NETWORK, keeper });

interface TokenDraft {
  label: string;
  permissions: Permission[];
  /** When it expires, in milliseconds since 1970; if missing, never. */
  expires?: number;
  /** When its record is removed, in milliseconds since 1970; if missing, with the account. */
  forgotten?: number;
  /** A token that was minted before; if missing, a new one. */
  token?: string;
}

interface IssuedToken {
  token: string;
  record: TokenRecord;
}

/**
 * @param owners.account - whose token it is
 * @param owners.keeper - the account that keeps the record
 */
const store = async (
  { label, permissions, expires, forgotten, token = mintToken() }: TokenDraft,
  { account, keeper }: { account: string; keeper: string },
): Promise<IssuedToken> => {
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
    permissions,
    ...(expires !== undefined && { expires_at: Math.floor(expires / 1000) }),
  };
  await transact([
    putIfAbsentWrite(item),
    putIfAbsentWrite<TokenRecordItem>({
      ...accountTokenKey(keeper, record.id),
      ...record,
      sha256,
      ...(forgotten !== undefined && { expires_at: Math.floor(forgotten / 1000) }),
    }),
  ]);
  return { token, record };
};

/**
 * All tokens that were issued to an account, including revoked tokens, oldest first; not those whose record was removed.
 *
 * @throws UserError — no such account
 */
export const listTokens = async (account: string): Promise<TokenRecord[]> => {
  await showAccount(account);
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

/**
 * Revokes a token. It stops working as soon as cached results of the authorizer expire, within 60 s. A repeat changes
 * nothing.
 *
 * @throws UserError — the account has no such token
 */
export const revokeToken = async (account: string, id: string): Promise<TokenRecord> => {
  const item = await recordOf(account, id);
  if (item.revoked !== undefined) return toRecord(item);
  await transact([
    deleteWrite(tokenKey(item.sha256)),
    deletionWrite('token', item.sha256),
    updateWrite({
      Key: accountTokenKey(account, id),
      UpdateExpression: 'SET revoked = if_not_exists(revoked, :now)',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: { ':now': timestamp() },
    }),
  ]);
  return toRecord((await getConsistent<TokenRecordItem>(accountTokenKey(account, id))) ?? item);
};

/** The record of a token. @throws UserError — the account has no such token */
export const findTokenRecord = async (account: string, id: string): Promise<TokenRecord> =>
  toRecord(await recordOf(account, id));

const recordOf = async (account: string, id: string): Promise<TokenRecordItem> => {
  const item = await getConsistent<TokenRecordItem>(accountTokenKey(account, id));
  if (item !== undefined) return item;
  throw new UserError(`Account "${account}" has no token with the id ${id}. "token list ${account}" shows them.`);
};

/** Whether a token works, or was revoked; undefined if the table does not know it. */
export const stateOfToken = async (token: string): Promise<'works' | 'revoked' | undefined> => {
  const sha256 = hashToken(token);
  const [item, marker] = await Promise.all([
    getConsistent(tokenKey(sha256)),
    getConsistent(deletionKey('token', sha256)),
  ]);
  if (item !== undefined) return 'works';
  return marker === undefined ? undefined : 'revoked';
};

const toRecord = ({ pk: _pk, sk: _sk, sha256: _sha256, expires_at: _end, ...record }: TokenRecordItem): TokenRecord =>
  record;

const checkPermissions = (account: string, permissions: Permission[]): void => {
  if (permissions.length === 0) throw new UserError('A token needs at least one permission.');
  const ofApp = account === APP_NETWORK;
  if (ofApp !== permissions.includes('app') || (ofApp && permissions.length > 1)) {
    throw new UserError(
      `Tokens of the account "${APP_NETWORK}" have only the permission "app", and no other account has it.`,
    );
  }
};

/** Creates the app network's account with its first token. */
const openAppNetwork = async (): Promise<void> => {
  const account: Account = { id: APP_NETWORK, name: 'App network', created: timestamp() };
  await transact([putIfAbsentWrite({ ...accountKey(account.id), ...account }), accountListWrite(account)]);
};
