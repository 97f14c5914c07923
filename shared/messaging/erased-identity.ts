/**
 * Marks of users who are being erased. From the request on, a number is marked, and the workers that handle what others
 * have stored about it respect the mark: `deliver` before each attempt, `expand` before a message exists.
 *
 *     requested       last look, after 2 min     pending batches read
 *     |               |                          |
 *     v               v                          v
 *     ERASURES        ERASURES, then MARKED      removed
 *     steps of the    steps again; then chunks   no item of this user
 *     erasure         lose the number            has the number
 *
 * The mark outlives all chunks that may contain the number. The number may have another owner by then: the data of both are
 * told apart by time.
 */

import { now, scaled, sortableTime, timestampOf } from '../core/clock.ts';
import { getConsistent, getManyConsistent, getManyEventual, page, remove } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { userKey } from '../users/entities.ts';
import { erasureKey, markedPartition, phoneOfErasure } from './entities.ts';

/** An erasure that is not complete. */
export interface ErasureItem extends Key {
  /** Replaces the phone number. Random, so that it identifies nobody. */
  pseudonym: string;
  /** When the erasure was requested. */
  requested: string;
  /** `ERASURES` until its steps are done, then `MARKED`; and when it continues, or was marked for the pending batches. */
  gsi1pk: string;
  gsi1sk: string;
}

/** Milliseconds from the request to the last look. Requests and deliveries that were in progress have ended by then. */
const AFTERMATH_MS = 120_000;

/** The erased user's number and pseudonym, and the times that bound the user's data. */
export interface ErasedIdentity {
  phone: string;
  pseudonym: string;
  /** Data that was created by this time belongs to the erased user. */
  until: string;
  /** Log entries and reports that follow from such data are found up to this time. */
  end: string;
}

/** The time of an erasure's last look, in milliseconds since 1970. */
export const lastLookAt = ({ requested }: Pick<ErasureItem, 'requested'>): number =>
  Date.parse(requested) + scaled(AFTERMATH_MS);

/** The identity that an erasure is about. 1 read unit. */
export const erasedIdentityOf = async (phone: string, erasure: ErasureItem): Promise<ErasedIdentity> =>
  identityOf(phone, erasure, await getConsistent<Registered>(userKey(phone)));

interface Registered {
  created: string;
}

const identityOf = (phone: string, erasure: ErasureItem, next: Registered | undefined): ErasedIdentity => {
  const end = timestampOf(lastLookAt(erasure));
  const until = endOfTheirs(timestampOf(Date.parse(erasure.requested)), end, next);
  return { phone, pseudonym: erasure.pseudonym, end, until };
};

/** `until` of an erased identity: the time at which the number was registered again, else the time of the last look. */
const endOfTheirs = (requested: string, end: string, { created }: Registered = { created: end }): string => {
  if (created > end) return end;
  // Clocks differ: a registration cannot precede the erasure.
  return created < requested ? requested : created;
};

/**
 * The pseudonyms of the users among these numbers who are being erased, as far as data of a time belongs to them. By
 * eventually consistent reads: `deliver` finds a mark of a moment ago. 0.5 read units for each number, and 1 for each mark.
 */
export const erasedAmong = async (phones: readonly string[], created: string): Promise<Map<string, string>> => {
  const each = [...new Set(phones)];
  const erasures = await getManyEventual<ErasureItem[]>(each.map(erasureKey));
  const identities = await Promise.all(
    each.map(async (phone, place) => {
      const erasure = erasures[place];
      return erasure && erasedIdentityOf(phone, erasure);
    }),
  );
  return new Map(
    identities.flatMap((one) => (one !== undefined && created <= one.until ? [[one.phone, one.pseudonym]] : [])),
  );
};

/** Numbers that lose their marks together. Their items are read in each run of the pass over the pending batches. */
const MOST_MARKED = 1_000;

/** The latest of the places of marked numbers that a new pass may include; undefined if there are none. */
export const latestMark = async (): Promise<string | undefined> =>
  (await marksUpTo(sortableTime(now()))).at(-1)?.gsi1sk;

const marksUpTo = async (place: string): Promise<(Key & { gsi1sk: string })[]> =>
  (
    await page<Key & { gsi1sk: string }>({
      IndexName: 'gsi1',
      KeyConditionExpression: 'gsi1pk = :marked AND gsi1sk <= :place',
      ExpressionAttributeValues: { ':marked': markedPartition, ':place': place },
      ProjectionExpression: 'pk, sk, gsi1sk',
      Limit: MOST_MARKED,
    })
  ).items;

/** A marked number, and the mark. */
export interface Marked extends ErasedIdentity {
  mark: ErasureItem;
}

/**
 * The marked numbers up to a place: all data of these users is erased, except in pending batches. 0.5 read units for 4 KB,
 * and 2 for each number.
 */
export const markedUpTo = async (place: string): Promise<Marked[]> => {
  const phones = (await marksUpTo(place)).map(phoneOfErasure);
  const [marks, users] = await Promise.all([
    getManyConsistent<ErasureItem[]>(phones.map(erasureKey)),
    getManyConsistent<Registered[]>(phones.map(userKey)),
  ]);
  return phones.flatMap((phone, number) => {
    const mark = marks[number];
    // The index may be behind: another erasure of the number has begun, or this one has ended.
    if (mark?.gsi1pk !== markedPartition) return [];
    return [{ ...identityOf(phone, mark, users[number]), mark }];
  });
};

/** Ends an erasure: the number is no longer marked, unless another erasure of it has begun. 1 write unit, and 1 on the index. */
export const endErasure = async ({ pk, sk, requested }: ErasureItem): Promise<void> => {
  await remove(
    { pk, sk },
    {
      ConditionExpression: 'requested = :requested AND gsi1pk = :marked',
      ExpressionAttributeValues: { ':requested': requested, ':marked': markedPartition },
    },
  );
};
