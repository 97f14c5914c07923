/**
 * Keys, and what rows of several domains share: the indexes of due work and of persons, markers of deletions, and idempotency
 * keys. The prefix of a key names the entity, so that a role can be limited to the prefixes that its function needs.
 */
import { crc32 } from 'node:zlib';
import { keyedHash, unkeyedHash } from '../core/keyed-hashes.ts';

export interface Key {
  pk: string;
  sk: string;
}

export const key = (pk: string, sk: string): Key => ({ pk, sk });

/** A partition key without its prefix. */
export const after = (prefix: string, { pk }: Pick<Key, 'pk'>): string => pk.slice(prefix.length);

export const IDEMPOTENCY = 'IDEMPOTENCY#';

/** What the first request with an idempotency key accepted. The key may contain a number, so only its hash is stored. */
export const idempotencyRecordKey = (account: string, endpoint: string, idempotencyKey: string): Key =>
  key(`${IDEMPOTENCY}${account}#${keyedHash('idempotency key', endpoint, idempotencyKey)}`, 'IDEMPOTENCY');

export const DELETIONS = 'DELETED#';

/** What a deletion marker is about, besides users, who have `removalKey`. */
export type DeletedKind = 'account' | 'token' | 'profiler' | 'number' | 'platform' | 'media' | 'job' | 'consent';

/** When something was deleted or revoked, under a hash of what it was: a restore of the table leaves it out. */
export const deletionKey = (kind: DeletedKind, identity: string): Key => {
  // All others have ids.
  const hash = kind === 'number' ? keyedHash('deleted', kind, identity) : unkeyedHash(`${kind} ${identity}`);
  return key(`${DELETIONS}${hash}`, 'DELETED');
};

/**
 * Kinds of due work, and the number of index partitions of each. A partition accepts about 1,000 writes per second, and
 * twenty campaigns at the default pace write 40,000 for conversations. Each other kind takes at most two writes for a
 * request, over all accounts.
 */
const DUE_SHARDS = { conversations: 64, expansions: 8, uploads: 8, profilers: 8, consents: 8 };

export type DueKind = keyof typeof DUE_SHARDS;

export const DUE = 'DUE#';

export const CONSENT_ENDS = 'CONSENT_ENDS#';

/** Consents have a prefix of their own: only `erase` reads them. */
const duePartition = (kind: DueKind, shard: number): string =>
  kind === 'consents' ? `${CONSENT_ENDS}${shard}` : `${DUE}${kind}#${shard}`;

/** The index partitions of a kind of due work. */
export const duePartitions = (kind: DueKind): string[] =>
  Array.from({ length: DUE_SHARDS[kind] }, (_, shard) => duePartition(kind, shard));

export const allDuePartitions: readonly string[] = (Object.keys(DUE_SHARDS) as DueKind[]).flatMap(duePartitions);

/** The place of an account's work in the index of due work: by account, and then by the time at which it is due. */
interface DuePlace {
  gsi1pk: string;
  gsi1sk: string;
}

/** Index attributes of an account's work that `sweep` picks up at `time`. The id chooses the partition. */
export const dueAt = (
  kind: DueKind,
  { account, id, time }: { account: string; id: string; time: string },
): DuePlace => ({
  gsi1pk: duePartition(kind, crc32(id) % DUE_SHARDS[kind]),
  gsi1sk: dueOrder(account, time),
});

/** The sort key of due work. In a partition, the work of an account is together, the oldest first. */
export const dueOrder = (account: string, time: string): string => `${account}#${time}`;

/** The last sort key of an account's due work. */
export const afterDueOf = (account: string): string => dueOrder(account, '~');

/** Whose due work this is, and the time at which it is due, in the form of `sortableTime`. */
export const dueOf = ({ gsi1sk }: Pick<DuePlace, 'gsi1sk'>): { account: string; time: string } => {
  const end = gsi1sk.indexOf('#');
  return { account: gsi1sk.slice(0, end), time: gsi1sk.slice(end + 1) };
};

export const PERSON = 'PERSON#';

/** The index partition of a person's answers and requests. */
export const dataOfPerson = (phone: string): string => `${PERSON}${phone}`;

/** Index attributes of a person's answers and requests, for export and erasure. */
export const ofPerson = (phone: string, time: string): { gsi2pk: string; gsi2sk: string } => ({
  gsi2pk: dataOfPerson(phone),
  gsi2sk: time,
});
