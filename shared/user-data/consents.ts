/**
 * Consents: which properties a user data request released, and until when. A consent contains no values. It outlives its
 * request, so that the user can withdraw it at any time, and until the business has deleted its copy:
 *
 *     released              ended                          acknowledged             removed
 *     by the user, or       withdrawn, expired, or the     POST …/deleted           after the end
 *     at once               user was removed
 *     |                     |                              |                        |
 *     v                     v                              v                        v
 *     the request has       no values; the business is     nothing is owed          only receipts remain
 *     the values            notified, and owes the deletion
 */
import { isPast, now, timestampOf } from '../core/clock.ts';
import { ENDED_CONSENT_DAYS } from '../core/lifetimes.ts';
import { type ConsentEnd, withReference } from '../outbox/event.ts';
import { pages } from '../table/client.ts';
import { dueAt, type Key, ofPerson } from '../table/keys.ts';
import { putIfAbsentWrite, putWrite, type Write } from '../table/transactions.ts';
import type { PropertyName } from '../users/profile-properties.ts';
import { consentReceiptWrite } from './consent-receipts.ts';
import { acknowledgements, consentKey, isConsentKey, requestKey } from './entities.ts';
import { grantOf, type RequestItem, type Result, type Results } from './stored-request.ts';

/** A released property. */
interface Release {
  released: string;
  /** When the consent expires. Missing if it has no end. */
  valid_until?: string;
  /** When and how the consent ended. */
  ended?: string;
  status?: ConsentEnd;
  /** When the business acknowledged that it has deleted its copy. */
  deleted?: string;
}

/** A consent, without the attributes of its indexes. Times are in the form of `timestamp`. */
export interface Consent {
  /** The id of the request. */
  id: string;
  account: string;
  /** The user's number; a pseudonym, if the user was removed. */
  phone: string;
  /** The business's own name for the request. */
  reference?: string;
  /** The reason that the business gave. */
  reason: string;
  /** The time of the request. */
  created: string;
  properties: Record<PropertyName, Release>;
  /** Counts changes. Missing if the consent is not stored yet. */
  version?: number;
}

/** A consent in the table. */
export interface ConsentItem extends Key, Consent {
  version: number;
  expires_at?: number;
}

/** Seconds for which a consent is kept after its end. */
const TTL_S = ENDED_CONSENT_DAYS * 86_400;

/** The properties whose consent has not ended, sorted by name. */
export const activeIn = ({ properties }: Pick<Consent, 'properties'>): PropertyName[] =>
  Object.keys(properties)
    .filter((name) => properties[name]?.ended === undefined)
    .sort();

/** The properties whose consent has ended, and whose deletion is not acknowledged, sorted by name. */
export const owedIn = ({ properties }: Pick<Consent, 'properties'>): PropertyName[] =>
  Object.keys(properties)
    .filter((name) => {
      const { ended, deleted } = properties[name] ?? {};
      return ended !== undefined && deleted === undefined;
    })
    .sort();

/** Since when a deletion is owed; undefined if none is. */
export const owedSince = (consent: Pick<Consent, 'properties'>): string | undefined =>
  owedIn(consent)
    .flatMap((name) => consent.properties[name]?.ended ?? [])
    .sort()[0];

/** The time at which a consent expires that is given now for a number of days; undefined if it has no end. */
export const validUntil = (days: number | undefined): string | undefined =>
  days === undefined ? undefined : timestampOf(now() + days * 86_400_000);

/** A consent with further released properties. */
const withReleased = (
  consent: Consent,
  names: readonly PropertyName[],
  released: string,
  valid_until: string | undefined,
): Consent => ({
  ...consent,
  properties: {
    ...consent.properties,
    ...Object.fromEntries(names.map((name) => [name, { released, ...(valid_until !== undefined && { valid_until }) }])),
  },
});

/** A consent in which some properties have changed. */
export const withChanged = (consent: Consent, names: readonly PropertyName[], change: Partial<Release>): Consent => ({
  ...consent,
  properties: Object.fromEntries(
    Object.entries(consent.properties).map(([name, release]) => [
      name,
      names.includes(name) ? { ...release, ...change } : release,
    ]),
  ),
});

/** The consent of a request that has released nothing yet. */
export const newConsent = (
  id: string,
  request: Pick<RequestItem, 'account' | 'phone' | 'reference' | 'reason' | 'created'>,
): Consent => {
  const { account, phone, reason, created } = request;
  return { id, account, phone, reason, created, properties: {}, ...withReference(request) };
};

/**
 * Stores a consent, in a transaction that fails if it was changed since it was read. 2 write units, and 1 on each index:
 * that of the person, that of ends if it has one, and that of acknowledgements if a deletion is owed.
 */
export const consentWrite = ({ version, ...consent }: Consent): Write => {
  const { id, account, phone, created, properties } = consent;
  const next = activeIn(consent)
    .flatMap((name) => properties[name]?.valid_until ?? [])
    .sort()[0];
  const owed = owedSince(consent);
  const item: ConsentItem = {
    ...consentKey(id, created),
    ...consent,
    version: (version ?? 0) + 1,
    ...ofPerson(phone, created),
    ...(next !== undefined && dueAt('consents', { account, id, time: next })),
    ...(owed !== undefined && { gsi3pk: acknowledgements, gsi3sk: `${owed}#${id}` }),
    ...(activeIn(consent).length === 0 && owed === undefined && { expires_at: lastEnd(consent) + TTL_S }),
  };
  return version === undefined
    ? putIfAbsentWrite(item)
    : putWrite(item, {
        ConditionExpression: 'version = :version',
        ExpressionAttributeValues: { ':version': version },
      });
};

/** The writes that release properties: the consent, and its receipt. 4 write units, and 1 on each index of the consent. */
export const releaseWrites = (
  consent: Consent,
  names: PropertyName[],
  released: string,
  valid_until: string | undefined,
): Write[] => [
  consentWrite(withReleased(consent, names, released, valid_until)),
  consentReceiptWrite(consent.phone, {
    ...grantOf(consent, consent.reason, names, released),
    ...(valid_until !== undefined && { valid_until }),
  }),
];

/** When the last property ended, in seconds since 1970. */
const lastEnd = ({ properties }: Consent): number => {
  const last = Object.values(properties)
    .flatMap(({ ended }) => ended ?? [])
    .sort()
    .at(-1);
  return Math.ceil(Date.parse(`${last}Z`) / 1_000);
};

/** The results of properties whose consent has ended: all that is known after the request has expired. */
export const endedResults = (consents: Pick<Consent, 'properties'>[]): Results =>
  Object.fromEntries(
    consents.flatMap(({ properties }) =>
      Object.entries(properties).flatMap(([name, { ended, status, valid_until }]): [PropertyName, Result][] => {
        if (ended !== undefined && status !== undefined) return [[name, { status, timestamp: ended }]];
        return valid_until !== undefined && isPast(valid_until)
          ? [[name, { status: 'expired', timestamp: valid_until }]]
          : [];
      }),
    ),
  );

/** A request with its consents. */
export interface WithConsents {
  /** Undefined if it has expired and was removed. */
  request: RequestItem | undefined;
  /** More than one only if the id was used again. */
  consents: Consent[];
}

/** A request and its consents, by a consistent read. 1 read unit for 4 KB. */
export const readConsents = async (id: string): Promise<WithConsents> => {
  const items: (RequestItem | ConsentItem)[] = [];
  for await (const found of pages<RequestItem | ConsentItem>({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': requestKey(id).pk },
    ConsistentRead: true,
  })) {
    items.push(...found);
  }
  const request = items.find((item): item is RequestItem => !isConsent(item));
  return { request, consents: items.filter(isConsent).map(consentIn) };
};

const isConsent = (item: Key): item is ConsentItem => isConsentKey(item);

/** The consent in an item. */
const consentIn = ({
  id,
  account,
  phone,
  reference,
  reason,
  created,
  properties,
  version,
}: ConsentItem): Consent & { version: number } => ({
  ...{ id, account, phone, reason, created, properties, version },
  ...withReference({ reference }),
});
