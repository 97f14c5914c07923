/**
 * Removal of users as far as their profile goes; `erasure.ts` does the rest. A removal is remembered for seven days under a
 * hash of the number, so that older data that arrives later does not register the user again.
 */
import { now, timestamp } from '../core/clock.ts';
import { getConsistent } from '../table/client.ts';
import { type Key, removalKey, userKey } from '../table/keys.ts';
import { conditionCheckWrite, deleteWrite, putWrite, updateWrite, type Write } from '../table/transactions.ts';
import { endOfEventMemory } from './event-receipts.ts';
import { attributeOf, propertiesOf, timeOf, type UserItem, unchanged } from './user-item.ts';

interface RemovalItem extends Key {
  removed: string;
  expires_at: number;
}

/** When the user with this number was removed last, in the last seven days. 1 read unit. */
export const lastRemoval = async (phone: string): Promise<string | undefined> =>
  (await getConsistent<RemovalItem>(removalKey(phone)))?.removed;

/** Checks that a user was not removed at this time or later, within a transaction that fails otherwise. 2 write units. */
export const notRemovedSinceWrite = (phone: string, time: string): Write =>
  conditionCheckWrite(removalKey(phone), before(time));

const before = (time: string) => ({
  ConditionExpression: 'attribute_not_exists(pk) OR removed < :time OR expires_at <= :present',
  ExpressionAttributeValues: { ':time': time, ':present': Math.floor(now() / 1000) },
});

/** The writes that remove a user, whatever is known. 4 write units in a transaction. */
export const removalWrites = (phone: string): Write[] => [
  deleteWrite(userKey(phone)),
  putWrite(removalItem(phone, timestamp())),
];

/**
 * The same for a removal at a known time: data that is newer stays, for somebody has registered since. Nothing, where a
 * later removal is known. 2 read units.
 */
export const removalWritesAt = async (phone: string, time: string): Promise<Write[] | undefined> => {
  const [item, removed] = await Promise.all([getConsistent<UserItem>(userKey(phone)), lastRemoval(phone)]);
  if (removed !== undefined && removed >= time) return undefined;
  return [forgetWrite(phone, time, item), putWrite(removalItem(phone, time), before(time))];
};

const removalItem = (phone: string, removed: string): RemovalItem => ({
  ...removalKey(phone),
  removed,
  expires_at: endOfEventMemory(),
});

/** Removes a user as far as nothing newer is known. */
const forgetWrite = (phone: string, time: string, item: UserItem | undefined): Write => {
  const { condition, values } = unchanged(item);
  const Key = userKey(phone);
  if (item?.updated === undefined || item.updated <= time) {
    return deleteWrite(Key, {
      ConditionExpression: condition,
      ...(item !== undefined && { ExpressionAttributeValues: values }),
    });
  }
  const older = propertiesOf(item).flatMap(([name, property]) => (timeOf(property) <= time ? attributeOf(name) : []));
  const isOld = (item.panelist_updated ?? '') <= time;
  return updateWrite({
    Key,
    // Whoever is registered now is another person: requests to the one before are not theirs.
    UpdateExpression: `SET created = :now${isOld ? ', panelist = :false' : ''} ADD version :one${older.length > 0 ? ` REMOVE ${older.join(', ')}` : ''}`,
    ConditionExpression: condition,
    ExpressionAttributeValues: { ...values, ':now': timestamp(), ':one': 1, ...(isOld && { ':false': false }) },
  });
};
