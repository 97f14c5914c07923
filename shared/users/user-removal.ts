/**
 * Removal of profiles; `erasure.ts` erases the other data. A removal is recorded for `DELETION_MEMORY_DAYS` under a
 * hash of the number, so that neither older data that arrives later nor a restore of the table registers the user
 * again.
 */
import { now, timestamp } from '../core/clock.ts';
import { getConsistent } from '../table/client.ts';
import { type DeletionItem, deletionNow } from '../table/deletion-markers.ts';
import { conditionCheckWrite, deleteWrite, putWrite, updateWrite, type Write } from '../table/transactions.ts';
import { releaseIdWrites } from './app-users.ts';
import { contactWrite, removeContactWrite } from './contacts.ts';
import { removalKey, userKey } from './entities.ts';
import { attributeOf, propertiesOf, timeOf, type UserItem, unchanged } from './user-item.ts';

interface RemovalItem extends DeletionItem {
  /** When the user left, by the latest event of the app network. */
  removed: string;
}

/** The time of the number's last removal within `DELETION_MEMORY_DAYS`. 1 read unit. */
export const lastRemoval = async (phone: string): Promise<string | undefined> =>
  (await getConsistent<RemovalItem>(removalKey(phone)))?.removed;

/** Checks in a transaction that a user was not removed at this time or later. 2 write units. */
export const notRemovedSinceWrite = (phone: string, time: string): Write =>
  conditionCheckWrite(removalKey(phone), before(time));

const before = (time: string) => ({
  ConditionExpression: 'attribute_not_exists(pk) OR removed < :time OR expires_at <= :present',
  ExpressionAttributeValues: { ':time': time, ':present': Math.floor(now() / 1000) },
});

/**
 * The writes that remove a user, with all items that find the user. They fail if the user is changed in the meantime. 1
 * read unit, and 1 if the app network sent an id of the user. 6 write units in a transaction, 8 with an id.
 *
 * @param time - the time of the removal, as `timestamp` writes it. Newer data stays, because it belongs to a later
 * registration. Costs 1 more read unit. Default: all data is removed.
 * @returns the writes, and whether the number is registered; undefined if the same or a later removal is recorded
 */
export const removalWrites = async (
  phone: string,
  time?: string,
): Promise<{ writes: Write[]; isRegistered: boolean } | undefined> => {
  const [item, removed] = await Promise.all([
    getConsistent<UserItem>(userKey(phone)),
    time === undefined ? undefined : lastRemoval(phone),
  ]);
  if (time !== undefined && removed !== undefined && removed >= time) return undefined;
  const writes = [
    ...(await forgetWrites(phone, time, item)),
    putWrite(removalItem(phone, time ?? timestamp()), time === undefined ? {} : before(time)),
  ];
  return { writes, isRegistered: item !== undefined };
};

const removalItem = (phone: string, removed: string): RemovalItem => ({
  ...removalKey(phone),
  ...deletionNow(),
  removed,
});

/** Removes the data of a user that is not newer than `time`; by default, all data. */
const forgetWrites = async (phone: string, time: string | undefined, item: UserItem | undefined): Promise<Write[]> => {
  const { condition, values } = unchanged(item);
  const Key = userKey(phone);
  const isOld = (updated: string): boolean => time === undefined || updated <= time;
  const { app_user } = item ?? {};
  const formerId = app_user !== undefined && isOld(app_user.updated) ? app_user.id : undefined;
  const idWrites = formerId === undefined ? [] : await releaseIdWrites(formerId, phone);
  if (item === undefined || isOld(item.updated)) {
    const checked = {
      ConditionExpression: condition,
      ...(item !== undefined && { ExpressionAttributeValues: values }),
    };
    return [deleteWrite(Key, checked), removeContactWrite(phone), ...idWrites];
  }
  const older = [
    ...propertiesOf(item).flatMap(([name, property]) => (isOld(timeOf(property)) ? attributeOf(name) : [])),
    ...(formerId === undefined ? [] : ['app_user']),
  ];
  const wasPanelist = isOld(item.panelist_updated ?? '');
  return [
    updateWrite({
      Key,
      // A new `created`: the number belongs to another person now, who must not receive requests to the previous one.
      UpdateExpression: `SET created = :now${wasPanelist ? ', panelist = :false' : ''} ADD version :one${older.length > 0 ? ` REMOVE ${older.join(', ')}` : ''}`,
      ConditionExpression: condition,
      ExpressionAttributeValues: {
        ...values,
        ':now': timestamp(),
        ':one': 1,
        ...(wasPanelist && { ':false': false }),
      },
    }),
    // As new as the registration: a restore of the table compares its time with that of the removal.
    contactWrite(phone),
    ...idWrites,
  ];
};
