/** Users of the mobile app: who is registered, who is a panelist, and what their profiles say. */
import * as v from 'valibot';
import { secondsFromNow, timestamp } from './clock.ts';
import { type PropertyName, propertyNames } from './properties.ts';
import { checking, findLatest, peek, puttingNew, transact, update, updating, type Write } from './table/client.ts';
import { eventKey, type Key, userKey } from './table/keys.ts';

interface UserItem extends Key {
  panelist: boolean;
  created: string;
}

export interface User {
  phone_number: string;
  panelist: boolean;
}

/** What is known of a user, by property. */
export type Profile = Partial<Record<PropertyName, { value: string; source: string }>>;

/** What a property says, and who said so; `null` where the profile says nothing any more. */
export type Property = { value: string; source: string } | { value: null };

/** What attributes begin with that hold properties. */
const PROPERTY = 'property_';

/** Seconds that an event of the app network is remembered for, so that a late repetition undoes nothing newer. */
const EVENT_MEMORY = 7 * 86_400;

/** The user with this number. 1 read unit. */
export const findUser = async (phone: string): Promise<User | undefined> => {
  const item = await findLatest<UserItem>(userKey(phone));
  return item && { phone_number: phone, panelist: item.panelist };
};

/**
 * Whether a number is a registered panelist's. 0.5 read units. If an eventually consistent read says no, it is repeated
 * consistently, because the number may have become one a moment ago: 1.5.
 */
export const isPanelist = async (phone: string): Promise<boolean> =>
  (await peek<UserItem>(userKey(phone)))?.panelist || (await findLatest<UserItem>(userKey(phone)))?.panelist || false;

/**
 * What is known of a user at this moment, and since when there is this user; nothing, where there is none. A stale
 * profile would release values that the user has changed or removed. 1 read unit.
 */
export const latestProfile = async (phone: string): Promise<{ profile: Profile; since: string } | undefined> => {
  const item = await findLatest<UserItem>(userKey(phone));
  return item && { profile: profileIn(item), since: item.created };
};

/** All that is kept of a user, whatever the catalogue says by now. */
export interface WholeUser {
  registered: string;
  panelist: boolean;
  /** With when the app last said so. */
  properties: Record<string, unknown>;
}

/** All that is kept of a user; nothing, where there is no such user. 1 read unit. */
export const wholeUser = async (phone: string): Promise<WholeUser | undefined> => {
  const item = await findLatest<UserItem>(userKey(phone));
  if (item === undefined) return undefined;
  const properties = Object.entries(item).flatMap(([name, property]) =>
    name.startsWith(PROPERTY) ? [[name.slice(PROPERTY.length), property]] : [],
  );
  return { registered: item.created, panelist: item.panelist, properties: Object.fromEntries(properties) };
};

const known = v.object({ value: v.string(), source: v.string() });

const profileIn = (item: object): Profile =>
  Object.fromEntries(
    propertyNames.flatMap((name) => {
      const { success, output } = v.safeParse(known, Object(item)[attributeOf(name)]);
      return success ? [[name, output]] : [];
    }),
  );

/**
 * Registers a user of the app, or changes whether a registered one is a panelist. Repeating it changes nothing.
 *
 * @param user.panelist - missing: a new user is none, and a registered one stays what they are
 * @returns whether anything changed
 */
export const registerUser = async ({
  phone_number,
  panelist,
}: Pick<User, 'phone_number'> & Partial<User>): Promise<boolean> =>
  update({
    Key: userKey(phone_number),
    UpdateExpression: 'SET panelist = :panelist, created = if_not_exists(created, :now)',
    ConditionExpression: `attribute_not_exists(pk)${panelist === undefined ? '' : ' OR panelist <> :panelist'}`,
    ExpressionAttributeValues: { ':panelist': panelist ?? false, ':now': timestamp() },
  });

/**
 * Takes what the app says of a user: what is given is set, what is not stays. Who was not registered is from now on.
 * The same event again changes nothing for seven days. 4 write units in one transaction.
 */
export const updateUser = async (
  event: string,
  {
    phone_number,
    panelist,
    properties = {},
  }: {
    phone_number: string;
    panelist?: boolean | undefined;
    properties?: Partial<Record<PropertyName, Property>> | undefined;
  },
): Promise<void> => {
  const given = Object.entries(properties);
  const set = given.filter(([, { value }]) => value !== null);
  const removed = given.filter(([, { value }]) => value === null).map(([name]) => attributeOf(name));
  const updated = timestamp();
  const assignments = [
    'created = if_not_exists(created, :now)',
    panelist === undefined ? 'panelist = if_not_exists(panelist, :panelist)' : 'panelist = :panelist',
    ...set.map(([name]) => `${attributeOf(name)} = :${name}`),
  ];
  await takeOnce(event, [
    updating({
      Key: userKey(phone_number),
      UpdateExpression: `SET ${assignments.join(', ')}${removed.length > 0 ? ` REMOVE ${removed.join(', ')}` : ''}`,
      ExpressionAttributeValues: {
        ':now': updated,
        ':panelist': panelist ?? false,
        ...Object.fromEntries(set.map(([name, property]) => [`:${name}`, { ...property, updated }])),
      },
    }),
  ]);
};

/** Holds that there is this user since then or before, within a transaction that fails otherwise. 2 write units. */
export const knownSince = (phone: string, time: string): Write =>
  checking(userKey(phone), {
    ConditionExpression: 'created <= :time',
    ExpressionAttributeValues: { ':time': time },
  });

/** The attribute that holds a property. */
const attributeOf = (property: string): string => `${PROPERTY}${property}`;

/** Remembers for seven days that something was done, within the transaction that does it; fails if it was done before. */
export const eventReceipt = (event: string): Write =>
  puttingNew({ ...eventKey(event), expires_at: secondsFromNow(EVENT_MEMORY) });

/** Does what an event asks for, unless it was done: the same event again changes nothing for seven days. */
export const takeOnce = async (event: string, writes: Write[]): Promise<void> => {
  await transact([eventReceipt(event), ...writes]);
};
