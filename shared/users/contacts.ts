/**
 * Contacts: a small item for each user, by a keyed hash of the number's hash, which clients send. A list of numbers, or of
 * their hashes, is compared with them at half a read unit each, however long the users' profiles are.
 */
import { timestamp } from '../core/clock.ts';
import { getManyEventual } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { deleteWrite, putWrite, type Write } from '../table/transactions.ts';
import { contactHash, contactKey } from './entities.ts';

interface ContactItem extends Key {
  /** When the contact was written. */
  created: string;
}

/** Writes the contact of a number, in the transaction that registers the user. 2 write units. */
export const contactWrite = (phone: string): Write => {
  const item: ContactItem = { ...contactKey(contactHash(phone)), created: timestamp() };
  return putWrite(item);
};

/** Removes the contact of a number, in the transaction that removes the user. 2 write units. */
export const removeContactWrite = (phone: string): Write => deleteWrite(contactKey(contactHash(phone)));

/**
 * The hashes among these whose numbers are registered. Eventually consistent: a registration or a removal of the last
 * second may be missing. 0.5 read units for each hash; 30 calls for 3,000.
 */
export const registeredAmong = async (hashes: ReadonlySet<string>): Promise<Set<string>> => {
  const each = [...hashes];
  const found = await getManyEventual<ContactItem[]>(each.map(contactKey));
  return new Set(each.filter((_, index) => found[index] !== undefined));
};
