/** The rows about user data requests and consent. */

import type { Entity } from '../table/entity.ts';
import { after, CONSENT_ENDS, deletionKey, type Key, key, PERSON } from '../table/keys.ts';
import type { RequestStatus } from './statuses.ts';

const REQUEST = 'REQUEST#';

/** A user data request. */
export const requestKey = (request: string): Key => key(`${REQUEST}${request}`, 'REQUEST');

/** Whether a key is that of a user data request. */
export const isRequestKey = ({ pk, sk }: Key): boolean => pk.startsWith(REQUEST) && sk === 'REQUEST';

/** The id of a user data request, by its key or that of its consent. */
export const requestIdOf = (item: Pick<Key, 'pk'>): string => after(REQUEST, item);

const RECEIPTS = 'CONSENT_RECEIPTS#';
const RECEIPT = 'RECEIPT#';

/** The partition of a user's consent receipts. */
export const consentReceiptsOf = (phone: string): string => `${RECEIPTS}${phone}`;

/** A receipt of consent that was given or has ended. A user's receipts are in one partition, sorted by time. */
export const consentReceiptKey = (
  phone: string,
  { created, request, event }: { created: string; request: string; event?: string },
): Key => key(consentReceiptsOf(phone), `${RECEIPT}${created}#${request}${event === undefined ? '' : `#${event}`}`);

/** The range of sort keys of a user's receipts up to a time. */
export const consentReceiptRange = (until: string) => ({ from: RECEIPT, to: `${RECEIPT}${until}~` });

const ACCOUNT_RECEIPTS = 'RECEIPTS#';

/** The index partition of an account's receipts of requests: of all persons, or of one. */
export const receiptsOfAccount = (account: string, phone?: string): string =>
  `${ACCOUNT_RECEIPTS}${account}${phone === undefined ? '' : `#${phone}`}`;

/** Index attributes of a receipt in the lists of its account, sorted by time. */
export const inReceipts = (account: string, phone: string, { sk }: Pick<Key, 'sk'>) => {
  const position = sk.slice(RECEIPT.length);
  return {
    ...{ gsi2pk: receiptsOfAccount(account, phone), gsi2sk: position },
    ...{ gsi3pk: receiptsOfAccount(account), gsi3sk: position },
  };
};

/** Whom a receipt concerns: a number, or the pseudonym of an erased user. */
export const personOfReceipt = (item: Pick<Key, 'pk'>): string => after(RECEIPTS, item);

const CONSENT = 'CONSENT#';

/**
 * What a user data request released: in the partition of the request, which it outlives. `created` is the time of the
 * request: an id may be used again after its request has expired.
 */
export const consentKey = (request: string, created: string): Key =>
  key(requestKey(request).pk, `${CONSENT}${created}`);

/** Whether a key is that of a consent. */
export const isConsentKey = ({ sk }: Key): boolean => sk.startsWith(CONSENT);

const REQUESTS = 'REQUESTS#';

/** The index partition of an account's requests with a status. */
export const requestsOf = (account: string, status: RequestStatus): string => `${REQUESTS}${account}#${status}`;

/** Index attributes of a request in the list of its account, sorted by time. An answer that completes it moves it. */
export const inRequests = (
  account: string,
  { id, status, created }: { id: string; status: RequestStatus; created: string },
) => ({ gsi3pk: requestsOf(account, status), gsi3sk: `${created}#${id}` });

const POSITION = String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}#[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`;

/** The pattern of positions in the list of requests: time and id. */
export const REQUEST_POSITION = new RegExp(`${POSITION}$`);

/** The pattern of positions in lists of receipts. */
export const RECEIPT_POSITION = new RegExp(`${POSITION}(?:#[a-z]+)?$`);

/** The index partition of consents whose deletion the business has not acknowledged, the oldest first. */
export const acknowledgements = 'ACKNOWLEDGEMENTS';

const request = {
  name: 'user data request',
  pk: REQUEST,
  sk: 'REQUEST',
  account: (item) => String(item.account),
  restore: 'missing',
  // With its values: after a withdrawal, also of a part of them, the request does not return.
  deletion: (item) => deletionKey('consent', requestIdOf(item)),
  expires: true,
  person: { erasure: 'removed', phone: (item) => String(item.phone), exported: 'requests' },
  access: {
    putRequest: 'PutItem',
    findRequest: 'GetItem',
    findRequests: 'BatchGetItem',
    findConsents: 'Query',
    putConsent: 'PutItem',
    removeValues: 'UpdateItem',
    answerRequest: 'UpdateItem',
    removeRequests: 'BatchWriteItem',
    /** Also a person's answers and opt-outs. */
    listOfPerson: { index: 'gsi2', partition: PERSON },
    listRequests: { index: 'gsi3', partition: REQUESTS },
  },
} as const satisfies Entity;

const consent = {
  name: 'consent',
  pk: REQUEST,
  sk: CONSENT,
  account: (item) => String(item.account),
  restore: 'missing',
  expires: 'some',
  person: { erasure: 'removed', phone: (item) => String(item.phone), exported: 'consents' },
  access: { listConsentEnds: { index: 'gsi1', partition: CONSENT_ENDS } },
} as const satisfies Entity;

const consentReceipt = {
  name: 'consent receipt',
  pk: RECEIPTS,
  sk: RECEIPT,
  account: (item) => String(item.account),
  outlivesAccount: true,
  restore: 'missing',
  expires: false,
  person: { erasure: 'renamed', phone: personOfReceipt, exported: 'grants' },
  access: {
    putConsentReceipt: 'PutItem',
    listConsentReceipts: 'Query',
    findConsentReceipts: 'BatchGetItem',
    removeConsentReceipt: 'DeleteItem',
    listReceipts: { index: 'gsi3', partition: ACCOUNT_RECEIPTS },
    listReceiptsOfUser: { index: 'gsi2', partition: ACCOUNT_RECEIPTS },
  },
} as const satisfies Entity;

export const userDataEntities = [request, consent, consentReceipt] as const;
