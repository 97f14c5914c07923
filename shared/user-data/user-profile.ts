/** What businesses may read of registered users without asking: who is registered, and the automatic properties. */
import * as v from 'valibot';
import { chargeAllowance } from '../accounts/allowances.ts';
import { timestamp } from '../core/clock.ts';
import { newId } from '../core/ids.ts';
import { Problem } from '../core/problems.ts';
import { contactOf } from '../messaging/jids.ts';
import { hasOptedOut } from '../messaging/opt-outs/opt-outs.ts';
import { numberOfId } from '../users/app-users.ts';
import { registeredAmong } from '../users/contacts.ts';
import { contactHash } from '../users/entities.ts';
import { isAutomatic, propertyNames } from '../users/profile-properties.ts';
import { latestProfile } from '../users/users.ts';
import { phoneNumber, uuid } from '../validation/schemas.ts';
import { recordConsentReceipt } from './consent-receipts.ts';
import { userOptedOut } from './requests.ts';
import { granted, grantOf, releasedIn } from './stored-request.ts';

/**
 * The registered ones of these contacts, as given, in the same order. 0.5 read units for each different contact, and 1
 * write unit for the allowance.
 *
 * @param isHashed - whether the contacts are hashes of numbers, instead of numbers
 * @throws allowance_exceeded — the account has asked for too many numbers today
 */
export const matchContacts = async (account: string, contacts: string[], isHashed: boolean): Promise<string[]> => {
  const hashes = new Map(contacts.map((contact) => [contact, isHashed ? contact : contactHash(contact)]));
  await chargeAllowance(account, 'contacts', hashes.size);
  const registered = await registeredAmong(new Set(hashes.values()));
  return contacts.filter((contact) => registered.has(hashes.get(contact) ?? ''));
};

/** A user as businesses see it. */
export interface UserProfile {
  number: string;
  /** The app network's id of the user, if it has sent one. */
  id?: string;
  contact: string;
  /** The automatic properties that have a value. */
  properties: Record<string, { source: string; value: string; timestamp: string }>;
}

/**
 * A user, by number or by the app network's id, with the properties that need no approval. 2 read units,
 * 3 for an id; 1 write unit for the allowance, and 1 for the receipt if a value is released.
 *
 * @throws allowance_exceeded — the account has asked for too many numbers today
 * @throws user_not_found — no user has this number or this id
 * @throws user_opted_out — the user has stopped the account; nothing is released
 */
export const readUserProfile = async (account: string, user: string): Promise<UserProfile> => {
  await chargeAllowance(account, 'contacts', 1);
  const id = v.is(uuid, user) ? user : undefined;
  const phone = id === undefined ? user : await numberOfId(id);
  const found = v.is(phoneNumber, phone) ? await latestProfile(phone) : undefined;
  // The id may have moved to another number since it was read.
  if (found === undefined || !v.is(phoneNumber, phone) || (id !== undefined && found.id !== id)) {
    throw new Problem('user_not_found', 'No user of the app has this number or id.');
  }
  if (await hasOptedOut(account, phone)) throw userOptedOut();
  const created = timestamp();
  const results = granted(found.profile, propertyNames.filter(isAutomatic), created);
  const released = releasedIn(results);
  if (released.length > 0) {
    await recordConsentReceipt(phone, grantOf({ id: newId(), account, phone }, undefined, released, created));
  }
  const properties = Object.entries(results).flatMap(([name, result]) => {
    if (result.status !== 'approved') return [];
    const { source, value, timestamp } = result;
    return [[name, { source, value, timestamp }]];
  });
  return {
    number: phone,
    ...(found.id !== undefined && { id: found.id }),
    contact: contactOf(phone),
    properties: Object.fromEntries(properties),
  };
};
