/** Users of the mobile app: who is registered, who is a panelist, and what their profiles say. */
import { secondsFromNow, timestamp } from './clock.ts';
import type { PropertyName } from './properties.ts';
import { find, puttingNew, removing, transact, update, updating, type Write } from './table/client.ts';
import { eventKey, type Key, userKey } from './table/keys.ts';

interface UserItem extends Key {
  panelist: boolean;
  created: string;
}

export interface User {
  phone_number: string;
  panelist: boolean;
}

/** What a property says, and who said so; `null` where the profile says nothing any more. */
export type Property = { value: string; source: string } | { value: null };

/** Seconds that an event of the app network is remembered for, so that a late repetition undoes nothing newer. */
const EVENT_MEMORY = 7 * 86_400;

/** The user with this number. 0.5 read units. */
export const findUser = async (phone: string): Promise<User | undefined> => {
  const item = await find<UserItem>(userKey(phone));
  return item && { phone_number: phone, panelist: item.panelist };
};

/**
 * Registers a user of the app, or changes whether a registered one is a panelist. Repeating it changes nothing.
 *
 * @returns whether anything changed
 */
export const registerUser = async ({ phone_number, panelist }: User): Promise<boolean> =>
  update({
    Key: userKey(phone_number),
    UpdateExpression: 'SET panelist = :panelist, created = if_not_exists(created, :now)',
    ConditionExpression: 'attribute_not_exists(pk) OR panelist <> :panelist',
    ExpressionAttributeValues: { ':panelist': panelist, ':now': timestamp() },
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
  await once(
    event,
    updating({
      Key: userKey(phone_number),
      UpdateExpression: `SET ${assignments.join(', ')}${removed.length > 0 ? ` REMOVE ${removed.join(', ')}` : ''}`,
      ExpressionAttributeValues: {
        ':now': updated,
        ':panelist': panelist ?? false,
        ...Object.fromEntries(set.map(([name, property]) => [`:${name}`, { ...property, updated }])),
      },
    }),
  );
};

/**
 * Removes a user and the profile; one who is not there is gone already. The same event again changes nothing for seven
 * days, whoever registers in between. 4 write units in one transaction.
 */
export const removeUser = (event: string, phone: string): Promise<void> => once(event, removing(userKey(phone)));

/** The attribute that holds a property. */
const attributeOf = (property: string): string => `property_${property}`;

/** Does what an event asks for, unless it was done. */
const once = async (event: string, write: Write): Promise<void> => {
  await transact([puttingNew({ ...eventKey(event), expires_at: secondsFromNow(EVENT_MEMORY) }), write]);
};
