/** The keys by which users of the app are found, those of consents, and those of what customers see of their own accounts. */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type Key, platformKey, requestKey } from './keys.ts';

const key = (pk: string, sk: string): Key => ({ pk, sk });

const CONTACT = 'HASH#';

/** The hash of a phone number, in the form of the API: SHA-256 in upper-case hexadecimal. */
export const contactHash = (phone: string): string => createHash('sha256').update(phone).digest('hex').toUpperCase();

/** A small item for each user, by the hash of the number: it shows that the number is registered. */
export const contactKey = (hash: string): Key => key(`${CONTACT}${hash}`, 'HASH');

/** The hash of the number, by the key of a contact. */
export const contactHashOf = ({ pk }: Pick<Key, 'pk'>): string => pk.slice(CONTACT.length);

/** The number of a user, by the app network's id of the user. */
export const appUserKey = (id: string): Key => key(`APPUSER#${id}`, 'APPUSER');

/** The index partition of conversations with an account's platform whose delivery failed and is retried. */
export const retryingOnPlatform = (account: string): string => `RETRYING#${account}`;

const ALLOWANCE = 'ALLOWANCE#';

/** How much of a daily allowance an account has used on a day (`YYYY-MM-DD`, UTC). */
export const allowanceKey = (account: string, what: string, day: string): Key =>
  key(`${ALLOWANCE}${account}`, `${what}#${day}`);

/** The pattern for the partitions of allowances, for access rights. */
export const anyAllowance = `${ALLOWANCE}*`;

/** The partition of a user's consent receipts. */
export const consentReceiptsOf = (phone: string): string => `GRANTS#${phone}`;

/** A receipt of consent that was given or has ended. A user's receipts are in one partition, sorted by time. */
export const consentReceiptKey = (
  phone: string,
  { created, request, event }: { created: string; request: string; event?: string },
): Key => key(consentReceiptsOf(phone), `GRANT#${created}#${request}${event === undefined ? '' : `#${event}`}`);

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

/** Number of shards of consents that end at a time: an index partition accepts about 1,000 writes per second. */
const CONSENT_SHARDS = 8;

const CONSENT_ENDS = 'CONSENT_ENDS#';

export const consentEndPartitions: readonly string[] = Array.from(
  { length: CONSENT_SHARDS },
  (_, shard) => `${CONSENT_ENDS}${shard}`,
);

/** The pattern for these partitions, for access rights. */
export const anyConsentEnds = `${CONSENT_ENDS}*`;

/** Index attributes of a consent that ends at `time`. */
export const endsAt = (request: string, time: string): { gsi1pk: string; gsi1sk: string } => ({
  gsi1pk: `${CONSENT_ENDS}${crc32(request) % CONSENT_SHARDS}`,
  gsi1sk: time,
});

/** The webhook of an account that is notified when consent ends: in the partition of its platform. */
export const consentWebhookKey = (account: string): Key => key(platformKey(account).pk, 'CONSENT_WEBHOOK');

/** The name of this webhook in the marker of its deletion, which is of the kind `platform`. */
export const consentWebhookName = (account: string): string => `${account}#consent`;
