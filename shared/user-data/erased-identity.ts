/** Which data belongs to an erased user, and which to the next owner of the number. */

import { scaled, timestampOf } from '../core/clock.ts';
import { getConsistent } from '../table/client.ts';
import { type Key, userKey } from '../table/keys.ts';

/** An erasure under way. */
export interface ErasureItem extends Key {
  /** Replaces the number from now on; random, so that it does not identify anyone. */
  pseudonym: string;
  /** Since when. */
  requested: string;
}

/** Milliseconds after which it is looked once more: what was under way when it began is over by then. */
const AFTERMATH_MS = 120_000;

/** The erased user, and the pseudonym. */
export interface ErasedIdentity {
  phone: string;
  pseudonym: string;
  /** Up to when what begins is theirs. */
  until: string;
  /** Up to when what comes of it is found. */
  end: string;
}

/** When an erasure looks for the last time, in milliseconds since 1970. */
export const lastLookAt = ({ requested }: ErasureItem): number => Date.parse(requested) + scaled(AFTERMATH_MS);

/** 1 read unit. */
export const erasedIdentityOf = async (phone: string, erasure: ErasureItem): Promise<ErasedIdentity> => {
  const end = timestampOf(lastLookAt(erasure));
  const until = await endOfTheirs(phone, timestampOf(Date.parse(erasure.requested)), end);
  return { phone, pseudonym: erasure.pseudonym, end, until };
};

/** Up to when what begins is theirs: until the number was registered again, else as long as anything is under way. */
const endOfTheirs = async (phone: string, requested: string, end: string): Promise<string> => {
  const registered = (await getConsistent<{ created: string }>(userKey(phone)))?.created ?? end;
  if (registered > end) return end;
  // Clocks differ a little.
  return registered < requested ? requested : registered;
};
