/**
 * Consent receipts: one for each release of values, for each end of a consent, and for each acknowledged deletion: whom they
 * concern, when and why. Receipts do not contain the values.
 */
import type { ConsentEnd } from '../outbox/event.ts';
import { pages, putIfAbsent } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { putWrite, type Write } from '../table/transactions.ts';
import type { PropertyName } from '../users/profile-properties.ts';
import { consentReceiptKey, consentReceiptsOf } from './entities.ts';

/** What happened after the release: the consent ended, or the business has deleted its copy. */
export type ConsentEvent = ConsentEnd | 'deleted';

export interface ConsentReceipt {
  /** The account that received the values. */
  account: string;
  /** The id of the user data request. A one-shot retrieval has an id of its own. */
  request: string;
  /** The released properties. */
  properties: PropertyName[];
  /** The reason that the business gave. A one-shot retrieval has none. */
  reason?: string;
  /** The time of the release, or of the event. */
  created: string;
  /** Until when the released values may be used. Missing if the consent has no end. */
  valid_until?: string;
  /** Missing in the receipt of a release. */
  event?: ConsentEvent;
}

/** Records a consent receipt, in the transaction that releases the values. 2 write units. */
export const consentReceiptWrite = (phone: string, grant: ConsentReceipt): Write =>
  putWrite({ ...consentReceiptKey(phone, grant), ...grant });

/** Records a consent receipt without a transaction. 1 write unit. */
export const recordConsentReceipt = async (phone: string, grant: ConsentReceipt): Promise<void> => {
  await putIfAbsent({ ...consentReceiptKey(phone, grant), ...grant });
};

/** All consent receipts of a user, oldest first. */
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
