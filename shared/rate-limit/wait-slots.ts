/**
 * Slots of long polls. A long poll occupies a function while it waits, so an account has a few slots, and each of its long
 * polls holds one. The slots are attributes of one item: `slot7` is when its holder's wait ends, in milliseconds since 1970.
 *
 *     take     slot7 = end, if it is free or its time is over    1 write unit, and again for each slot that was taken
 *     release  remove slot7, if it is still this wait's          1 write unit, if the wait ended early
 *
 * A function that ends without releasing its slot holds it until its wait would have ended. A failed attempt returns all
 * slots as they are, so that the next one takes a free slot, unless another wait has taken that one at the same moment.
 */
import { between, now, secondsFromNow } from '../core/clock.ts';
import { waitsPerAccount } from '../core/settings.ts';
import { update, updateOrExisting } from '../table/client.ts';
import { waitsKey } from '../table/keys.ts';

/** A slot that a wait holds until `end`, in milliseconds since 1970. */
export interface Slot {
  account: string;
  name: string;
  end: number;
}

/** Seconds that the item outlives the begin of the last wait. Longer than any wait, so that TTL removes no slot in use. */
const KEPT = 3_600;

/** Each failed attempt means that another wait was quicker. So many in a row are not worth their cost. */
const ATTEMPTS = 10;

/** Takes a slot of the account until `end`. Returns nothing if none is free. */
export const takeSlot = async (account: string, end: number): Promise<Slot | undefined> => {
  const names = Array.from({ length: waitsPerAccount() }, (_, place) => `slot${place}`);
  let free = names;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const name = free[Math.floor(between(0, free.length))];
    if (name === undefined) return undefined;
    const present = now();
    const slots = await updateOrExisting({
      Key: waitsKey(account),
      UpdateExpression: 'SET #slot = :end, expires_at = :expiry',
      ConditionExpression: 'attribute_not_exists(#slot) OR #slot <= :present',
      ExpressionAttributeNames: { '#slot': name },
      ExpressionAttributeValues: { ':end': end, ':present': present, ':expiry': secondsFromNow(KEPT) },
    });
    if (slots === undefined) return { account, name, end };
    free = names.filter((one) => !(Number(slots[one]) > present));
  }
  return undefined;
};

/** Releases a slot, unless its time is over. */
export const releaseSlot = async ({ account, name, end }: Slot): Promise<void> => {
  if (now() >= end) return;
  await update({
    Key: waitsKey(account),
    UpdateExpression: 'REMOVE #slot',
    ConditionExpression: '#slot = :end',
    ExpressionAttributeNames: { '#slot': name },
    ExpressionAttributeValues: { ':end': end },
  });
};
