/** The rows of users. */

import { keyedHash, unkeyedHash } from '../core/keyed-hashes.ts';
import { type Key, key } from '../table/keys.ts';

/** A user of the app. */
export const userKey = (phone: string): Key => key(`USER#${phone}`, 'USER');

/** The receipt of an event of the app network, for events whose repeat would have an effect. */
export const eventKey = (event: string): Key => key(`EVENT#${event}`, 'EVENT');

/** The receipt of a user's answer to a data request: with it, a repeat succeeds also after the request has expired. */
export const answeredEventKey = (event: string): Key => key(eventKey(event).pk, 'ANSWERED');

const CONTACTS = 'HASH#';

/** A small item for each user, by the hash of the number in the form of the API: it shows that the number is registered. */
export const contactKey = (hash: string): Key => key(`${CONTACTS}${personHash(hash)}`, 'HASH');

/** The key of the removal of a contact's user. */
export const removalOfContact = ({ pk }: Pick<Key, 'pk'>): Key => removalOf(pk.slice(CONTACTS.length));

const REMOVALS = 'REMOVED#';

/**
 * The hash of a phone number in the form of the API: SHA-256 in upper-case hexadecimal. It is stored nowhere, because it has
 * no key.
 */
export const contactHash = (phone: string): string => unkeyedHash(phone).toUpperCase();

/** The keyed hash of a number, by its hash in the form of the API. */
const personHash = (hash: string): string => keyedHash('number', hash);

/** The time of the removal of a person. */
const removalOf = (person: string): Key => key(`${REMOVALS}${person}`, 'REMOVED');

/** The time of a user's removal, under a keyed hash of the number: older data does not register the user again. */
export const removalKey = (phone: string): Key => removalOf(personHash(contactHash(phone)));

/** The number of a user, by the app network's id of the user. */
export const appUserKey = (id: string): Key => key(`APPUSER#${id}`, 'APPUSER');
