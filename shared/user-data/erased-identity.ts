/** Tells apart the data of an erased user and the data of the number's next owner, by time. */

import { scaled, timestampOf } from '../core/clock.ts';
import { getConsistent } from '../table/client.ts';
import { type Key, userKey } from '../table/keys.ts';

/** An erasure that is not complete. */
export interface ErasureItem extends Key {
  /** Replaces the phone number. Random, so that it identifies nobody. */
  pseudonym: string;
  /** When the erasure was requested. */
  requested: string;
  /** Accounts whose delivery history the last run looks at again. */
  accounts?: string[];
}

/** Milliseconds from the request to the last run. Requests and deliveries that were in progress have ended by then. */
const AFTERMATH_MS = 120_000;

/** The erased user's number and pseudonym, and the times that bound the user's data. */
export interface ErasedIdentity {
  phone: string;
  pseudonym: string;
  /** Data that was created by this time belongs to the erased user. */
  until: string;
  /** Log entries and reports that follow from such data are found up to this time. */
  end: string;
}

/** The time of an erasure's last run, in milliseconds since 1970. */
export const lastLookAt = ({ requested }: Pick<ErasureItem, 'requested'>): number =>
  Date.parse(requested) + scaled(AFTERMATH_MS);

/** The identity that an erasure is about. 1 read unit. */
export const erasedIdentityOf = async (phone: string, erasure: ErasureItem): Promise<ErasedIdentity> => {
  const end = timestampOf(lastLookAt(erasure));
  const until = await endOfTheirs(phone, timestampOf(Date.parse(erasure.requested)), end);
  return { phone, pseudonym: erasure.pseudonym, end, until };
};

/** `until` of an erased identity: the time at which the number was registered again, else the time of the last run. */
const endOfTheirs = async (phone: string, requested: string, end: string): Promise<string> => {
  const registered = (await getConsistent<{ created: string }>(userKey(phone)))?.created ?? end;
  if (registered > end) return end;
  // Clocks differ: a registration cannot precede the erasure.
  return registered < requested ? requested : registered;
};
