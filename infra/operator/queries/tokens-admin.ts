/** Issues, lists and revokes the tokens of accounts, for operators. */

import type { Account } from '../../../shared/accounts/accounts.ts';
import { accountKey, tokenKey } from '../../../shared/accounts/entities.ts';
import {
  findTokenItem,
  newToken,
  revokeWrites,
  type TokenDraft,
  type TokenRecord,
  type TokenRecordItem,
  tokenRecordsOf,
  toRecord,
} from '../../../shared/accounts/token-records.ts';
import { hashToken } from '../../../shared/accounts/tokens.ts';
import { now, timestamp } from '../../../shared/core/clock.ts';
import { APP_NETWORK, type Permission } from '../../../shared/core/permissions.ts';
import { getConsistent } from '../../../shared/table/client.ts';
import { deletionKey } from '../../../shared/table/keys.ts';
import { putIfAbsentWrite, transact } from '../../../shared/table/transactions.ts';
import { accountListWrite, showAccount, UserError } from './accounts-admin.ts';

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

interface IssuedToken {
  token: string;
  record: TokenRecord;
}

const store = async (draft: TokenDraft, owners: { account: string; keeper: string }): Promise<IssuedToken> => {
  const { token, record, writes } = newToken(draft, owners);
  await transact(writes);
  return { token, record };
};

/**
 * All tokens that were issued to an account, including revoked tokens, oldest first; not those whose record was removed.
 *
 * @throws UserError — no such account
 */
export const listTokens = async (account: string): Promise<TokenRecord[]> => {
  await showAccount(account);
  return tokenRecordsOf(account);
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
  await transact(revokeWrites(account, item));
  return toRecord((await findTokenItem(account, id)) ?? item);
};

/** The record of a token. @throws UserError — the account has no such token */
export const findTokenRecord = async (account: string, id: string): Promise<TokenRecord> =>
  toRecord(await recordOf(account, id));

const recordOf = async (account: string, id: string): Promise<TokenRecordItem> => {
  const item = await findTokenItem(account, id);
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
