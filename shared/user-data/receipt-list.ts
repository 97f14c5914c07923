/** The list of an account's consent receipts: of its user data requests, also of those that are no longer stored. */
import { findAccount } from '../accounts/accounts.ts';
import { timePrefix } from '../core/clock.ts';
import { isPseudonym } from '../core/ids.ts';
import { MAX_BODY_IN_RESPONSE, sizeInResponse } from '../core/response-size.ts';
import { getManyEventual, page } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import type { PropertyName } from '../users/profile-properties.ts';
import type { ReceiptItem } from './consent-receipts.ts';
import { personOfReceipt, receiptsOfAccount } from './entities.ts';
import type { ReceiptEvent } from './statuses.ts';

/** A receipt as the list shows it. */
export interface ListedReceipt {
  requestId: string;
  /** Missing if the user was erased. */
  phone_number?: string;
  event: ReceiptEvent;
  /** When it happened. */
  timestamp: string;
  /** When the consent expires; of a release with an end. */
  valid_until?: string;
  reason: string;
  properties: PropertyName[];
}

export interface ReceiptFilter {
  phone_number?: string | undefined;
  /** The period, in seconds since 1970: it includes `start`, and excludes `end`. */
  start?: number | undefined;
  end?: number | undefined;
}

/** After the positions of all times. */
const END = '~';

/**
 * A page of an account's receipts: at most `limit`, newest first, and as many as fit into a response of about 5 MB. `next` is
 * the position of the next page, which may be there though this one is short. Receipts outlive their account: those of an
 * earlier one with the same id are not listed. One read of the account, one query of at most `limit` + 2 entries of an index,
 * and one call for the receipts, 0.5 read units for each and 4 KB. Eventually consistent.
 *
 * @param after - position of the last receipt of the previous page
 */
export const listReceipts = async (
  account: string,
  { phone_number: phone, start = 0, end }: ReceiptFilter,
  limit: number,
  after?: string,
): Promise<{ receipts: ListedReceipt[]; next?: string }> => {
  const { created = END } = (await findAccount(account)) ?? {};
  const from = [timePrefix(start), created].sort().at(-1) ?? created;
  const to = after ?? (end === undefined ? END : timePrefix(end));
  if (to < from) return { receipts: [] };
  const index = phone === undefined ? 'gsi3' : 'gsi2';
  const { items: entries, next } = await page<Key & Record<string, string>>({
    IndexName: index,
    KeyConditionExpression: `${index}pk = :list AND ${index}sk BETWEEN :from AND :to`,
    ExpressionAttributeValues: { ':list': receiptsOfAccount(account, phone), ':from': from, ':to': to },
    ScanIndexForward: false,
    // One more than the limit shows that a next page exists. Another one, because `to` may be the previous page's last receipt.
    Limit: limit + 2,
  });
  const positionOf = (entry: Record<string, string>): string => entry[`${index}sk`] ?? '';
  const found = entries.filter((entry) => positionOf(entry) !== after);
  const shown = found.slice(0, limit);
  const items = await getManyEventual<ReceiptItem[]>(shown.map(({ pk, sk }) => ({ pk, sk })));
  const receipts: ListedReceipt[] = [];
  let size = 0;
  for (const [place, item] of items.entries()) {
    // Its user was erased in the meantime.
    if (item === undefined) continue;
    const receipt = toListed(item);
    size += sizeInResponse(receipt);
    const last = shown[place - 1];
    if (receipts.length > 0 && last !== undefined && size > MAX_BODY_IN_RESPONSE)
      return { receipts, next: positionOf(last) };
    receipts.push(receipt);
  }
  const last = found.length > limit || next !== undefined ? shown.at(-1) : undefined;
  return { receipts, ...(last !== undefined && { next: positionOf(last) }) };
};

const toListed = (item: ReceiptItem): ListedReceipt => {
  const { request, event = 'released', created, valid_until, reason = '', properties } = item;
  const person = personOfReceipt(item);
  return {
    requestId: request,
    ...(!isPseudonym(person) && { phone_number: person }),
    ...{ event, timestamp: created },
    ...(valid_until !== undefined && { valid_until }),
    ...{ reason, properties },
  };
};
