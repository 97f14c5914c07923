/** Contacts as the API names them: a jid made of a phone number and the service's domain (spec §2). */
import { jidDomain } from './settings.ts';

/** A phone number's jid: `27821234567@users.example.com`. */
export const contactOf = (phone: string): string => `${phone}@${jidDomain()}`;

/** The phone number in a jid of ours, or in a bare number; nothing, where it is neither. */
export const phoneOf = (contact: string): string | undefined => {
  const [phone = '', domain, ...more] = contact.split('@');
  const ours = more.length === 0 && (domain === undefined || domain.toLowerCase() === jidDomain());
  return ours && /^[0-9]{7,15}$/.test(phone) ? phone : undefined;
};
