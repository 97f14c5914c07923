/** The rows about users of the app. */
import { keyedHash, unkeyedHash } from '../core/keyed-hashes.ts';
import type { Entity } from '../table/entity.ts';
import { after, type Key, key } from '../table/keys.ts';

const USERS = 'USER#';

/** A user of the app. */
export const userKey = (phone: string): Key => key(`${USERS}${phone}`, 'USER');

const EVENTS = 'EVENT#';

/** The receipt of an event of the app network, for events whose repeat would have an effect. */
export const eventKey = (event: string): Key => key(`${EVENTS}${event}`, 'EVENT');

/** The receipt of a user's answer to a data request: with it, a repeat succeeds also after the request has expired. */
export const answeredEventKey = (event: string): Key => key(eventKey(event).pk, 'ANSWERED');

const CONTACTS = 'CONTACT#';

/** A small item for each user, by the hash of the number in the form of the API: it shows that the number is registered. */
export const contactKey = (hash: string): Key => key(`${CONTACTS}${personHash(hash)}`, 'CONTACT');

const REMOVALS = 'REMOVED#';

/**
 * The hash of a phone number in the form of the API: SHA-256 in upper-case hexadecimal. It is stored nowhere, because it has
 * no key.
 */
export const contactHash = (phone: string): string => unkeyedHash(phone).toUpperCase();

/** The keyed hash of a number, by its hash in the form of the API. */
const personHash = (hash: string): string => keyedHash('number', hash);

/** The time of the removal of a person, by the keyed hash of the number. */
export const removalByHash = (hash: string): Key => key(`${REMOVALS}${hash}`, 'REMOVED');

/** The time of a user's removal, under a keyed hash of the number: older data does not register the user again. */
export const removalKey = (phone: string): Key => removalByHash(personHash(contactHash(phone)));

const APP_USERS = 'APPUSER#';

/** The number of a user, by the app network's id of the user. */
export const appUserKey = (id: string): Key => key(`${APP_USERS}${id}`, 'APPUSER');

const user = {
  name: 'user',
  pk: USERS,
  sk: 'USER',
  restore: 'missing',
  expires: false,
  person: { erasure: 'removed', phone: (item) => after(USERS, item), exported: 'profile' },
  access: {
    findUser: 'GetItem',
    findUsers: 'BatchGetItem',
    updateUser: 'UpdateItem',
    removeUser: 'DeleteItem',
    checkUser: 'ConditionCheckItem',
  },
} as const satisfies Entity;

const contact = {
  name: 'contact of a user',
  pk: CONTACTS,
  sk: 'CONTACT',
  restore: 'missing',
  expires: false,
  person: {
    erasure: 'removed',
    phoneHash: (item) => after(CONTACTS, item),
    exported: { not: 'it has only a keyed hash of the number' },
  },
  access: { findContacts: 'BatchGetItem', putContact: 'PutItem', removeContact: 'DeleteItem' },
} as const satisfies Entity;

const appUser = {
  name: 'id of a user in the app',
  pk: APP_USERS,
  sk: 'APPUSER',
  restore: 'missing',
  expires: false,
  person: { erasure: 'removed', phone: (item) => String(item.phone), exported: { not: 'the profile has the id' } },
  access: { findAppUser: 'GetItem', putAppUser: 'PutItem', removeAppUser: 'DeleteItem' },
} as const satisfies Entity;

const removal = {
  name: 'removal of a user',
  pk: REMOVALS,
  sk: 'REMOVED',
  restore: 'everything',
  expires: true,
  person: { erasure: 'hashed', exported: { not: 'it has only a keyed hash of the number' } },
  access: { putRemoval: 'PutItem', findRemoval: 'GetItem', checkRemoval: 'ConditionCheckItem' },
} as const satisfies Entity;

const eventReceipt = {
  name: 'event receipt',
  pk: EVENTS,
  sk: '',
  restore: 'missing',
  expires: true,
  person: 'none',
  access: { putEventReceipt: 'PutItem', findEventReceipt: 'GetItem' },
} as const satisfies Entity;

export const userEntities = [user, contact, appUser, removal, eventReceipt] as const;
