/** Users of the mobile app: who is registered, and who is a panelist. */
import { timestamp } from './clock.ts';
import { find, update } from './table/client.ts';
import { type Key, userKey } from './table/keys.ts';

interface UserItem extends Key {
  panelist: boolean;
  created: string;
}

export interface User {
  phone_number: string;
  panelist: boolean;
}

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
