/** Contacts as the API names them: a jid made of a phone number and the service's domain (spec §2). */
import { isPseudonym } from '../core/ids.ts';
import { jidDomain } from '../core/settings.ts';

/** The jid of a phone number, or of the pseudonym in its place: `27821234567@users.example.com`. */
export const contactOf = (person: string): string => `${person}@${jidDomain()}`;

/**
 * The person whom a contact names, as the table knows them: the phone number, or the pseudonym of an erased user, in a jid
 * of ours or bare. Nothing, where it is neither.
 */
export const personOf = (contact: string): string | undefined => {
  // Stryker disable next-line StringLiteral: It never happens; only the compiler asks for it.
  const [name = '', domain, ...more] = contact.split('@');
  if (more.length > 0 || (domain !== undefined && domain.toLowerCase() !== jidDomain())) return undefined;
  const person = name.toLowerCase();
  return /^[0-9]{7,15}$/.test(person) || isPseudonym(person) ? person : undefined;
};
