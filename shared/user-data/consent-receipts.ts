/**
 * Consent receipts: one for each release of values, for each end of a consent, and for each acknowledged deletion: whom they
 * concern, when and why. Receipts do not contain the values.
 */
import { pages, putIfAbsent } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { putWrite, type Write } from '../table/transactions.ts';
import type { PropertyName } from '../users/profile-properties.ts';
import { consentReceiptKey, consentReceiptsOf, inReceipts } from './entities.ts';
import type { ReceiptEvent } from './statuses.ts';

/** What happened after the release: the consent ended, or the business has deleted its copy. */
export type ConsentEvent = Exclude<ReceiptEvent, 'released'>;

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

/** Records a consent receipt, in the transaction that releases the values. 2 write units, and 2 on the indexes. */
export const consentReceiptWrite = (phone: string, grant: ConsentReceipt): Write => putWrite(itemOf(phone, grant));

/** Records a consent receipt without a transaction. 1 write unit, and 2 on the indexes for one of a request. */
export const recordConsentReceipt = async (phone: string, grant: ConsentReceipt): Promise<void> => {
  await putIfAbsent(itemOf(phone, grant));
};

/** Accounts list the receipts of their requests. A one-shot retrieval is none, and needs no consent. */
const itemOf = (phone: string, grant: ConsentReceipt): ReceiptItem => {
  const key = consentReceiptKey(phone, grant);
  return { ...key, ...(grant.reason !== undefined && inReceipts(grant.account, phone, key)), ...grant };
};

/** A receipt in the table. */
export type ReceiptItem = Key & ConsentReceipt & Partial<ReturnType<typeof inReceipts>>;

/** All consent receipts of a user, oldest first. */
export const listConsentReceipts = async (phone: string): Promise<ConsentReceipt[]> => {
  const grants: ConsentReceipt[] = [];
  for await (const items of pages<ReceiptItem>({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': consentReceiptsOf(phone) },
    ConsistentRead: true,
  })) {
    grants.push(...items.map(receiptIn));
  }
  return grants;
};

/** The receipt in an item. */
export const receiptIn = (item: ReceiptItem): ConsentReceipt => {
  const { pk: _pk, sk: _sk, gsi2pk: _2pk, gsi2sk: _2sk, gsi3pk: _3pk, gsi3sk: _3sk, ...receipt } = item;
  return receipt;
};
