/** The tokens of an account, as its business manages them: none may do more than the token that makes it. */
import { validate as isUuid } from 'uuid';
import { now, timestamp, timestampOf } from '../core/clock.ts';
import type { Permission } from '../core/permissions.ts';
import { invalidRequest, Problem } from '../core/problems.ts';
import { deletionWrite } from '../table/deletion-markers.ts';
import { transact, updateWrite, type Write } from '../table/transactions.ts';
import { accountTokenKey, tokenKey } from './entities.ts';
import { type Author, type Change, historyWrite } from './history.ts';
import { findTokenItem, newToken, type TokenRecord, type TokenRecordItem, tokenRecordsOf } from './token-records.ts';

/** Whoever makes a request, with the permissions of the token. */
export interface TokenOwner extends Author {
  permissions: readonly Permission[];
}

/** A token as the API shows it. */
const shown = ({ id, label, permissions, last_four, created, expires, revoked }: TokenRecord) => ({
  ...{ id, label, permissions, last_four, created },
  expires: expires === undefined ? null : timestampOf(Date.parse(expires)),
  ...(revoked !== undefined && { revoked }),
});

/** The tokens of an account, oldest first, with those that were revoked or have expired. 1 read unit for 4 KB. */
export const listOwnTokens = async (account: string) => (await tokenRecordsOf(account)).map(shown);

/**
 * Creates a token. 10 write units in a transaction.
 *
 * @param draft.expires - in milliseconds since 1970; if missing, it does not expire
 * @throws invalid_request — the caller lacks one of the permissions, or it is one that only an operator gives
 */
export const createOwnToken = async (
  caller: TokenOwner,
  draft: { label: string; permissions: Permission[]; expires?: number | undefined },
) => {
  const { account, permissions: own } = caller;
  const errors = draft.permissions.flatMap((permission, index) => {
    const detail = own.includes(permission) ? BY_OPERATOR[permission] : LACKING;
    return detail === undefined ? [] : [{ pointer: `#/permissions/${index}`, detail }];
  });
  if (draft.expires !== undefined && draft.expires <= now()) {
    errors.push({ pointer: '#/expires', detail: 'must be in the future' });
  }
  if (errors.length > 0) throw invalidRequest(errors);
  const { label, permissions, expires } = draft;
  const made = newToken({ label, permissions, expires }, { account, keeper: account });
  await transact([
    ...made.writes,
    historyWrite(caller, { type: 'token.created', id: made.record.id, fields: permissions }),
  ]);
  return { ...shown(made.record), token: made.token };
};

const LACKING = 'is a permission that your token lacks: it cannot give more than it has';

/** Permissions that a token cannot give, although it has them. */
const BY_OPERATOR: Partial<Record<Permission, string>> = {
  admin: 'is a permission that only an operator gives',
};

/**
 * Replaces a token by another one with the same label, permissions and expiry. The former one also works for `overlap` hours. 1
 * read unit, and 14 write units in a transaction.
 *
 * @throws token_not_found — unknown, revoked, expired, or another account's
 * @throws permission_required — the token has a permission that the caller lacks
 */
export const rotateOwnToken = async (caller: TokenOwner, id: string, overlap: number) => {
  const { account } = caller;
  const item = await workingToken(caller, id);
  const { label, permissions, expires = NEVER, planned = expires, expires_at, session } = item;
  // A repeat, after a response was lost, makes another token with the same expiry.
  const end = planned === NEVER ? undefined : Date.parse(planned);
  const forgotten = expires_at && expires_at * 1_000;
  const made = newToken({ label, permissions, expires: end, forgotten, session }, { account, keeper: account });
  const present = expires === NEVER ? Number.POSITIVE_INFINITY : Date.parse(expires);
  const overlapEnd = Math.min(now() + overlap * 3_600_000, present);
  const failed = await transact([
    ...made.writes,
    endWrite(item, overlapEnd),
    noteWrite(account, item, { planned, expires: new Date(overlapEnd).toISOString() }),
    // A restore of the table brings back neither the token nor its former expiry.
    deletionWrite('token', item.sha256),
    historyWrite(caller, { type: 'token.rotated', id }),
  ]);
  // It was revoked in the meantime.
  if (failed.length > 0) throw tokenNotFound();
  return { ...shown(made.record), token: made.token };
};

/** The expiry of a token that does not expire. */
const NEVER = 'never';

/** Ends a token at a time (milliseconds since 1970), in a transaction that fails if it was revoked. */
const endWrite = ({ sha256 }: TokenRecordItem, end: number): Write =>
  updateWrite({
    Key: tokenKey(sha256),
    UpdateExpression: 'SET expires_at = :end',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':end': Math.floor(end / 1_000) },
  });

/** Notes in the record of a token that it was replaced or revoked, in a transaction that fails if it was revoked before. */
const noteWrite = (account: string, { id }: TokenRecordItem, noted: Record<string, string>): Write =>
  updateWrite({
    Key: accountTokenKey(account, id),
    UpdateExpression: `SET ${Object.keys(noted)
      .map((name) => `${name} = :${name}`)
      .join(', ')}`,
    ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(revoked)',
    ExpressionAttributeValues: Object.fromEntries(Object.entries(noted).map(([name, value]) => [`:${name}`, value])),
  });

/**
 * Revokes a token: it stops working within 60 s. A repeat changes nothing. 1 read unit, and 8 write units in a transaction.
 *
 * @throws token_not_found — unknown, or another account's
 */
export const revokeOwnToken = async (caller: TokenOwner, id: string): Promise<void> => {
  const item = await findItem(caller.account, id);
  if (item === undefined) throw tokenNotFound();
  await revokeItem(caller, item, 'token.revoked');
};

/** Revokes a token by its record, and records the change as one of this type. 8 write units in a transaction. */
export const revokeItem = async (by: Author, item: TokenRecordItem, type: Change['type']): Promise<void> => {
  if (item.revoked !== undefined) return;
  const writes = [
    noteWrite(by.account, item, { revoked: timestamp() }),
    deletionWrite('token', item.sha256),
    historyWrite(by, { type, id: item.id }),
  ];
  // Ended, not deleted: a role that may delete rows of tokens could delete more. The row of an expired one may be gone.
  const failed = await transact([...writes, endWrite(item, now())]);
  if (failed.includes(writes.length)) await transact(writes);
};

/** The record of a token; undefined if the text is no id, or the account has no such token. */
const findItem = async (account: string, id: string): Promise<TokenRecordItem | undefined> =>
  isUuid(id) ? findTokenItem(account, id) : undefined;

/** A token that works, and can do no more than the caller's. */
const workingToken = async ({ account, permissions }: TokenOwner, id: string): Promise<TokenRecordItem> => {
  const item = await findItem(account, id);
  const hasEnded = item?.expires !== undefined && Date.parse(item.expires) <= now();
  if (item === undefined || item.revoked !== undefined || hasEnded) throw tokenNotFound();
  const more = item.permissions.filter((permission) => !permissions.includes(permission));
  if (more.length === 0) return item;
  throw new Problem(
    'permission_required',
    `The token has permissions that yours lacks: ${more.join(', ')}. Ask the operator to replace it.`,
  );
};

const tokenNotFound = (): Problem =>
  new Problem('token_not_found', 'Your account has no such token that works. GET /v1/tokens lists those that it has.');
