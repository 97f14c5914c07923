/** Users of the mobile app: registration, panelists and profiles. */
import * as v from 'valibot';
import { timestamp } from '../core/clock.ts';
import { getConsistent, getEventual, getManyConsistent, getManyEventual } from '../table/client.ts';
import { conditionCheckWrite, transact, updateWrite, type Write } from '../table/transactions.ts';
import { giveIdWrite, numberOfId, releaseIdWrites } from './app-users.ts';
import { contactWrite } from './contacts.ts';
import { userKey } from './entities.ts';
import { eventReceiptWrite, wasApplied } from './event-receipts.ts';
import { type PropertyName, propertyNames } from './profile-properties.ts';
import { attributeOf, timeOf, type UserItem, unchanged } from './user-item.ts';
import { lastRemoval, notRemovedSinceWrite } from './user-removal.ts';

/** The properties of a user that have a value. */
export type Profile = Record<PropertyName, { value: string; source: string }>;

/** The value and the source of a property; `null` if it was removed from the profile. */
type Property = { value: string; source: string } | { value: null };

/**
 * Whether a number is a registered panelist's. 0.5 read units for a panelist. Otherwise 1.5, because a consistent read
 * follows: the user may have become a panelist a moment ago.
 */
export const isPanelist = async (phone: string): Promise<boolean> =>
  (await getEventual<UserItem>(userKey(phone)))?.panelist ||
  (await getConsistent<UserItem>(userKey(phone)))?.panelist ||
  false;

/**
 * The registered panelists among these numbers. 0.5 read units for a panelist, 1.5 for another number: as `isPanelist`, and so
 * much again for each further 4 KB of a profile.
 */
export const panelistsAmong = async (phones: string[]): Promise<Set<string>> => {
  const found = await getManyEventual<UserItem[]>(phones.map(userKey));
  const missed = phones.filter((_, index) => found[index]?.panelist !== true);
  const late = await getManyConsistent<UserItem[]>(missed.map(userKey));
  const others = new Set(missed.filter((_, index) => late[index]?.panelist !== true));
  return new Set(phones.filter((phone) => !others.has(phone)));
};

/**
 * A user's profile, and the time of the registration; undefined if there is no user. A consistent read: a stale profile
 * would release values that the user has changed or removed. 1 read unit.
 */
export const latestProfile = async (
  phone: string,
): Promise<{ profile: Profile; since: string; id: string | undefined } | undefined> => {
  const item = await getConsistent<UserItem>(userKey(phone));
  return item && { profile: profileIn(item), since: item.created, id: item.app_user?.id };
};

/** A property with a value. A removed property has only the time of its removal. */
export const knownProperty = v.object({ value: v.string(), source: v.string() });

const profileIn = (item: object): Profile =>
  Object.fromEntries(
    propertyNames.flatMap((name) => {
      const { success, output } = v.safeParse(knownProperty, Object(item)[attributeOf(name)]);
      return success ? [[name, output]] : [];
    }),
  );

/** The app network's report about a user. Fields that are absent do not change the user. */
interface UserUpdate {
  phone_number: string;
  /** The app network's id of the user. */
  id?: string | undefined;
  panelist?: boolean | undefined;
  properties?: Record<PropertyName, Property> | undefined;
}

interface ReportOptions {
  /** The time of the data, as `timestamp` writes it. Default: newer than all stored data. */
  at?: string | undefined;
  /** A number whose user has left it: the user's id is taken from it. */
  left?: string | undefined;
}

/**
 * Records a report of the app network about a user. An unknown user is registered. For `EVENT_MEMORY_DAYS`, a repeat of
 * the event changes nothing. Newer data than that of the report stays; data of the time of the user's removal, or
 * before, changes nothing. 1 read unit, and 4 write units in one transaction. More units: 2 write units for the contact
 * of a new user; 1 read unit for an id, and 2 write units if it is new; 1 read unit for a report with a time, and 2
 * write units if the user is new.
 *
 * @returns the number that the id belongs to, if it is another one: then nothing is recorded
 */
export const updateUser = async (
  event: string,
  reported: UserUpdate,
  { at, left }: ReportOptions = {},
): Promise<string | undefined> => {
  const { phone_number: phone, id } = reported;
  for (;;) {
    const [item, removed, owner] = await Promise.all([
      getConsistent<UserItem>(userKey(phone)),
      at === undefined ? undefined : lastRemoval(phone),
      id === undefined ? undefined : numberOfId(id),
    ]);
    if (at !== undefined && removed !== undefined && removed >= at) return undefined;
    if (id !== undefined && owner !== undefined && owner !== phone && owner !== left) {
      return (await isOutdated(event, { id, owner, at })) ? undefined : owner;
    }
    const changes = at === undefined ? changesIn(reported) : changesNotOlder(item, reported, at);
    if (item !== undefined && at !== undefined && isEmpty(changes)) return undefined;
    const failed = await transact([
      eventReceiptWrite(event),
      ...(await userWrites(item, { phone_number: phone, ...changes }, { at, left })),
      ...(item === undefined && at !== undefined ? [notRemovedSinceWrite(phone, at)] : []),
    ]);
    if (failed.length === 0 || failed.includes(0)) return undefined;
    // The user was changed in the meantime: read again.
  }
};

/** Whether a report is a repeat, or its user has left the number since, for the number `owner`. 1 or 2 read units. */
const isOutdated = async (
  event: string,
  { id, owner, at }: { id: string; owner: string; at: string | undefined },
): Promise<boolean> => {
  if (await wasApplied(event)) return true;
  if (at === undefined) return false;
  const { app_user } = (await getConsistent<UserItem>(userKey(owner))) ?? {};
  return app_user?.id === id && app_user.updated > at;
};

/** The writes that change a user, with the items that find the user. */
const userWrites = async (
  item: UserItem | undefined,
  { id, ...reported }: UserUpdate,
  { at, left }: ReportOptions,
): Promise<Write[]> => {
  const { phone_number: phone } = reported;
  const present = timestamp();
  const time = at ?? present;
  const { updated: latest = time, app_user: former } = item ?? {};
  const updated = at !== undefined && latest > at ? latest : time;
  const change = userChange(reported, { at: time, updated, id });
  const { condition, values } = at === undefined ? stillFound(item, id) : unchanged(item);
  const isNewId = id !== undefined && former?.id !== id;
  return [
    updateWrite({
      ...change,
      ...(condition !== undefined && { ConditionExpression: condition }),
      ExpressionAttributeValues: { ...change.ExpressionAttributeValues, ...values },
    }),
    ...(item === undefined ? [contactWrite(phone)] : []),
    ...(isNewId ? [giveIdWrite(id, phone, left === undefined ? [] : [left])] : []),
    ...(isNewId && former !== undefined ? await releaseIdWrites(former.id, phone) : []),
  ];
};

/**
 * A condition for a report without a time, and its values: the items that find the user are as they were read. The
 * report replaces all other data, so that changes of one user at the same time need no repeat.
 */
const stillFound = (
  item: UserItem | undefined,
  id: string | undefined,
): { condition: string | undefined; values: Record<string, unknown> } => {
  const { app_user: former } = item ?? {};
  const conditions = [
    ...(item === undefined ? [] : ['attribute_exists(pk)']),
    ...(id === undefined ? [] : [former === undefined ? 'attribute_not_exists(app_user)' : 'app_user.id = :former']),
  ];
  return {
    condition: conditions.length === 0 ? undefined : conditions.join(' AND '),
    values: id !== undefined && former !== undefined ? { ':former': former.id } : {},
  };
};

/**
 * A change of a user's item. A property is stored with the time of its data; a removed property, only with the time.
 */
const userChange = (
  { phone_number, panelist, properties = {} }: Omit<UserUpdate, 'id'>,
  { at, updated, id }: { at: string; updated: string; id: string | undefined },
) => {
  const given = Object.entries(properties);
  const assignments = [
    'created = if_not_exists(created, :now)',
    'updated = :updated',
    ...(panelist === undefined
      ? ['panelist = if_not_exists(panelist, :panelist)']
      : ['panelist = :panelist', 'panelist_updated = :at']),
    ...(id === undefined ? [] : ['app_user = :app_user']),
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
      ...(id !== undefined && { ':app_user': { id, updated: at } }),
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

/** The changes of a report, without the number. */
const changesIn = ({ id, panelist, properties = {} }: UserUpdate) => ({ id, panelist, properties });

const isEmpty = ({ id, panelist, properties }: ReturnType<typeof changesIn>): boolean =>
  id === undefined && panelist === undefined && Object.keys(properties).length === 0;

/** The changes of a report that are not older than the stored data. */
const changesNotOlder = (item: UserItem | undefined, { id, panelist, properties = {} }: UserUpdate, at: string) => ({
  id: (item?.app_user?.updated ?? '') <= at ? id : undefined,
  panelist: (item?.panelist_updated ?? '') <= at ? panelist : undefined,
  properties: Object.fromEntries(
    Object.entries(properties).filter(([name]) => timeOf(Object(item)[attributeOf(name)]) <= at),
  ),
});

/** Checks in a transaction that the user was registered at `time` or before. 2 write units. */
export const registeredSinceWrite = (phone: string, time: string): Write =>
  conditionCheckWrite(userKey(phone), {
    ConditionExpression: 'created <= :time',
    ExpressionAttributeValues: { ':time': time },
  });
