/** Registers and reads users of the app, for operators. */

import * as v from 'valibot';
import { timestamp } from '../../../shared/core/clock.ts';
import { getConsistent, update } from '../../../shared/table/client.ts';
import { userKey } from '../../../shared/table/keys.ts';
import { propertiesOf, type UserItem } from '../../../shared/users/user-item.ts';
import { known } from '../../../shared/users/users.ts';

export interface User {
  phone_number: string;
  panelist: boolean;
}

/** The user with this number. 0.5 read units. */
export const findUser = async (phone: string): Promise<User | undefined> => {
  const item = await getConsistent<UserItem>(userKey(phone));
  return item && { phone_number: phone, panelist: item.panelist };
};

/** A user with all stored properties, including properties that the catalogue no longer has. */
export interface WholeUser {
  registered: string;
  panelist: boolean;
  /** Each with the time at which the app last reported it. */
  properties: Record<string, unknown>;
}

/** A user with all stored properties; undefined if there is no such user. 1 read unit. */
export const wholeUser = async (phone: string): Promise<WholeUser | undefined> => {
  const item = await getConsistent<UserItem>(userKey(phone));
  if (item === undefined) return undefined;
  const properties = propertiesOf(item).filter(([, property]) => v.is(known, property));
  return { registered: item.created, panelist: item.panelist, properties: Object.fromEntries(properties) };
};

/**
 * Registers a user of the app, or changes whether a registered one is a panelist. Repeating it changes nothing.
 *
 * @param user.panelist - if missing, a new user is not a panelist, and a registered user is unchanged
 * @returns whether anything changed
 */
export const registerUser = async ({
  phone_number,
  panelist,
}: Pick<User, 'phone_number'> & Partial<User>): Promise<boolean> =>
  update({
    Key: userKey(phone_number),
    UpdateExpression: `SET panelist = :panelist,${panelist === undefined ? '' : ' panelist_updated = :now,'} updated = :now, created = if_not_exists(created, :now) ADD version :one`,
    ConditionExpression: `attribute_not_exists(pk)${panelist === undefined ? '' : ' OR panelist <> :panelist'}`,
    ExpressionAttributeValues: { ':panelist': panelist ?? false, ':now': timestamp(), ':one': 1 },
  });
