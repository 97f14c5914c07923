/** Grant receipts: who got what of whom, when and why. One for each release of values, which it does not hold. */

import { pages, putIfAbsent } from '../table/client.ts';
import { consentReceiptKey, consentReceiptsOf, type Key } from '../table/keys.ts';
import { putWrite, type Write } from '../table/transactions.ts';
import type { PropertyName } from '../users/profile-properties.ts';

export interface ConsentReceipt {
  /** Who got it. */
  account: string;
  /** The request by which it was asked for; a retrieval in one call has an id of its own. */
  request: string;
  /** What was released. */
  properties: PropertyName[];
  /** The reason that the business gave; none for a retrieval in one call. */
  reason?: string;
  /** When it was released. */
  created: string;
}

/** Leaves a receipt about what was released of a user, within the transaction that releases it. 2 write units. */
export const consentReceiptWrite = (phone: string, grant: ConsentReceipt): Write =>
  putWrite({ ...consentReceiptKey(phone, grant), ...grant });

/** The same by itself. 1 write unit. */
export const recordConsentReceipt = async (phone: string, grant: ConsentReceipt): Promise<void> => {
  await putIfAbsent({ ...consentReceiptKey(phone, grant), ...grant });
};

/** All receipts about a user, oldest first. */
export const listConsentReceipts = async (phone: string): Promise<ConsentReceipt[]> => {
  const grants: ConsentReceipt[] = [];
  for await (const items of pages<Key & ConsentReceipt>({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': consentReceiptsOf(phone) },
    ConsistentRead: true,
  })) {
    grants.push(...items.map(({ pk: _pk, sk: _sk, ...grant }) => grant));
  }
  return grants;
};
