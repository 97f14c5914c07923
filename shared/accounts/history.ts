/** The history of an account: what its business changed, when, and with which token. Without secrets. */
import { secondsFromNow, timestamp } from '../core/clock.ts';
import { newId } from '../core/ids.ts';
import { OPERATION_DAYS } from '../core/lifetimes.ts';
import { hasExpired, page } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { putWrite, type Write } from '../table/transactions.ts';
import type { changes } from './changes.ts';
import { historyKey } from './entities.ts';

/** Whoever makes a change: the account, the id of the token, and its label. */
export interface Author {
  account: string;
  token: string;
  label: string;
}

/** A change: what, of which token or webhook, and the names of the fields that were given. */
export interface Change {
  type: (typeof changes)[number];
  /** The id of the token or webhook. */
  id?: string | undefined;
  fields?: string[] | undefined;
}

interface ChangeItem extends Key, Change {
  created: string;
  /** The id of the token that made it. */
  by: string;
  /** The label of this token. It stays when the token's record is removed. */
  label: string;
  expires_at: number;
}

/** The write that records a change, in the transaction that makes it. 2 write units. */
export const historyWrite = ({ account, token, label }: Author, { type, id, fields }: Change): Write =>
  putWrite<ChangeItem>({
    ...historyKey(account, newId()),
    ...{ type, by: token, label, created: timestamp() },
    ...(id !== undefined && { id }),
    ...(fields !== undefined && { fields }),
    expires_at: secondsFromNow(OPERATION_DAYS * 86_400),
  });

/** A change as the API shows it. */
interface ShownChange extends Change {
  created: string;
  /** The token that made it. */
  token_id: string;
  token_label: string;
}

/**
 * A page of the changes of an account, newest first. 0.5 read units for 4 KB of changes. Eventually consistent.
 *
 * @param after - position of the last change of the previous page
 */
export const listChanges = async (
  account: string,
  limit: number,
  after?: string,
): Promise<{ changes: ShownChange[]; next?: string }> => {
  const { items, next } = await page<ChangeItem>({
    KeyConditionExpression: after === undefined ? 'pk = :pk' : 'pk = :pk AND sk < :after',
    ExpressionAttributeValues: { ':pk': historyKey(account, '').pk, ...(after !== undefined && { ':after': after }) },
    ScanIndexForward: false,
    Limit: limit,
  });
  return {
    changes: items
      .filter((item) => !hasExpired(item))
      .map(({ created, type, id, fields, by, label }) => ({
        ...{ created, type },
        ...(id !== undefined && { id }),
        ...(fields !== undefined && { fields }),
        token_id: by,
        token_label: label,
      })),
    ...(next && { next: String(next.sk) }),
  };
};
