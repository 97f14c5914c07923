/** What the declarations of rows say about a restore. The guide for operators has the same list ("What a restore brings back"). */
import { entities } from '../../../shared/api/access-patterns.ts';
import { timestampOf } from '../../../shared/core/clock.ts';
import { isPseudonym } from '../../../shared/core/ids.ts';
import { lastLookAt } from '../../../shared/messaging/erased-identity.ts';
import { countedBy, jobCountersOf } from '../../../shared/stats/entities.ts';
import type { AnyItem, Entity } from '../../../shared/table/entity.ts';
import { deletionKey, type Key } from '../../../shared/table/keys.ts';
import { removalByHash, removalKey } from '../../../shared/users/entities.ts';

/** Something that may have been deleted or revoked, and with it the items about it. */
export interface Subject {
  /** The key of its deletion marker. */
  marker: Key;
  /** Up to when items are deleted with it, by the time of the marker. */
  endOf: (deleted: string) => string;
}

const deletedBy = (marker: Key): Subject => ({ marker, endOf: (deleted) => deleted });

/** The removal of a user. What began within two minutes after it was erased, too. */
const removedBy = (marker: Key): Subject => ({
  marker,
  endOf: (deleted) => timestampOf(lastLookAt({ requested: `${deleted.slice(0, 23)}Z` })),
});

/** The erasure of the user with a number. */
export const removalOf = (phone: string): Subject => removedBy(removalKey(phone));

/** The removal of the person that a row is about. A row with a pseudonym stays: its person has been removed. */
const removalsOf = (item: AnyItem, { person }: Entity): Subject[] => {
  if (person === 'none') return [];
  if (person.phoneHash) return [removedBy(removalByHash(person.phoneHash(item)))];
  const phone = person.phone?.(item);
  return phone === undefined || isPseudonym(phone) ? [] : [removalOf(phone)];
};

/** What the deletion of an item's account, of its user or of what it is about would have taken. */
export const subjectsOf = (item: AnyItem, entity: Entity): Subject[] => {
  const { account, deletion, outlivesAccount } = entity;
  return [
    ...(deletion ? [deletedBy(deletion(item))] : []),
    ...removalsOf(item, entity),
    ...(account && !outlivesAccount ? [deletedBy(deletionKey('account', account(item)))] : []),
  ];
};

/** The kinds of log entries. */
export const isLogEntry = ({ name }: Entity): boolean => name === 'message' || name === 'state of a message';

/** The kinds that `count` has added to counters: log entries and answers. */
export const isCountable = (kind: Entity): boolean => isLogEntry(kind) || kind.name === 'answer';

/** The kinds that a key may be of: one. */
export const kindsOf = ({ pk, sk }: Key): Entity[] =>
  entities.filter((entity) => pk.startsWith(entity.pk) && sk.startsWith(entity.sk));

const BEGINNINGS = ['created', 'created_at', 'claimed', 'updated'];

/** When an item began: the time that is compared with a deletion. Before all others, if it has none. */
export const beginningOf = (item: AnyItem): string =>
  BEGINNINGS.map((name) => item[name]).find((time) => typeof time === 'string') ?? '';

/** Attributes with a time of an item: when it was created, changed or ended. */
const TIMES = [...BEGINNINGS, 'completed', 'deleted', 'deleted_at', 'removed', 'requested', 'revoked', 'cancelled'];

/** The latest time that an item contains; none, if it contains none. */
export const latestTimeOf = (item: AnyItem): string | undefined => {
  const day = item.pk.startsWith(jobCountersOf('')) ? [`${countedBy(item).day}T23:59:59.999999`] : [];
  const reported = typeof item.reported === 'number' ? [timestampOf(item.reported)] : [];
  const times = TIMES.map((name) => item[name]).filter((time) => typeof time === 'string');
  return [...times, ...day, ...reported].sort().at(-1);
};
