/** Contacts in the API: a jid of a phone number and the service's domain (spec §2). */
import { isPseudonym } from '../core/ids.ts';
import { jidDomain } from '../core/settings.ts';

/** The jid of a phone number or pseudonym: `27821234567@users.example.com`. */
export const contactOf = (person: string): string => `${person}@${jidDomain()}`;

/**
 * The phone number of a contact, or the pseudonym of an erased user. The contact is a jid with the service's domain, or
 * a bare number or pseudonym. Undefined for other texts.
 */
export const personOf = (contact: string): string | undefined => {
  // Stryker disable next-line StringLiteral: It never happens; only the compiler asks for it.
  const [name = '', domain, ...more] = contact.split('@');
  if (more.length > 0 || (domain !== undefined && domain.toLowerCase() !== jidDomain())) return undefined;
  const person = name.toLowerCase();
  return /^[0-9]{7,15}$/.test(person) || isPseudonym(person) ? person : undefined;
};
