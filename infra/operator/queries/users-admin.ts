/** Registers and reads users of the app, for operators. */

import * as v from 'valibot';
import { timestamp } from '../../../shared/core/clock.ts';
import { getConsistent, pages } from '../../../shared/table/client.ts';
import type { Key } from '../../../shared/table/keys.ts';
import { transact, updateWrite } from '../../../shared/table/transactions.ts';
import { type ConsentItem, owedIn, owedSince } from '../../../shared/user-data/consents.ts';
import { acknowledgements } from '../../../shared/user-data/entities.ts';
import { contactWrite } from '../../../shared/users/contacts.ts';
import { userKey } from '../../../shared/users/entities.ts';
import { propertiesOf, type UserItem } from '../../../shared/users/user-item.ts';
import { knownProperty } from '../../../shared/users/users.ts';

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
  /** The app network's id of the user, if it has sent one. */
  id?: string;
  panelist: boolean;
  /** Each with the time at which the app last reported it. */
  properties: Record<string, unknown>;
}

/** A user with all stored properties; undefined if there is no such user. 1 read unit. */
export const wholeUser = async (phone: string): Promise<WholeUser | undefined> => {
  const item = await getConsistent<UserItem>(userKey(phone));
  if (item === undefined) return undefined;
  const properties = propertiesOf(item).filter(([, property]) => v.is(knownProperty, property));
  const id = item.app_user?.id;
  return {
    registered: item.created,
    ...(id !== undefined && { id }),
    panelist: item.panelist,
    properties: Object.fromEntries(properties),
  };
};

/**
 * Registers a user of the app, or changes whether a registered one is a panelist. Repeating it changes nothing. 4 write
 * units in one transaction, also for an unchanged user.
 *
 * @param user.panelist - if missing, a new user is not a panelist, and a registered user is unchanged
 * @returns whether anything changed
 */
export const registerUser = async ({
  phone_number,
  panelist,
}: Pick<User, 'phone_number'> & Partial<User>): Promise<boolean> => {
  const failed = await transact([
    updateWrite({
      Key: userKey(phone_number),
      UpdateExpression: `SET panelist = :panelist,${panelist === undefined ? '' : ' panelist_updated = :now,'} updated = :now, created = if_not_exists(created, :now) ADD version :one`,
      ConditionExpression: `attribute_not_exists(pk)${panelist === undefined ? '' : ' OR panelist <> :panelist'}`,
      ExpressionAttributeValues: {
        ':panelist': panelist ?? false,
        ':now': timestamp(),
        ':one': 1,
      },
    }),
    contactWrite(phone_number),
  ]);
  return failed.length === 0;
};

/** Items that are read at the same time. */
const TOGETHER = 25;

/** A deletion that a business owes since the consent to properties of a request ended. */
export interface OutstandingDeletion {
  request_id: string;
  account: string;
  /** The user's number; a pseudonym, if the user was removed. */
  phone_number: string;
  properties: string[];
  /** When the first of these consents ended. */
  since: string;
}

/**
 * The deletions that businesses have not acknowledged, the oldest first. 1.5 read units for each.
 *
 * @param account - only those of this account
 */
export const outstandingDeletions = async (account: string | undefined): Promise<OutstandingDeletion[]> => {
  const found: OutstandingDeletion[] = [];
  for await (const keys of pages<Key>({
    IndexName: 'gsi3',
    KeyConditionExpression: 'gsi3pk = :owed',
    ExpressionAttributeValues: { ':owed': acknowledgements },
    ProjectionExpression: 'pk, sk',
    Limit: TOGETHER,
  })) {
    const items = await Promise.all(keys.map(({ pk, sk }) => getConsistent<ConsentItem>({ pk, sk })));
    for (const item of items) {
      // The index may be behind: the deletion may be acknowledged.
      const since = item && owedSince(item);
      if (item === undefined || since === undefined || (account !== undefined && item.account !== account)) continue;
      const properties = owedIn(item);
      found.push({ request_id: item.id, account: item.account, phone_number: item.phone, properties, since });
    }
  }
  return found;
};
