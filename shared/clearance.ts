/** What is checked before each attempt to deliver an entry: what may have happened since the entry was read. */
import { dropErased, type ErasureItem } from './erasure.ts';
import { conversationOf, type Entry } from './outbox.ts';
import { getManyConsistent } from './table/client.ts';
import { erasureKey } from './table/keys.ts';

/**
 * Whether an entry may be delivered at this moment. An entry that is gone was settled by somebody else, or belongs to a
 * user who is being erased: it is no longer in the outbox, and its state is logged.
 */
export type Clearance = { status: 'clear'; entry: Entry } | { status: 'gone' };

/** Checks an entry, in one call. 2 read units; while its user is being erased, those of `dropErased` as well. */
export const checkBeforeAttempt = async ({ pk, sk }: Entry): Promise<Clearance> => {
  const { phone } = conversationOf({ pk, sk });
  const [entry, erasure] = await getManyConsistent<[Entry, ErasureItem]>([{ pk, sk }, erasureKey(phone)]);
  if (entry === undefined) return { status: 'gone' };
  if (erasure !== undefined && (await dropErased(entry, erasure))) return { status: 'gone' };
  return { status: 'clear', entry };
};
