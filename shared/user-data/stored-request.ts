/** User data requests in the table, and their results: what was released, denied, or has no value, and what has ended. */
import { isPast } from '../core/clock.ts';
import type { ConsentEnd, RequestedProperty, RequestReference } from '../outbox/event.ts';
import type { Key } from '../table/keys.ts';
import type { PropertyName } from '../users/profile-properties.ts';
import type { Profile } from '../users/users.ts';
import type { ConsentReceipt } from './consent-receipts.ts';
import type { RequestStatus } from './statuses.ts';

/** The result for one property. */
export type Result =
  /** Until `valid_until`, if the consent has an end. */
  | { status: 'approved'; source: string; value: string; timestamp: string; valid_until?: string }
  | { status: 'denied' }
  /** Granted, but the profile has no value. */
  | { status: 'unavailable' }
  /** The consent has ended, at this time. */
  | { status: ConsentEnd; timestamp: string };

export type Results = Record<PropertyName, Result>;

/** A request in the table. */
export interface RequestItem extends Key, Omit<RequestReference, 'id'> {
  business: string;
  reason: string;
  properties: RequestedProperty[];
  results: Results;
  /** For how many days the consent is valid, from each release. Missing if it has no end. */
  valid_days?: number;
  created: string;
  /** When the last property was answered. */
  completed?: string;
  /** Counts changes. */
  version: number;
  expires_at: number;
  gsi2pk: string;
  gsi2sk: string;
  gsi3pk: string;
  gsi3sk: string;
}

export const statusOf = ({ completed }: Pick<RequestItem, 'completed'>): RequestStatus =>
  completed === undefined ? 'pending' : 'completed';

/** The results for granted properties, with the profile's values. */
export const granted = (
  profile: Profile,
  properties: readonly PropertyName[],
  timestamp: string,
  valid_until?: string,
): Results =>
  Object.fromEntries(
    properties.map((property): [PropertyName, Result] => {
      const known = profile[property];
      if (!known) return [property, { status: 'unavailable' }];
      const { source, value } = known;
      return [
        property,
        { status: 'approved', source, value, timestamp, ...(valid_until !== undefined && { valid_until }) },
      ];
    }),
  );

/** Results as they may be shown now: expired ones have no value, also before the worker `erase` has removed it. */
export const presentResults = (results: Results): Results =>
  Object.fromEntries(
    Object.entries(results).map(([name, result]): [PropertyName, Result] =>
      result.status === 'approved' && result.valid_until !== undefined && isPast(result.valid_until)
        ? [name, { status: 'expired', timestamp: result.valid_until }]
        : [name, result],
    ),
  );

/** The properties whose values are in the results. */
export const releasedIn = (results: Results): PropertyName[] =>
  (Object.keys(results) as PropertyName[]).filter((property) => results[property]?.status === 'approved');

/** The receipt of released properties. */
export const grantOf = (
  { id, account }: RequestReference,
  reason: string | undefined,
  properties: PropertyName[],
  created: string,
): ConsentReceipt => ({ account, request: id, properties, ...(reason !== undefined && { reason }), created });
