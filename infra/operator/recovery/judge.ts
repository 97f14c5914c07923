/** Decides which items of a restored table come back. */

import { numberKey, platformKey, tokenKey } from '../../../shared/accounts/entities.ts';
import { isChunkKey } from '../../../shared/campaigns/entities.ts';
import { now, sortableTime } from '../../../shared/core/clock.ts';
import { tableName } from '../../../shared/core/settings.ts';
import { mediaKey } from '../../../shared/media/entities.ts';
import { cancelledJobsOf, isJobKey, jobNamed } from '../../../shared/messaging/entities.ts';
import { nameOfJob } from '../../../shared/messaging/jobs/cancel.ts';
import { outcomeKey, stateKey } from '../../../shared/outbox/entities.ts';
import { hasExpired } from '../../../shared/table/client.ts';
import type { AnyItem, Entity } from '../../../shared/table/entity.ts';
import { deletionKey, dueAt, type Key } from '../../../shared/table/keys.ts';
import { withoutErased } from './batches.ts';
import { beginningOf, isCountable, kindsOf, latestTimeOf, type Subject, subjectsOf } from './item-kinds.ts';
import { itemsAt, nameOf } from './tables.ts';

/** Which items an operator asks for. */
export interface Selection {
  /** One customer's only. */
  account?: string | undefined;
  /** The profilers of that customer. */
  profilers: ReadonlySet<string>;
  /** Only items with this time or a later one. */
  since?: string | undefined;
  tokens: boolean;
  outbox: boolean;
}

/** Why an item does not come back. */
type Exclusion = 'exists' | 'deleted' | 'delivered' | 'expired' | 'not_selected' | 'without_time' | 'unknown';

/** An item that is to come back. */
export interface Candidate {
  item: AnyItem;
  kind: Entity;
  /** The markers that were looked at in the live table, as they were then. */
  markers: { key: Key; deleted: string | undefined }[];
}

type Verdict = { item: AnyItem; exclusion: Exclusion } | { candidate: Candidate };

/** Decides by an item alone. Nothing, if it may come back. */
const excludedBy = (item: AnyItem, selection: Selection): Exclusion | undefined => {
  const [kind] = kindsOf(item);
  if (kind === undefined) return 'unknown';
  if (hasExpired(item)) return 'expired';
  const { restore } = kind;
  if (restore === 'never' || restore === 'batch') return 'not_selected';
  if (restore === 'everything') return undefined;
  if (restore !== 'missing' && !selection[restore]) return 'not_selected';
  if (selection.account !== undefined && !isOf(selection.account, item, kind, selection)) return 'not_selected';
  if (selection.since === undefined) return undefined;
  const time = latestTimeOf(item);
  if (time === undefined) return 'without_time';
  return time < selection.since ? 'not_selected' : undefined;
};

const isOf = (
  account: string,
  item: AnyItem,
  { account: accountOf, profiler: profilerOf }: Entity,
  { profilers }: Selection,
): boolean => accountOf?.(item) === account || (profilerOf !== undefined && profilers.has(profilerOf(item)));

/** Judges items of the table `source`. Reads the live table for items, and both tables for deletion markers. */
export const judge = async (source: string, items: AnyItem[], selection: Selection): Promise<Verdict[]> => {
  const first = items.map((item) => ({ item, kind: kindsOf(item)[0], exclusion: excludedBy(item, selection) }));
  const asked = first.filter(({ exclusion }) => exclusion === undefined).map(({ item }) => item);
  const live = await itemsAt(tableName(), asked);
  const missing = asked.filter((item) => !live.has(nameOf(item)));
  const markers = await markersOf(source, missing);
  const delivered = await deliveredEntries(missing);
  return first.map(({ item, kind, exclusion }): Verdict => {
    if (exclusion !== undefined || kind === undefined) return { item, exclusion: exclusion ?? 'unknown' };
    if (live.has(nameOf(item))) return { item, exclusion: 'exists' };
    if (markers.isDeleted(item, kind)) return { item, exclusion: 'deleted' };
    if (delivered.has(nameOf(item))) return { item, exclusion: 'delivered' };
    return { candidate: { item, kind, markers: markers.seen(item, kind) } };
  });
};

/** Deletion markers about some items. */
interface Markers {
  /** Whether an item was deleted or revoked since it began. */
  isDeleted(item: AnyItem, kind: Entity): boolean;
  /** The markers about an item in the live table. */
  seen(item: AnyItem, kind: Entity): Candidate['markers'];
}

/** The deletion markers about items, in the live table and in the other one. */
export const markersOf = async (source: string, items: AnyItem[]): Promise<Markers> => {
  const keys = items.flatMap((item) =>
    kindsOf(item)
      .flatMap((kind) => subjectsOf(item, kind))
      .map(({ marker }) => marker),
  );
  const [inLive, inSource] = await Promise.all([itemsAt(tableName(), keys), itemsAt(source, keys)]);
  const timeIn = (found: Map<string, AnyItem>, { marker }: Subject): string | undefined => {
    const item = found.get(nameOf(marker));
    return item && String(item.deleted);
  };
  return {
    isDeleted: (item, kind) =>
      subjectsOf(item, kind).some((subject) =>
        [inLive, inSource].some((found) => {
          const deleted = timeIn(found, subject);
          return deleted !== undefined && beginningOf(item) <= subject.endOf(deleted);
        }),
      ),
    seen: (item, kind) =>
      subjectsOf(item, kind).map((subject) => ({ key: subject.marker, deleted: timeIn(inLive, subject) })),
  };
};

/** The log entries that show that a message has left its outbox. */
const settledKeys = (message: string): Key[] => [outcomeKey(message), stateKey(message, 'reception_failed_http')];

/** The outbox entries among items whose message the log shows as delivered or failed. */
const deliveredEntries = async (items: AnyItem[]): Promise<Set<string>> => {
  const entries = items.flatMap((item) => {
    const { type, message } = Object(item.outgoing);
    // A copy for an endpoint says nothing about the others.
    const isMessage = ['message.send', 'message.received'].includes(type) && item.copy === undefined;
    return isMessage ? [{ name: nameOf(item), states: settledKeys(message.id) }] : [];
  });
  const found = await itemsAt(
    tableName(),
    entries.flatMap(({ states }) => states),
  );
  return new Set(entries.filter(({ states }) => states.some((key) => found.has(nameOf(key)))).map(({ name }) => name));
};

/**
 * An item as it comes back: without a bot's number, a platform or an avatar that the account has lost since, a revoked token's record as
 * revoked, a cancelled job as cancelled, a chunk without erased recipients, and a log entry or an answer as counted, because
 * `count` may have counted it since.
 *
 * @param tables - the tables that may contain the number, the platform and the avatar, the one that decides first
 */
export const amended = async (source: string, item: AnyItem, kind: Entity, tables: string[]): Promise<AnyItem> => {
  if (isCountable(kind)) return { ...item, counted: true };
  if (kind.name === 'account') return withoutLost(source, item, tables);
  if (isChunkKey(item)) return withoutErased(source, item);
  if (isJobKey(item) && item.cancelled === undefined) return asCancelled(source, item);
  if (kind.name === 'record of a token' && item.revoked === undefined) {
    const revoked = await deletionTimeOf(source, tokenKey(String(item.sha256)));
    return revoked === undefined ? item : { ...item, revoked };
  }
  return item;
};

/** The time of the deletion of what a key is about; nothing, if it was not deleted. */
const deletionTimeOf = async (source: string, key: Key): Promise<string | undefined> => {
  const [kind] = kindsOf(key);
  return latestTimeIn(source, kind?.deletion ? [kind.deletion({ ...key })] : []);
};

/** The latest time of some deletion markers, in either table. */
const latestTimeIn = async (source: string, markers: Key[]): Promise<string | undefined> => {
  const found = await Promise.all([tableName(), source].map((table) => itemsAt(table, markers)));
  return found
    .flatMap((each) => [...each.values()].map(({ deleted }) => String(deleted)))
    .sort()
    .at(-1);
};

/** A job as cancelled, if it was cancelled since. `expand` ends its messages. */
const asCancelled = async (source: string, item: AnyItem): Promise<AnyItem> => {
  const { account, job_id } = jobNamed(item);
  const cancelled = await latestTimeIn(source, [deletionKey('job', nameOfJob(account, job_id))]);
  if (cancelled === undefined || cancelled < beginningOf(item)) return item;
  const time = sortableTime(now());
  const index = {
    ...dueAt('expansions', { account, id: job_id, time }),
    gsi3pk: cancelledJobsOf(account),
    gsi3sk: time,
  };
  return { ...item, cancelled, ...index };
};

/** An account without a bot's number, a platform or an avatar that it has lost since. */
const withoutLost = async (source: string, item: AnyItem, tables: string[]): Promise<AnyItem> => {
  const rows = {
    ...(item.bot_number !== undefined && { bot_number: numberKey(String(item.bot_number)) }),
    ...(item.platform !== undefined && { platform: platformKey(String(item.id)) }),
    ...(item.avatar !== undefined && { avatar: mediaKey(String(Object(item.avatar).id)) }),
  };
  const found = await Promise.all(tables.map((table) => itemsAt(table, Object.values(rows))));
  const markers = await markersOf(
    source,
    found.flatMap((each) => [...each.values()]),
  );
  const isLost = (key: Key): boolean => {
    const [kind] = kindsOf(key);
    const row = found.map((each) => each.get(nameOf(key))).find((one) => one !== undefined);
    if (row === undefined || kind === undefined || kind.account?.(row) !== item.id) return true;
    return markers.isDeleted(row, kind);
  };
  const lost = Object.entries(rows).flatMap(([name, key]) => (isLost(key) ? [name] : []));
  if (lost.length === 0) return item;
  const { pk, sk, ...attributes } = item;
  const gone = lost.includes('platform') ? [...lost, 'endpoints'] : lost;
  return { pk, sk, ...Object.fromEntries(Object.entries(attributes).filter(([name]) => !gone.includes(name))) };
};
