/** What each of the demo's businesses knows about a user, by the service's consent receipts. */
import { isPast } from '../../../../shared/core/clock.ts';
import { type ConsentReceipt, listConsentReceipts } from '../../../../shared/user-data/consent-receipts.ts';
import { isAutomatic, propertyNames } from '../../../../shared/users/profile-properties.ts';
import { consentRecords } from '../../../operator/people/consent-record.ts';
import type { AppNetwork } from '../../simulators/app-network/app-network.ts';
import { compare, isoOf } from '../times.ts';
import type { Bot, ConsentView, KnownProperty } from '../views.ts';

/** Reads the table directly: no endpoint shows a user all businesses. Costs the user's receipts. */
export const consentsOf = async (
  { reportedEvents }: Pick<AppNetwork, 'reportedEvents'>,
  bots: readonly Bot[],
  phone: string,
): Promise<ConsentView[]> => {
  const receipts = await listConsentReceipts(phone);
  const stopped = reportedEvents.stopsOf(phone);
  const profile = reportedEvents.userOf(phone)?.properties ?? {};
  return bots.map(({ id, name, number }) => ({
    business: { id, name, number },
    stopped: stopped.includes(number),
    known: inOrder(releasesIn(receipts.filter(({ account }) => account === id))).map(([property, releases]) =>
      knownBy(property, releases, profile[property]?.value),
    ),
  }));
};

/** All receipts of a user, in the structure of the operator's command `user consent-record`. */
export const consentRecordOf = async (bots: readonly Bot[], phone: string) =>
  consentRecords({
    person: phone,
    receipts: await listConsentReceipts(phone),
    names: new Map(bots.map(({ id, name }) => [id, name])),
  });

/** A property that a request released. Times are in the form of `timestamp`. */
interface Release {
  request: string;
  property: string;
  released: string;
  until?: string | undefined;
  end?: { state: 'withdrawn' | 'expired'; time: string };
  isDeleted: boolean;
}

/** The releases in receipts, which are sorted by time. */
const releasesIn = (receipts: ConsentReceipt[]): Release[] => {
  const releases = new Map<string, Release>();
  for (const { request, properties, created, valid_until, event } of receipts) {
    for (const property of properties) {
      const key = `${request} ${property}`;
      const before = releases.get(key);
      if (event === undefined) {
        releases.set(key, { request, property, released: created, until: valid_until, isDeleted: false });
      } else if (before !== undefined) {
        const change = event === 'deleted' ? { isDeleted: true } : { end: { state: event, time: created } };
        releases.set(key, { ...before, ...change });
      }
    }
  }
  return [...releases.values()];
};

/** The releases of each property, in the order of the catalogue, so that a withdrawal moves nothing. */
const inOrder = (releases: Release[]): [string, Release[]][] =>
  [...Map.groupBy(releases, ({ property }) => property)].sort(
    ([a], [b]) => propertyNames.indexOf(a) - propertyNames.indexOf(b),
  );

/** How the consent of a release ended; a worker records the end of one that has expired a little later. */
const endOf = ({ end, until }: Release): Release['end'] =>
  end ?? (until !== undefined && isPast(until) ? { state: 'expired', time: until } : undefined);

/** What a business knows of a property: it knows the value as long as one of the consents has not ended. */
const knownBy = (property: string, releases: Release[], value: string | undefined): KnownProperty => {
  const active = releases.filter((release) => endOf(release) === undefined);
  const [last] = releases.flatMap((release) => endOf(release) ?? []).sort((a, b) => compare(b.time, a.time));
  const ends = active.flatMap(({ until }) => until ?? []);
  const ended = active.length === 0 ? last : undefined;
  return {
    property,
    value: ended ? null : (value ?? null),
    since: isoOf(latest((active.length > 0 ? active : releases).map(({ released }) => released))),
    until: ended || ends.length < active.length ? null : isoOf(latest(ends)),
    state: ended?.state ?? 'approved',
    ended: ended ? isoOf(ended.time) : null,
    deletion: ended ? (releases.every(({ isDeleted }) => isDeleted) ? 'done' : 'owed') : null,
    requests: isAutomatic(property) ? [] : active.map(({ request }) => request),
  };
};

const latest = (times: string[]): string => times.sort().at(-1) ?? '';
