/** Sessions of the portal: a code from an operator becomes, once, a token for the rest of a working day. */
import { now, timestamp, timestampOf } from '../core/clock.ts';
import { ENDED_SESSION_DAYS, SESSION_HOURS } from '../core/lifetimes.ts';
import type { Permission } from '../core/permissions.ts';
import { Problem } from '../core/problems.ts';
import { getConsistent } from '../table/client.ts';
import { conditionCheckWrite, putWrite, transact } from '../table/transactions.ts';
import { accountKey } from './entities.ts';
import { type Author, historyWrite } from './history.ts';
import { revokeItem } from './own-tokens.ts';
import { isWellFormedCode, keyOfCode, type PortalCodeItem } from './portal-codes.ts';
import { findTokenItem, newToken } from './token-records.ts';

/** A session, with its token, which is shown once. */
interface Session {
  token: string;
  /** The id of the token. */
  id: string;
  account: string;
  label: string;
  permissions: Permission[];
  expires: string;
}

/**
 * Exchanges a code for a token. 1 read unit, and 12 write units in a transaction; none for a malformed code.
 *
 * @throws code_not_found — malformed, unknown, used or expired, or its account was deleted or suspended: always the same error
 */
export const createSession = async (code: string): Promise<Session> => {
  const item = isWellFormedCode(code) ? await getConsistent<PortalCodeItem>(keyOfCode(code)) : undefined;
  if (item === undefined || item.spent !== undefined) throw codeNotFound();
  const { account, label, permissions } = item;
  const expires = now() + SESSION_HOURS * 3_600_000;
  const forgotten = expires + ENDED_SESSION_DAYS * 86_400_000;
  const draft = { label, permissions, expires, forgotten, session: true } as const;
  const { token, record, writes } = newToken(draft, { account, keeper: account });
  const failed = await transact([
    // Used up, not deleted: a role that may delete codes could delete tokens and accounts. Of several requests at the same time, one
    // meets the condition.
    putWrite<PortalCodeItem>(
      { ...item, spent: timestamp() },
      {
        ConditionExpression: 'attribute_not_exists(spent) AND expires_at > :now',
        ExpressionAttributeValues: { ':now': Math.floor(now() / 1_000) },
      },
    ),
    ...writes,
    conditionCheckWrite(accountKey(account), {
      ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(suspended)',
    }),
    historyWrite({ account, token: record.id, label }, { type: 'session.created', id: record.id, fields: permissions }),
  ]);
  if (failed.length > 0) throw codeNotFound();
  return { token, id: record.id, account, label, permissions, expires: timestampOf(expires) };
};

/**
 * Ends the session of the caller: its token stops working within 60 s. A repeat changes nothing. 1 read unit, and 8 write units in
 * a transaction.
 *
 * @throws not_a_session — the caller's token was not made with a code
 */
export const endSession = async (caller: Author): Promise<void> => {
  const item = await findTokenItem(caller.account, caller.token);
  if (item?.session === undefined) {
    throw new Problem(
      'not_a_session',
      `This token is not of a session of the portal. Revoke it with DELETE /v1/tokens/${caller.token}.`,
    );
  }
  await revokeItem(caller, item, 'session.ended');
};

const codeNotFound = (): Problem =>
  new Problem(
    'code_not_found',
    'The link does not work: it was used, it has expired, or it is not complete. Ask the operator for a new link.',
  );
