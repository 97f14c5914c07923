/**
 * Slots of long polls. A long poll occupies a function while it waits, so an account has a few slots, and all accounts together
 * have as many as half of the executions that Lambda allows. Each long poll holds one of both. The slots are attributes of
 * one item: `slot7` is when its holder's wait ends, in milliseconds since 1970.
 *
 *     take     slot7 = end, if it is free or its time is over    1 write unit, and again for each slot that was taken
 *     release  remove slot7, if it is still this wait's          1 write unit, if the wait ended early
 *
 * A function that ends without releasing its slot holds it until its wait would have ended. A failed attempt returns all
 * slots as they are, so that the next one takes a free slot, unless another wait has taken that one at the same moment.
 *
 * The slots of all accounts are in groups, and a wait looks into a few of them at random: one item would take only 1,000
 * writes a second for all long polls of the deployment.
 */
import { between, now, secondsFromNow } from '../../core/clock.ts';
import { waitsInAll, waitsPerAccount } from '../../core/settings.ts';
import { tryUpdate, update } from '../../table/client.ts';
import type { Key } from '../../table/keys.ts';
import { sharedWaitsKey, waitsKey } from '../entities.ts';

/** A slot that a wait holds until `end`, in milliseconds since 1970. */
export interface Slot {
  key: Key;
  name: string;
  end: number;
}

/** Seconds that the item outlives the begin of the last wait. Longer than any wait, so that TTL removes no slot in use. */
const TTL_S = 3_600;

/** Each failed attempt means that another wait was quicker. So many in a row are not worth their cost. */
const ATTEMPTS = 10;

/** Slots of a group, whose item has less than 1 KB. */
const GROUP_SIZE = 25;

/** Groups that a wait looks into. If nine of ten slots are in use, a wait finds one in nearly all cases. */
const GROUPS_TRIED = 3;

/** Takes a slot of the account until `end`. Returns nothing if none is free. */
export const takeSlot = (account: string, end: number): Promise<Slot | undefined> =>
  takeOne(waitsKey(account), waitsPerAccount(), end);

/**
 * Takes a slot of those that all accounts share, until `end`. Returns nothing if none is free in three groups. 1 write unit,
 * and again for each slot that was taken and each group that was full.
 */
export const takeSharedSlot = async (end: number): Promise<Slot | undefined> => {
  const all = waitsInAll();
  const groups = Array.from({ length: Math.ceil(all / GROUP_SIZE) }, (_, group) => group);
  for (let tried = 0; tried < GROUPS_TRIED && groups.length > 0; tried += 1) {
    const [group = 0] = groups.splice(Math.floor(between(0, groups.length)), 1);
    const slot = await takeOne(sharedWaitsKey(group), Math.min(GROUP_SIZE, all - group * GROUP_SIZE), end);
    if (slot !== undefined) return slot;
  }
  return undefined;
};

/** Takes one of so many slots of an item. */
const takeOne = async (key: Key, count: number, end: number): Promise<Slot | undefined> => {
  const names = Array.from({ length: count }, (_, index) => `slot${index}`);
  let free = names;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const name = free[Math.floor(between(0, free.length))];
    if (name === undefined) return undefined;
    const present = now();
    const { isDone, item } = await tryUpdate({
      Key: key,
      UpdateExpression: 'SET #slot = :end, expires_at = :expiry',
      ConditionExpression: 'attribute_not_exists(#slot) OR #slot <= :present',
      ExpressionAttributeNames: { '#slot': name },
      ExpressionAttributeValues: { ':end': end, ':present': present, ':expiry': secondsFromNow(TTL_S) },
    });
    if (isDone) return { key, name, end };
    free = names.filter((one) => !(Number(item?.[one]) > present));
  }
  return undefined;
};

/** Releases a slot, unless its time is over. */
export const releaseSlot = async ({ key, name, end }: Slot): Promise<void> => {
  if (now() >= end) return;
  await update({
    Key: key,
    UpdateExpression: 'REMOVE #slot',
    ConditionExpression: '#slot = :end',
    ExpressionAttributeNames: { '#slot': name },
    ExpressionAttributeValues: { ':end': end },
  });
};
