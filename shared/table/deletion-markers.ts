/**
 * Deletion markers: hashes of what was deleted or revoked, so that a restore of the table does not bring it back. They are
 * kept for a day longer than point-in-time recovery reaches back.
 */
import { secondsFromNow, timestamp } from '../core/clock.ts';
import { DELETION_MEMORY_DAYS } from '../core/lifetimes.ts';
import { putIfAbsent } from './client.ts';
import { type DeletedKind, deletionKey, type Key } from './keys.ts';
import { putWrite, type Write } from './transactions.ts';

/** A deletion marker. */
export interface DeletionItem extends Key {
  /** When it was written, with the deletion. */
  deleted: string;
  expires_at: number;
}

/** The time of a marker that is written now, and when the marker expires, in seconds since 1970. */
export const deletionNow = (): Omit<DeletionItem, keyof Key> => ({
  deleted: timestamp(),
  expires_at: secondsFromNow(DELETION_MEMORY_DAYS * 86_400),
});

/** Marks something as deleted or revoked, within the transaction that does it. 2 write units. */
export const deletionWrite = (kind: DeletedKind, identity: string): Write =>
  putWrite<DeletionItem>({ ...deletionKey(kind, identity), ...deletionNow() });

/** Marks something that has an id of its own as deleted. 1 write unit. */
export const recordDeletion = async (kind: DeletedKind, identity: string): Promise<void> => {
  await putIfAbsent<DeletionItem>({ ...deletionKey(kind, identity), ...deletionNow() });
};
