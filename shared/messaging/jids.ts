/** Contacts in the API: a jid of a phone number and the service's domain. */
import * as v from 'valibot';
import { isPseudonym } from '../core/ids.ts';
import { jidDomain } from '../core/settings.ts';
import { NUMBER, numberError, numberOrId } from '../validation/phone-numbers.ts';

/** The jid of a phone number or pseudonym: `27821234567@users.example.com`. */
export const contactOf = (person: string): string => `${person}@${jidDomain()}`;

/**
 * The phone number of a contact, or the pseudonym of an erased user. The contact is a jid with the service's domain, or
 * a bare number or pseudonym. Undefined for other texts.
 */
export const personOf = (contact: string): string | undefined => {
  const [name = '', domain, ...more] = contact.split('@');
  if (more.length > 0 || (domain !== undefined && domain.toLowerCase() !== jidDomain())) return undefined;
  const person = name.toLowerCase();
  return NUMBER.test(person) || isPseudonym(person) ? person : undefined;
};

/** The validation error of a text that is no contact: what is wrong with its phone number, if it is meant as one. */
export const contactError = (contact: string): string => {
  const rule = 'must be a contact as the logs show it, or its phone number';
  const number = contact.replace(/@[^@]*$/, '');
  return v.is(numberOrId, number) ? rule : numberError(rule, number);
};
