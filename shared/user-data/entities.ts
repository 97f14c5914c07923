/** The rows of user-data. */
import { after, type Key, key } from '../table/keys.ts';

const REQUEST = 'REQUEST#';

/** A user data request. */
export const requestKey = (request: string): Key => key(`${REQUEST}${request}`, 'REQUEST');

/** Whether a key is that of a user data request. */
export const isRequestKey = ({ pk, sk }: Key): boolean => pk.startsWith(REQUEST) && sk === 'REQUEST';

/** The id of a user data request, by its key or that of its consent. */
export const requestIdOf = (item: Pick<Key, 'pk'>): string => after(REQUEST, item);

/** The partition of a user's consent receipts. */
export const consentReceiptsOf = (phone: string): string => `GRANTS#${phone}`;

/** A receipt of consent that was given or has ended. A user's receipts are in one partition, sorted by time. */
export const consentReceiptKey = (
  phone: string,
  { created, request, event }: { created: string; request: string; event?: string },
): Key => key(consentReceiptsOf(phone), `GRANT#${created}#${request}${event === undefined ? '' : `#${event}`}`);

/** The range of sort keys of a user's receipts up to a time. */
export const consentReceiptRange = (until: string) => ({ from: 'GRANT#', to: `GRANT#${until}~` });

const CONSENT = 'CONSENT#';

/**
 * What a user data request released: in the partition of the request, which it outlives. `created` is the time of the
 * request: an id may be used again after its request has expired.
 */
export const consentKey = (request: string, created: string): Key =>
  key(requestKey(request).pk, `${CONSENT}${created}`);

/** Whether a key is that of a consent. */
export const isConsentKey = ({ sk }: Key): boolean => sk.startsWith(CONSENT);

/** The index partition of consents whose deletion the business has not acknowledged, the oldest first. */
export const acknowledgements = 'ACKNOWLEDGEMENTS';
