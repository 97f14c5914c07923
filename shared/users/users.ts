/** Users of the mobile app: who is registered, who is a panelist, and what their profiles say. */
import * as v from 'valibot';
import { timestamp } from '../core/clock.ts';
import { getConsistent, getEventual } from '../table/client.ts';
import { userKey } from '../table/keys.ts';
import { conditionCheckWrite, transact, updateWrite, type Write } from '../table/transactions.ts';
import { applyOnce, eventReceiptWrite } from './event-receipts.ts';
import { type PropertyName, propertyNames } from './profile-properties.ts';
import { attributeOf, timeOf, type UserItem, unchanged } from './user-item.ts';
import { lastRemoval, notRemovedSinceWrite } from './user-removal.ts';

/** What is known of a user, by property. */
export type Profile = Partial<Record<PropertyName, { value: string; source: string }>>;

/** The value and the source of a property; `null` if it was removed from the profile. */
type Property = { value: string; source: string } | { value: null };
/**
 * Whether a number is a registered panelist's. 0.5 read units. If an eventually consistent read says no, it is repeated
 * consistently, because the number may have become one a moment ago: 1.5.
 */
export const isPanelist = async (phone: string): Promise<boolean> =>
  (await getEventual<UserItem>(userKey(phone)))?.panelist ||
  (await getConsistent<UserItem>(userKey(phone)))?.panelist ||
  false;

/**
 * What is known of a user at this moment, and since when there is this user; nothing, where there is none. A stale
 * profile would release values that the user has changed or removed. 1 read unit.
 */
export const latestProfile = async (phone: string): Promise<{ profile: Profile; since: string } | undefined> => {
  const item = await getConsistent<UserItem>(userKey(phone));
  return item && { profile: profileIn(item), since: item.created };
};
/** A property with a value; one that was removed keeps the time of that alone. */
export const known = v.object({ value: v.string(), source: v.string() });

const profileIn = (item: object): Profile =>
  Object.fromEntries(
    propertyNames.flatMap((name) => {
      const { success, output } = v.safeParse(known, Object(item)[attributeOf(name)]);
      return success ? [[name, output]] : [];
    }),
  );

/** What the app network reports of a user: what is given is set, what is not stays. */
interface UserUpdate {
  phone_number: string;
  panelist?: boolean | undefined;
  properties?: Partial<Record<PropertyName, Property>> | undefined;
}

/**
 * Records what the app network reports of a user, who is registered by it. The same event again changes nothing for
 * seven days. 4 write units in one transaction.
 *
 * @param at - when the data was true, as `timestamp` writes it: what is known of a later time stays, and data from
 * before the user's removal, or of the same time, changes nothing. 2 read units more, and 2 write units where the user is
 * new. Without it, the data counts as newer than all that is known.
 */
export const updateUser = async (event: string, reported: UserUpdate, at?: string): Promise<void> => {
  if (at === undefined) {
    const present = timestamp();
    return applyOnce(event, [updateWrite(userChange(reported, { at: present, updated: present }))]);
  }
  const { phone_number } = reported;
  for (;;) {
    const [item, removed] = await Promise.all([
      getConsistent<UserItem>(userKey(phone_number)),
      lastRemoval(phone_number),
    ]);
    if (removed !== undefined && removed >= at) return;
    const newer = notOlder(item, reported, at);
    if (item !== undefined && newer.panelist === undefined && Object.keys(newer.properties).length === 0) return;
    const { condition, values } = unchanged(item);
    const { updated = at } = item ?? {};
    const change = userChange({ phone_number, ...newer }, { at, updated: updated > at ? updated : at });
    const failed = await transact([
      eventReceiptWrite(event),
      updateWrite({
        ...change,
        ConditionExpression: condition,
        ExpressionAttributeValues: { ...change.ExpressionAttributeValues, ...values },
      }),
      ...(item === undefined ? [notRemovedSinceWrite(phone_number, at)] : []),
    ]);
    if (failed.length === 0 || failed.includes(0)) return;
    // The user was changed meanwhile.
  }
};

/** A change of a user's item: each property with the time of its data, which alone stays of one that is removed. */
const userChange = (
  { phone_number, panelist, properties = {} }: UserUpdate,
  { at, updated }: { at: string; updated: string },
) => {
  const given = Object.entries(properties);
  const assignments = [
    'created = if_not_exists(created, :now)',
    'updated = :updated',
    ...(panelist === undefined
      ? ['panelist = if_not_exists(panelist, :panelist)']
      : ['panelist = :panelist', 'panelist_updated = :at']),
    ...given.map(([name]) => `${attributeOf(name)} = :${name}`),
  ];
  return {
    Key: userKey(phone_number),
    UpdateExpression: `SET ${assignments.join(', ')} ADD version :one`,
    ExpressionAttributeValues: {
      ':now': timestamp(),
      ':updated': updated,
      ':panelist': panelist ?? false,
      ...(panelist !== undefined && { ':at': at }),
      ...Object.fromEntries(
        given.map(([name, property]) => [
          `:${name}`,
          property.value === null ? { updated: at } : { ...property, updated: at },
        ]),
      ),
      ':one': 1,
    },
  };
};

/** The part of an update that is not older than what is known. */
const notOlder = (item: UserItem | undefined, { panelist, properties = {} }: UserUpdate, at: string) => ({
  panelist: (item?.panelist_updated ?? '') <= at ? panelist : undefined,
  properties: Object.fromEntries(
    Object.entries(properties).filter(([name]) => timeOf(Object(item)[attributeOf(name)]) <= at),
  ),
});

/** Holds that there is this user since then or before, within a transaction that fails otherwise. 2 write units. */
export const registeredSinceWrite = (phone: string, time: string): Write =>
  conditionCheckWrite(userKey(phone), {
    ConditionExpression: 'created <= :time',
    ExpressionAttributeValues: { ':time': time },
  });
