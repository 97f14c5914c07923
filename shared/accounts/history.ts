/** The history of an account: what its business changed, when, and with which token. Without secrets. */
import { secondsFromNow, timestamp } from '../core/clock.ts';
import { newId } from '../core/ids.ts';
import { OPERATION_DAYS } from '../core/lifetimes.ts';
import { hasExpired, page } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { putWrite, type Write } from '../table/transactions.ts';
import type { changes } from './changes.ts';
import { historyKey } from './entities.ts';
import { tokenRecordsOf } from './token-records.ts';

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
  expires_at: number;
}

/** The write that records a change, in the transaction that makes it. 2 write units. */
export const historyWrite = (account: string, by: string, { type, id, fields }: Change): Write =>
  putWrite<ChangeItem>({
    ...historyKey(account, newId()),
    ...{ type, by, created: timestamp() },
    ...(id !== undefined && { id }),
    ...(fields !== undefined && { fields }),
    expires_at: secondsFromNow(OPERATION_DAYS * 86_400),
  });

/** A change as the API shows it. */
interface ShownChange extends Change {
  created: string;
  /** The token that made it. Its label is missing if its record was removed. */
  token_id: string;
  token_label?: string;
}

/**
 * A page of the changes of an account, newest first. 1 read unit for 4 KB of its tokens, and 0.5 for 4 KB of changes. Eventually
 * consistent.
 *
 * @param after - position of the last change of the previous page
 */
export const listChanges = async (
  account: string,
  limit: number,
  after?: string,
): Promise<{ changes: ShownChange[]; next?: string }> => {
  const [tokens, { items, next }] = await Promise.all([
    tokenRecordsOf(account),
    page<ChangeItem>({
      KeyConditionExpression: after === undefined ? 'pk = :pk' : 'pk = :pk AND sk < :after',
      ExpressionAttributeValues: { ':pk': historyKey(account, '').pk, ...(after !== undefined && { ':after': after }) },
      ScanIndexForward: false,
      Limit: limit,
    }),
  ]);
  const labels = new Map(tokens.map(({ id, label }) => [id, label]));
  return {
    changes: items
      .filter((item) => !hasExpired(item))
      .map(({ created, type, id, fields, by }) => ({
        ...{ created, type },
        ...(id !== undefined && { id }),
        ...(fields !== undefined && { fields }),
        token_id: by,
        ...(labels.has(by) && { token_label: labels.get(by) ?? '' }),
      })),
    ...(next && { next: String(next.sk) }),
  };
};
